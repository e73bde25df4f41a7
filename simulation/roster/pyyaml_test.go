package roster_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"umwelt/simulation/roster"
)

// program reads rosters with the YAML reader that the engine uses, and prints what it
// read: texts as they are and numbers by their type and exact value.
const program = `
import json, sys, yaml
out = []
for text in json.load(sys.stdin):
    v = yaml.safe_load(text)["variables"]
    d = v["declarations"][0]
    numbers = [type(n).__name__ + " " + (n.hex() if isinstance(n, float) else repr(n)) for n in d["initial_value"]]
    out.append({"texts": [d["id"], d["description"], d["expression"], v["item_profiles"][0], v["version"]], "numbers": numbers})
json.dump(out, sys.stdout)
`

type reading struct {
	Texts   []string `json:"texts"`
	Numbers []string `json:"numbers"`
}

// TestPyYAML holds that the engine's own YAML reader, which follows YAML 1.1, takes every
// text and number for what it is.
func TestPyYAML(t *testing.T) {
	// Debian's package serves Debian's own python3, which need not be the first on PATH.
	python := ""
	for _, candidate := range []string{"python3", "/usr/bin/python3"} {
		if python == "" && exec.Command(candidate, "-c", "import yaml").Run() == nil {
			python = candidate
		}
	}
	if python == "" {
		if os.Getenv("UMWELT_REQUIRE_TOOLS") == "1" {
			t.Fatal("python3 with PyYAML is missing (apt-get install python3-yaml)")
		}
		t.Skip("python3 with PyYAML is missing (apt-get install python3-yaml)")
	}
	type drawn struct {
		text string
		f    float64
		i    int64
	}
	var cases []drawn
	draw := rapid.Custom(func(t *rapid.T) drawn {
		f := rapid.Float64().Filter(func(f float64) bool { return !math.IsInf(f, 0) && !math.IsNaN(f) })
		return drawn{hostile().Draw(t, "text"), f.Draw(t, "f"), rapid.Int64().Draw(t, "i")}
	})
	for seed := range 500 {
		cases = append(cases, draw.Example(seed))
	}
	for _, f := range []float64{0, math.Copysign(0, -1), 1, 1e15, 1e16, 1e-4, 9e-5, 1e300, math.MaxFloat64, math.SmallestNonzeroFloat64} {
		cases = append(cases, drawn{"x", f, math.MinInt64})
	}
	var texts []string
	for _, c := range cases {
		texts = append(texts, string(roster.Write(&roster.Roster{Version: roster.Version, ItemProfiles: []string{c.text}, Declarations: []roster.Declaration{{
			ID: c.text, Description: &c.text, Expression: &c.text,
			Initial: &roster.Literal{Kind: roster.List, List: []roster.Literal{{Kind: roster.Float, Float: c.f}, {Kind: roster.Int, Int: c.i}}},
		}}})))
	}
	stdin, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-c", program)
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got []reading
	if err := json.Unmarshal(stdout, &got); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		for k, want := range []string{c.text, c.text, c.text, c.text, "1.0"} {
			if got[i].Texts[k] != want {
				t.Errorf("%q was read as %q from\n%s", want, got[i].Texts[k], texts[i])
			}
		}
		f, err := strconv.ParseFloat(got[i].Numbers[0][len("float "):], 64)
		if err != nil || math.Float64bits(f) != math.Float64bits(c.f) || got[i].Numbers[1] != "int "+strconv.FormatInt(c.i, 10) {
			t.Errorf("%v and %d were read as %v", c.f, c.i, got[i].Numbers)
		}
	}
}
