package audit

import (
	"encoding/csv"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"umwelt/ratchet"
	"umwelt/ratchet/sources/internal/sourcetest"
)

// tool finds a program of the audit package.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		path, err = exec.LookPath("/usr/sbin/" + name)
	}
	if err != nil {
		if os.Getenv("UMWELT_REQUIRE_TOOLS") == "1" {
			t.Fatalf("%s is not installed (package auditd)", name)
		}
		t.Skipf("%s is not installed (package auditd)", name)
	}
	return path
}

// TestAgainstAusearch compares what is read of the log with what the audit system's own
// reader makes of it: the first object of each event, and whether it succeeded.
func TestAgainstAusearch(t *testing.T) {
	const log = "testdata/auditd.log"
	out, err := exec.Command(tool(t, "ausearch"), "-if", log, "--format", "csv").Output()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(string(out))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	type verdict struct {
		object string
		ok     bool
	}
	want := map[string]verdict{} // by time and program would repeat, by serial it does not
	head := rows[0]
	col := func(row []string, name string) string { return row[slices.Index(head, name)] }
	for _, row := range rows[1:] {
		object := col(row, "OBJ_PRIME")
		if fields := strings.Fields(strings.Trim(object, "{ }")); len(fields) > 1 && strings.HasPrefix(fields[0], "saddr_fam=") {
			object = fields[1][strings.Index(fields[1], "=")+1:]
		}
		want[col(row, "SERIAL_NUM")] = verdict{object, col(row, "RESULT") == "success"}
	}

	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	seen := map[string]bool{}
	_, err = Source.Read(ratchet.Input{Name: log, Dir: sourcetest.Dir}, func(o ratchet.Observation) error {
		h, ok := parseHead(lines[o.At.Line-1])
		if !ok {
			t.Fatalf("line %d is no record", o.At.Line)
		}
		serial := h.id[strings.LastIndex(h.id, ":")+1:]
		if seen[serial] {
			return nil // ausearch names one object of an event
		}
		seen[serial] = true
		w := want[serial]
		object := o.ID
		if o.Type == "network" {
			object = strings.TrimPrefix(object, "@")
			if host := o.Attribute("host"); host != "" {
				object = host
			}
		}
		// It takes a connection in progress for one that failed, and a socket's name as it
		// was given.
		progress := o.Verb == ratchet.Connect && o.Outcome == ratchet.Allowed && !w.ok
		if object != w.object && !strings.HasSuffix(object, "/"+w.object) || (o.Outcome == ratchet.Allowed) != w.ok && !progress {
			t.Errorf("event %s: %s of %q %s, ausearch says %q, %v", serial, o.Verb, object, o.Outcome, w.object, w.ok)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) < 15 {
		t.Errorf("only %d events were compared", len(seen))
	}
}

// TestNumbersAreAusyscalls holds both tables to those of the audit system. Where its
// tables end earlier there is nothing to compare.
func TestNumbersAreAusyscalls(t *testing.T) {
	path := tool(t, "ausyscall")
	// What it calls otherwise than the kernel does.
	other := map[string]string{"pread": "pread64", "pwrite": "pwrite64", "getdents": "getdents64", "newfstat": "fstat"}
	for machine, table := range map[string]map[string]string{"x86_64": x86(), "aarch64": arm()} {
		out, err := exec.Command(path, machine, "--dump").Output()
		if err != nil {
			t.Fatal(err)
		}
		compared := 0
		for line := range strings.Lines(string(out)) {
			number, name, ok := strings.Cut(strings.TrimSpace(line), "\t")
			if !ok || table[number] == "" {
				continue
			}
			compared++
			if table[number] != name && table[number] != other[name] {
				t.Errorf("%s: %s is %q, ausyscall says %q", machine, number, table[number], name)
			}
		}
		if compared < 250 {
			t.Errorf("%s: only %d numbers were compared", machine, compared)
		}
	}
}
