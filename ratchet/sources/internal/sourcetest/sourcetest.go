// Package sourcetest runs a source over files of records and holds what it gives to golden
// files, and over hostile text.
package sourcetest

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"umwelt/ratchet"
)

var update = flag.Bool("update", false, "write the golden files")

// Dir is the directory in which the records of the tests began, where they do not say.
const Dir = "/work/project"

// Read is what a source gives of a file: its observations as lines, its tally as text
// below, or its error.
func Read(s ratchet.Source, in ratchet.Input) string {
	var out []byte
	tally, err := s.Read(in, func(o ratchet.Observation) error {
		o.At.File = filepath.ToSlash(o.At.File)
		var err error
		out, err = ratchet.Append(out, &o)
		return err
	})
	var b strings.Builder
	b.Write(out)
	if err != nil {
		fmt.Fprintf(&b, "# error: %v\n", err)
		return b.String()
	}
	fmt.Fprintf(&b, "# %d records, %d observations\n", tally.Records, tally.Observations)
	for _, g := range tally.Gaps {
		fmt.Fprintf(&b, "# %d %s: %s, first at line", g.Count, g.Kind, g.What)
		for _, p := range g.First {
			fmt.Fprintf(&b, " %d", p.Line)
		}
		b.WriteString("\n")
	}
	if tally.Partial {
		fmt.Fprintf(&b, "# partial: %s\n", tally.Why)
	}
	return b.String()
}

// Golden reads every file of testdata that a pattern matches, and holds what the source
// gives of it to the file of the same name that ends with .golden.
func Golden(t *testing.T, s ratchet.Source, pattern string) {
	files, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, ".golden") {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			got := Read(s, ratchet.Input{Name: file, Dir: Dir})
			golden := file + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Write writes a text to a file of the test and gives its name.
func Write(t testing.TB, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "records")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// Fuzz reads hostile text, with the files of testdata to begin with: whatever stands in
// it, the source gives sound observations, and the same ones again.
func Fuzz(f *testing.F, s ratchet.Source, pattern string, seeds ...string) {
	files, _ := filepath.Glob(filepath.Join("testdata", pattern))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if !strings.HasSuffix(file, ".golden") && len(text) < 1<<14 {
			f.Add(text)
		}
	}
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	name := filepath.Join(f.TempDir(), "records")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		lines := int64(bytes.Count(text, []byte("\n")) + 1)
		n := int64(0)
		tally, err := s.Read(ratchet.Input{Name: name, Dir: Dir}, func(o ratchet.Observation) error {
			n++
			if o.At.File != name {
				return Sound(&o, 0) // a line that tells its own place
			}
			return Sound(&o, lines)
		})
		var unsound unsound
		if errors.As(err, &unsound) {
			t.Fatal(err)
		}
		if err == nil && tally.Observations != n {
			t.Errorf("%d of %d observations were counted", tally.Observations, n)
		}
		if again := Read(s, ratchet.Input{Name: name, Dir: Dir}); again != Read(s, ratchet.Input{Name: name, Dir: Dir}) {
			t.Error("it gives something else the second time")
		}
	})
}

type unsound string

func (u unsound) Error() string { return string(u) }

// Sound reports an observation that breaks what every observation has to hold. 0 lines
// means that its line is not looked at.
func Sound(o *ratchet.Observation, lines int64) error {
	text, err := ratchet.Append(nil, o)
	if err != nil {
		return unsound(err.Error())
	}
	if _, err := ratchet.Parse(text); err != nil {
		return unsound(fmt.Sprintf("%v: %s", err, text))
	}
	if (o.Type == "file" || o.Type == "dir") && (path.Clean(o.ID) != o.ID || strings.HasPrefix(o.ID, "../")) {
		return unsound(fmt.Sprintf("the path %q can be read as another", o.ID))
	}
	for i, a := range o.Attributes {
		if a.Value == "" || i > 0 && o.Attributes[i-1].Name >= a.Name {
			return unsound(fmt.Sprintf("attributes %v", o.Attributes))
		}
	}
	if lines > 0 && (o.At.Line < 1 || o.At.Line > lines) {
		return unsound(fmt.Sprintf("line %d of %d", o.At.Line, lines))
	}
	return nil
}

// Bounded writes a long file, head and then records until it has some 20 MB, and holds the
// memory that the source needs for it to a limit.
func Bounded(t *testing.T, s ratchet.Source, head string, item func(i int) string) {
	const size, limit = 20 << 20, 16 << 20
	name := filepath.Join(t.TempDir(), "long")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	written := 0
	for i := 0; written < size; i++ {
		text := item(i)
		if i == 0 {
			text = head + text
		}
		n, err := io.WriteString(f, text)
		if err != nil {
			t.Fatal(err)
		}
		written += n
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before, peak, n := m.HeapAlloc, uint64(0), 0
	_, err = s.Read(ratchet.Input{Name: name, Dir: Dir}, func(ratchet.Observation) error {
		if n++; n%5000 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 5000 {
		t.Fatalf("only %d observations", n)
	}
	if peak > before+limit {
		t.Errorf("%d MB are held of a file of %d MB", (peak-before)>>20, written>>20)
	}
}
