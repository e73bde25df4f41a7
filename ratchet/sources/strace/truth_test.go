package strace

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"umwelt/ratchet"
)

// need finds a program, and skips or fails the test where it is missing.
func need(t testing.TB, name, pkg string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("UMWELT_REQUIRE_TOOLS") == "1" {
			t.Fatalf("%s is missing (Debian's package %s)", name, pkg)
		}
		t.Skipf("%s is missing (Debian's package %s)", name, pkg)
	}
	return path
}

// shape is a form of strace's output.
type shape struct {
	name   string
	args   string
	stderr bool
	// blind says that what threads share is not told in order, so that some of it is
	// unresolved. Nothing may be invented all the same.
	blind bool
}

var shapes = []shape{
	{name: "plain", args: "-f"},
	{name: "paths", args: "-f -y"},
	{name: "recommended", args: strings.Join(Arguments("")[:9], " ")},
	{name: "all", args: "-f -yy -Y -ttt -T -i -n -s 512"},
	{name: "times", args: "-f -tt -r -T -x"},
	{name: "hex", args: "-f -t -xx"},
	{name: "stacks", args: "-f -k -e trace=%file,%process,%network,%desc,unshare"},
	{name: "seconds", args: "-f -r"},
	{name: "seccomp", args: "-f --seccomp-bpf --decode-pids=comm,pidns " + strings.Join(Arguments("")[1:9], " ")},
	{name: "family-times", args: "-ff -tt"},
	{name: "family-epoch", args: "-ff -ttt -yy -T"},
	{name: "family", args: "-ff", blind: true},
	{name: "family-paths", args: "-ff -y -s 0", blind: true},
	{name: "stderr", args: "-f", stderr: true},
	{name: "stderr-all", args: "-f -y -tt -r -i -Y", stderr: true},
	{name: "stderr-quiet", args: "-f -q", stderr: true},
}

func (s shape) record(t testing.TB, dir string, env []string, argv ...string) ratchet.Input {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	args := strings.Fields(s.args)
	if !s.stderr {
		args = append(args, "-o", log)
	}
	cmd := exec.Command(need(t, "strace", "strace"), append(append(args, "--"), argv...)...)
	cmd.Dir = dir
	// Without the signals by which Go's scheduler interrupts calls.
	cmd.Env = append(append(os.Environ(), "GODEBUG=asyncpreemptoff=1"), env...)
	if s.stderr {
		f, err := os.Create(log)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		cmd.Stderr = f
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %v", cmd, err)
		}
	} else if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return ratchet.Input{Name: log, Dir: dir}
}

