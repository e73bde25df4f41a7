package strace

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"umwelt/ratchet"
)

// stream is a log that is made while it is read.
type stream struct {
	lines int
	line  func(i int) string
	at    int
	rest  string
}

func (s *stream) Read(p []byte) (int, error) {
	for s.rest == "" {
		if s.at == s.lines {
			return 0, io.EOF
		}
		s.rest = s.line(s.at) + "\n"
		s.at++
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// TestBounds reads logs that are made to cost much, and holds the memory that is kept to a
// bound that does not depend on their length.
func TestBounds(t *testing.T) {
	long := strings.Repeat("x/", 1<<19)
	for _, c := range []struct {
		name  string
		lines int
		line  func(i int) string
	}{
		{"processes that never end", 150_000, func(i int) string { return fmt.Sprintf("%d fork() = %d", i%4194304+1, i+2) }},
		{"processes that nobody begot", 100_000, func(i int) string { return fmt.Sprintf(`%d open("a", O_RDONLY) = 3`, i+1) }},
		{"open files", 300_000, func(i int) string { return fmt.Sprintf(`open("/f%d", O_RDONLY) = %d`, i, i) }},
		{"tables that differ", 50_000, func(i int) string {
			if i < 10_000 {
				return fmt.Sprintf(`1 open("/f%d", O_RDONLY) = %d`, i, i)
			} else if i%2 == 0 {
				return fmt.Sprintf("1 fork() = %d", i)
			}
			return fmt.Sprintf(`%d open("/x", O_RDONLY) = 3`, i-1)
		}},
		{"calls that never return", 2_000, func(i int) string {
			return fmt.Sprintf(`%d open("%s <unfinished ...>`, i+1, long[:60_000])
		}},
		{"forks that never return", 20_000, func(i int) string { return fmt.Sprintf("%d fork( <unfinished ...>", i%1000+1) }},
		{"children of several forks", 50_000, func(i int) string {
			if i < 2 {
				return fmt.Sprintf("%d fork( <unfinished ...>", i+1)
			}
			return fmt.Sprintf(`%d open("a", O_RDONLY) = 3`, i+1)
		}},
		{"renames among open files", 45_000, func(i int) string {
			if i < 40_000 {
				return fmt.Sprintf(`open("/d/f%d", O_RDONLY) = %d`, i, i)
			}
			return fmt.Sprintf(`rename("/d%d", "/e%d") = 0`, i, i)
		}},
		{"names", 150_000, func(i int) string { return fmt.Sprintf(`open("/%d%s", O_RDONLY) = 3`, i, long[:200]) }},
		{"commands", 20_000, func(i int) string { return fmt.Sprintf(`execve("/bin/x", ["x", "%d"], 0x7) = 0`, i) }},
		{"unknown calls", 30_000, func(i int) string { return fmt.Sprintf(`call_%d() = 0`, i) }},
		{"long paths", 20, func(i int) string { return `open("/` + long + `", O_RDONLY) = 3` }},
		{"a path that climbs", 20, func(i int) string { return `open("/` + strings.Repeat("x/../", 200_000) + `", O_RDONLY) = 3` }},
		{"long lines", 3, func(i int) string { return `open("` + strings.Repeat("x", 17<<20) }},
		{"brackets", 20, func(i int) string { return "open(" + strings.Repeat("{[(", 300_000) }},
		{"messages", 50_000, func(i int) string { return fmt.Sprintf("open(\"xstrace: Process %d attached", i) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			began := time.Now()
			r := newReader("/w", func(ratchet.Observation) error { return nil })
			if _, err := r.single(&stream{lines: c.lines, line: c.line, rest: "getpid() = 1\n"}, "log"); err != nil {
				t.Fatal(err)
			}
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			if m.HeapAlloc > 200<<20 {
				t.Errorf("%d MB are kept", m.HeapAlloc>>20)
			}
			if d := time.Since(began); d > 30*time.Second {
				t.Errorf("it took %v", d)
			} else {
				t.Logf("%d MB, %v", m.HeapAlloc>>20, d)
			}
			runtime.KeepAlive(r)
		})
	}
}

// FuzzRead feeds anything to both readers. Whatever it is, each observation must be one that
// can be written and read, and the second reading must be like the first.
func FuzzRead(f *testing.F) {
	for _, c := range logs {
		f.Add([]byte(c.log+"\n"), true)
		f.Add([]byte(c.log), false)
		f.Add([]byte(c.log+"\n\x00"+c.log+"\n"), false)
	}
	for _, name := range []string{"build", "git", "test-run"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "corpora", name, "run-1.log"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text[:min(len(text), 2_000)], true)
	}
	f.Fuzz(func(t *testing.T, log []byte, single bool) {
		name := filepath.Join(t.TempDir(), "log")
		if !single {
			// A family: NUL bytes part the files of its processes.
			for i, part := range strings.SplitN(string(log), "\x00", 4) {
				if err := os.WriteFile(fmt.Sprintf("%s.%d", name, 10+i), []byte(part), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		once := func() (string, ratchet.Tally) {
			var b strings.Builder
			emit := func(o ratchet.Observation) error {
				check(t, o)
				line, _ := ratchet.Append(nil, &o)
				b.Write(line)
				return nil
			}
			var tally ratchet.Tally
			var err error
			if single {
				tally, err = newReader("/w", emit).single(bytes.NewReader(log), name)
			} else {
				tally, err = Read(ratchet.Input{Name: name, Dir: "/w"}, emit)
			}
			fmt.Fprintf(&b, "%+v %v", tally, err)
			return b.String(), tally
		}
		first, tally := once()
		if second, _ := once(); first != second {
			t.Errorf("two readings differ:\n%s\n%s", first, second)
		}
		if tally.Records < 0 || len(tally.Gaps) > 201 {
			t.Errorf("%+v", tally)
		}
	})
}
