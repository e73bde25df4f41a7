package jsonl

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"umwelt/ratchet"
	"umwelt/ratchet/sources/internal/sourcetest"
)

func TestGolden(t *testing.T) { sourcetest.Golden(t, Source, "*.jsonl") }

// TestLongLine holds that a line beyond the bound is broken, and the next one is read.
func TestLongLine(t *testing.T) {
	good := `{"type":"file","id":"a","verb":"read","outcome":"allowed"}` + "\n"
	tally, err := From(strings.NewReader(`{"id":"`+strings.Repeat("x", ratchet.MaxLine)+"\n"+good), "f", func(o ratchet.Observation) error {
		if o.At.Line != 2 {
			t.Errorf("line %d", o.At.Line)
		}
		return nil
	})
	if err != nil || tally.Observations != 1 || len(tally.Gaps) != 1 || tally.Gaps[0].Kind != ratchet.Broken {
		t.Errorf("%+v, %v", tally, err)
	}
}

func TestAnErrorOfTheReaderIsGivenBack(t *testing.T) {
	stop := errors.New("stop")
	_, err := From(strings.NewReader(`{"type":"file","id":"a","verb":"read","outcome":"allowed"}`), "f", func(ratchet.Observation) error { return stop })
	if !errors.Is(err, stop) {
		t.Error(err)
	}
	if _, err := Source.Read(ratchet.Input{Name: "testdata"}, nil); err == nil {
		t.Error("a directory is read")
	}
}

// A run of which not all was recorded makes a partial record.
func TestAccessesThatWereNotRecorded(t *testing.T) {
	for _, tt := range []struct {
		attributes string
		why        string
	}{
		{`{"accesses":"recorded"}`, ""},
		{`{"command":"[]"}`, ""},
		{`{"accesses":"partial","why":"strace ended before what it recorded"}`, "what the command did is partial: strace ended before what it recorded"},
		{`{"accesses":"not recorded","why":"strace is not installed"}`, "what the command did is not recorded: strace is not installed"},
	} {
		line := `{"type":"exec","id":"/bin/a","attributes":` + tt.attributes + `,"verb":"exec","outcome":"allowed"}` + "\n"
		tally, err := From(strings.NewReader(line), "f", func(ratchet.Observation) error { return nil })
		if err != nil || tally.Partial != (tt.why != "") || tally.Why != tt.why {
			t.Errorf("%s: %+v, %v", tt.attributes, tally, err)
		}
	}
}

func TestBounded(t *testing.T) {
	sourcetest.Bounded(t, Source, "", func(i int) string {
		return fmt.Sprintf(`{"type":"file","id":"src/%d","attributes":{"x":%q},"verb":"read","outcome":"allowed"}`+"\n", i, strings.Repeat("x", 500))
	})
}

func FuzzLines(f *testing.F) {
	sourcetest.Fuzz(f, Source, "*.jsonl", `{"type":"dir","id":"//","verb":"list","outcome":"allowed"}`, `{"type":"file","id":"x","id_bytes":"Li4vYQ==","verb":"read","outcome":"allowed"}`)
}