// read reads a log and checks what must hold of every reading.
func read(t testing.TB, in ratchet.Input) ([]ratchet.Observation, ratchet.Tally) {
	t.Helper()
	var list []ratchet.Observation
	tally, err := Read(in, func(o ratchet.Observation) error {
		check(t, o)
		list = append(list, o)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if tally.Observations != int64(len(list)) {
		t.Errorf("the tally counts %d observations of %d", tally.Observations, len(list))
	}
	return list, tally
}

func check(t testing.TB, o ratchet.Observation) {
	t.Helper()
	line, err := ratchet.Append(nil, &o)
	if err == nil {
		_, err = ratchet.Parse(line)
	}
	if err != nil {
		t.Errorf("%+v: %v", o, err)
	}
	if (o.Type == "file" || o.Type == "dir" || o.Type == "exec") && filepath.Clean(o.ID) != o.ID || o.Type != "network" && o.ID[0] != '/' {
		t.Errorf("%q is not a clean absolute path", o.ID)
	}
}

// key is what two records of one access have in common. What a socket speaks is known from
// its making, which may be told in another order.
func key(o ratchet.Observation) string {
	more := ""
	for _, name := range []string{"from", "to", "kind"} {
		if v := o.Attribute(name); v != "" {
			more += " " + name + "=" + v
		}
	}
	return fmt.Sprintf("%s %s %q %s %s%s", o.Type, o.Verb, o.ID, o.Outcome, o.Reason, more)
}

func sorted(m map[string]bool) []string {
	list := make([]string, 0, len(m))
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

// same compares two sets both ways. A blind record may lack as many as its gaps count.
func same(t *testing.T, blind bool, tally ratchet.Tally, got, want map[string]bool) {
	t.Helper()
	if blind {
		got, want = bare(got), bare(want)
	}
	for _, k := range sorted(got) {
		if !want[k] {
			t.Errorf("invented: %s", k)
		}
	}
	missing := int64(0)
	for _, k := range sorted(want) {
		if !got[k] {
			if missing++; !blind {
				t.Errorf("missing: %s", k)
			}
		}
	}
	if blind && missing > tally.Missed() {
		t.Errorf("%d are missing and only %d gaps are said", missing, tally.Missed())
	}
	for _, g := range tally.Gaps {
		// Of a call in which its process ended, nobody knows what came of it.
		if !blind && !(g.Kind == ratchet.Truncated && ended(t, g)) {
			t.Errorf("gap: %+v\n%s", g, around(t, g.First[0]))
		}
	}
	if tally.Partial {
		t.Errorf("partial: %s", tally.Why)
	}
	if t.Failed() {
		t.Logf("%d are wanted", len(want))
	}
}

// bare leaves out what was a directory and what a file: who does not know where a directory
// was made cannot tell.
func bare(keys map[string]bool) map[string]bool {
	out := map[string]bool{}
	for k := range keys {
		_, k, _ = strings.Cut(k, " ")
		k, _, _ = strings.Cut(k, " kind=")
		out[k] = true
	}
	return out
}

// around are the lines at a place.
func around(t testing.TB, at ratchet.Place) string {
	text, err := os.ReadFile(at.File)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	return strings.Join(lines[max(at.Line-4, 0):min(at.Line+8, int64(len(lines)))], "\n")
}

// ended reports whether the calls of a gap never returned.
func ended(t testing.TB, g ratchet.Gap) bool {
	for _, at := range g.First {
		text, err := os.ReadFile(at.File)
		if err != nil {
			t.Fatal(err)
		}
		line := strings.Split(string(text), "\n")[at.Line-1]
		if !strings.HasSuffix(line, "...>") && !strings.HasSuffix(line, "= ?") {
			return false
		}
	}
	return true
}

// events reads a log without counting equal observations as one, so that their order can be
// followed.
func events(t testing.TB, in ratchet.Input) []ratchet.Observation {
	t.Helper()
	var list []ratchet.Observation
	r := newReader(in.Dir, func(o ratchet.Observation) error {
		list = append(list, o)
		return nil
	})
	fam, err := openFamily(in.Name)
	if err != nil {
		t.Fatal(err)
	}
	r.eager = true
	if len(fam.files) > 0 {
		_, err = r.many(fam)
	} else {
		var f *os.File
		if f, err = os.Open(in.Name); err == nil {
			defer f.Close()
			_, err = r.single(f, in.Name)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// tree is what stands below a directory: paths and whether they are directories.
type tree map[string]bool

func snapshot(t testing.TB, root string) tree {
	t.Helper()
	all := tree{}
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil {
			all[path] = d.IsDir()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// replay does to a tree what was observed.
func (tr tree) replay(t testing.TB, root string, list []ratchet.Observation) {
	t.Helper()
	for _, o := range list {
		if o.Outcome != ratchet.Allowed || o.ID != root && !strings.HasPrefix(o.ID, root+"/") {
			continue
		}
		dir := o.Type == "dir"
		switch o.Verb {
		case ratchet.Create:
			tr[o.ID] = dir
		case ratchet.Delete:
			if _, there := tr[o.ID]; !there {
				t.Errorf("%s:%d: %s is deleted and was not there", o.At.File, o.At.Line, o.ID)
			}
			delete(tr, o.ID)
		case ratchet.Rename:
			to := o.Attribute("to")
			if to == "" {
				continue
			}
			var below []string
			for p := range tr {
				if p == o.ID || strings.HasPrefix(p, o.ID+"/") {
					below = append(below, p)
				}
			}
			if len(below) == 0 {
				t.Errorf("%s:%d: %s is renamed and was not there", o.At.File, o.At.Line, o.ID)
			}
			slices.SortFunc(below, func(a, b string) int { return cmp.Compare(a, b) })
			for _, p := range below {
				isDir := tr[p]
				delete(tr, p)
				tr[to+p[len(o.ID):]] = isDir
			}
		case ratchet.Read, ratchet.Write, ratchet.List:
			if _, there := tr[o.ID]; !there {
				t.Errorf("%s:%d: %s of %s, which was not there", o.At.File, o.At.Line, o.Verb, o.ID)
			}
		}
	}
}

func (tr tree) equal(t testing.TB, want tree) {
	t.Helper()
	for p, dir := range tr {
		if got, there := want[p]; !there {
			t.Errorf("the record leaves %s, which is not there", p)
		} else if got != dir {
			t.Errorf("%s: directory is %v, and the record says %v", p, got, dir)
		}
	}
	for p := range want {
		if _, there := tr[p]; !there {
			t.Errorf("%s is there, and the record does not make it", p)
		}
	}
}
