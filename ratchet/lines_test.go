package ratchet_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"umwelt/ratchet"
)

func TestLinesAreReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		o := ratchet.Observation{
			Time: time.Unix(rapid.Int64Range(1, 1<<32).Draw(t, "time"), 5).UTC(),
			Type: rapid.StringN(1, -1, 20).Draw(t, "type"), Taxon: text.Draw(t, "taxon"),
			ID:   "x" + strings.ReplaceAll(string(rapid.SliceOf(rapid.Byte()).Draw(t, "id")), "\x00", ""),
			Verb: rapid.SampledFrom(ratchet.Verbs()).Draw(t, "verb"), Outcome: ratchet.Denied,
			Reason: text.Draw(t, "reason"), Count: rapid.Int64Range(2, 1<<40).Draw(t, "count"),
			Context:    ratchet.Attributes("mode", text.Draw(t, "mode")),
			Attributes: ratchet.Attributes("kind", "file", "call", text.Draw(t, "call")),
			At:         ratchet.Place{File: text.Draw(t, "file"), Line: 3},
		}
		line, err := ratchet.Append(nil, &o)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range line[:len(line)-1] {
			if c < ' ' || c > '~' {
				t.Fatalf("%q holds %q", line, c)
			}
		}
		got, err := ratchet.Parse(bytes.TrimSuffix(line, []byte("\n")))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(o, got); d != "" {
			t.Fatal(d)
		}
	})
}

func TestBrokenLines(t *testing.T) {
	const rest = `"verb":"read","outcome":"allowed"}`
	for text, want := range map[string]string{
		``:                         "EOF",
		`[]`:                       "cannot unmarshal",
		`{"type":"file",` + rest:   "id: missing",
		`{"id":"a",` + rest:        "type: missing",
		`{"type":"file","id":"a"}`: "verb",
		`{"type":"file","id":"a","verb":"read","outcome":"perhaps"}`:     "outcome",
		`{"type":"file","id":"a\u0000",` + rest:                          "NUL",
		`{"type":"file","id":"a","count":-1,` + rest:                     "count",
		`{"type":"file","id":"a","time":"today",` + rest:                 "time",
		`{"type":"file","id":"a","id_bytes":"*",` + rest:                 "base64",
		`{"type":"file","id":"a","surprise":1,` + rest:                   "unknown field",
		`{"type":"file","id":"a","outcome":"denied",` + rest:             "\"outcome\" stands twice",
		`{"type":"file","id":"a","Outcome":"denied",` + rest:             "unknown field",
		`{"type":"file","id":"a","outc\u006fme":"denied",` + rest:        "stands twice",
		`{"type":"file","id":"a","attributes":{"a":"1","a":"2"},` + rest: "stands twice",
		`{"type":"file","id":"a",` + rest + ` {}`:                        "after the object",
		strings.Repeat(`{"type":`, 100000):                               "",
		`{"type":"file","id":"a","attributes":{"size":4},` + rest:        "cannot unmarshal",
		`{"type":"file","id":"a","verb":"call; rm","outcome":"failed"`:   "",
	} {
		_, err := ratchet.Parse([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 300<<10)
	huge := strings.Repeat("y", ratchet.MaxLine+1)
	text := "a\n\n" + long + "\n" + huge + "\nb\r\nlast"
	var got []string
	whole, err := ratchet.Lines(iotest.HalfReader(strings.NewReader(text)), func(n int64, line []byte) error {
		if line == nil {
			got = append(got, fmt.Sprintf("%d too long", n))
		} else {
			got = append(got, fmt.Sprintf("%d %d %.5q", n, len(line), line))
		}
		return nil
	})
	want := []string{`1 1 "a"`, `2 0 ""`, fmt.Sprintf("3 %d %q", len(long), "xxxxx"), "4 too long", `5 2 "b\r"`, `6 4 "last"`}
	if d := cmp.Diff(want, got); d != "" || whole || err != nil {
		t.Errorf("whole %v, %v\n%s", whole, err, d)
	}
	if whole, err := ratchet.Lines(strings.NewReader("a\n"), func(int64, []byte) error { return nil }); !whole || err != nil {
		t.Errorf("a whole file: %v, %v", whole, err)
	}
}

func TestTallyIsBounded(t *testing.T) {
	var tally ratchet.Tally
	for i := range int64(100000) {
		tally.Miss(ratchet.Unknown, fmt.Sprint(i), ratchet.Place{Line: i})
	}
	if len(tally.Gaps) > 300 || tally.Missed() != 100000 {
		t.Errorf("%d gaps for %d records", len(tally.Gaps), tally.Missed())
	}
	tally.Cut("one")
	tally.Cut("two")
	if !tally.Partial || tally.Why != "one" {
		t.Error(tally.Why)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"time":"2026-11-30T20:00:00Z","context":{"mode":"review"},"taxon":"world","type":"exec","id":"make","attributes":{"status":"0"},"verb":"exec","outcome":"allowed"}`))
	f.Add([]byte(`{"type":"file","id":"a\ufffd","id_bytes":"Yf8=","verb":"read","outcome":"denied","count":3,"file":"t","line":9}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		o, err := ratchet.Parse(text)
		if err != nil {
			return
		}
		line, err := ratchet.Append(nil, &o)
		if err != nil {
			return // a year that RFC 3339 cannot write
		}
		again, err := ratchet.Parse(line[:len(line)-1])
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if again.ID != o.ID || again.Verb != o.Verb || again.Times() != o.Times() {
			t.Fatalf("%q became %q", text, line)
		}
	})
}
