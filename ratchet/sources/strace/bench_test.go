package strace

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"umwelt/ratchet"
)

// again is a log that is read several times over.
type again struct {
	text  []byte
	times int
	at    int
}

func (a *again) Read(p []byte) (int, error) {
	if a.at == len(a.text) {
		a.times--
		a.at = 0
	}
	if a.times == 0 {
		return 0, io.EOF
	}
	n := copy(p, a.text[a.at:])
	a.at += n
	return n, nil
}

// The naive form: a scanner and a regular expression a line. It places absolute paths and
// those with a note of -y only, follows nothing, and sees one form of the log.
var naiveCall = regexp.MustCompile(`^\d+ +(?:[\d.]+ )?(open|openat|newfstatat|access|readlink|unlink|mkdir|chdir|execve)\((?:AT_FDCWD(?:<([^>]*)>)?, )?"((?:[^"\\]|\\.)*)"(.*)\) += (-?\d+)(?:<[^>]*>)?(?: (E[A-Z]+))?`)

func naive(r io.Reader, each func(path, errno string)) error {
	s := bufio.NewScanner(r)
	s.Buffer(nil, ratchet.MaxLine)
	for s.Scan() {
		m := naiveCall.FindStringSubmatch(s.Text())
		if m == nil {
			continue
		}
		p := m[3]
		if !filepath.IsAbs(p) {
			if m[2] == "" {
				continue
			}
			p = filepath.Join(m[2], p)
		}
		each(filepath.Clean(p), m[6])
	}
	return s.Err()
}

// forms are the shipped logs: three tasks recorded with -f -y -ttt and only what matters,
// and one with every call.
func forms(b testing.TB) map[string][]byte {
	all := map[string][]byte{}
	for _, name := range []string{"build", "git", "test-run"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "corpora", name, "run-1.log"))
		if err != nil {
			b.Fatal(err)
		}
		all[name] = text
	}
	text, err := os.ReadFile(filepath.Join("testdata", "every-call.log"))
	if err != nil {
		b.Fatal(err)
	}
	all["every-call"] = text
	return all
}

// perCore reports what a second of a core reads, all threads counted, which on a busy
// machine is more than a second of the clock shows.
func perCore(b *testing.B, size int) func() {
	used := func() float64 {
		var u unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
	}
	before := used()
	return func() { b.ReportMetric(float64(size)*float64(b.N)/1e6/(used()-before), "MB/core-s") }
}

const perReading = 64 << 20

func BenchmarkRead(b *testing.B) {
	all := forms(b)
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		text := all[name]
		compare(b, name, text)
		times := perReading/len(text) + 1
		b.Run(name+"/reader", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text) * times))
			defer perCore(b, len(text)*times)()
			for b.Loop() {
				r := newReader("/home/ada/"+name, func(ratchet.Observation) error { return nil })
				if _, err := r.single(&again{text: text, times: times}, "log"); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/naive", func(b *testing.B) {
			few := times/16 + 1
			b.SetBytes(int64(len(text) * few))
			defer perCore(b, len(text)*few)()
			for b.Loop() {
				if err := naive(&again{text: text, times: few}, func(string, string) {}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestNaive holds the reader to the naive form.
func TestNaive(t *testing.T) {
	for name, text := range forms(t) {
		compare(t, name, text)
	}
}

// compare checks that whatever the naive form finds is found, but for what is told to be
// unresolved.
func compare(t testing.TB, name string, text []byte) {
	found := map[string]bool{}
	r := newReader("/home/ada/"+name, func(o ratchet.Observation) error {
		found[o.ID+" "+o.Reason] = true
		return nil
	})
	tally, err := r.single(bytes.NewReader(text), "log")
	if err != nil {
		t.Fatal(err)
	}
	count, missing := 0, int64(0)
	err = naive(bytes.NewReader(text), func(path, errno string) {
		if strings.Contains(path, "/proc/self/fd/") {
			return
		}
		if count++; !found[path+" "+errno] {
			if missing++; missing > tally.Missed() {
				t.Errorf("%s: the naive form finds %s %s", name, path, errno)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if count < 100 {
		t.Errorf("%s: the naive form finds only %d", name, count)
	}
}
