package bwrap

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/compilers/confine/confinetest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got):\n%s", path, d)
	}
}

// The shipped example, in sugar and in rules, gives the same bytes in every form.
func TestExample(t *testing.T) {
	for _, form := range []string{"json", "lines", "nul", "sh"} {
		for _, name := range []string{"auth-fix.umw", "auth-fix.rules.umw"} {
			out := Compiler.Compile(compilers.Input{Resolution: confinetest.Example(t, "../..", name), Set: map[string]string{"form": form}, Version: "1.0"})
			if out.Diagnostics.HasErrors() {
				t.Fatal(out.Diagnostics.Err())
			}
			golden(t, "auth-fix."+form, out.Text)
		}
	}
}

func TestExampleCoverage(t *testing.T) {
	in := compilers.Input{Resolution: confinetest.Example(t, "../..", "auth-fix.rules.umw"), Set: map[string]string{"form": "sh"}}
	c := compilers.Cover(Info, in.Resolution, Compiler.Compile(in).Notes)
	golden(t, "auth-fix.coverage", []byte(c.Summary()+"\n\n"+c.Text()))
}

func TestHostileNames(t *testing.T) {
	c := confinetest.Hostile()
	for _, form := range []string{"json", "nul", "sh"} {
		out := Render(c, compilers.Input{Set: map[string]string{"form": form}, Version: "1.0\nrm -rf /"})
		if out.Diagnostics.HasErrors() {
			t.Fatal(out.Diagnostics.Err())
		}
		golden(t, "hostile."+form, out.Text)
	}
	out := Render(c, compilers.Input{Set: map[string]string{"form": "lines"}})
	if out.Text != nil && !out.Diagnostics.HasErrors() {
		t.Error("a name with a newline stands in lines")
	}
}

// A shell reads every option of the script as it was written.
func TestScriptWordsForReal(t *testing.T) {
	c := confinetest.Hostile()
	dir := t.TempDir()
	script := filepath.Join(dir, "run.sh")
	out := Render(c, compilers.Input{Set: map[string]string{"form": "sh"}})
	if err := os.WriteFile(script, out.Text, 0o755); err != nil {
		t.Fatal(err)
	}
	fake := filepath.Join(dir, "bwrap")
	if err := os.WriteFile(fake, []byte("#!/bin/sh\n[ \"$1 $2\" = '--args 3' ] || exit 9\ncat <&3\nshift 2\nprintf '%s\\0' \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", script, "a b", "-x", "")
	cmd.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
	got, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	nul := Render(c, compilers.Input{Set: map[string]string{"form": "nul"}})
	want := slices.DeleteFunc(strings.Split(strings.TrimSuffix(string(nul.Text), "\x00"), "\x00"), func(s string) bool { return s == "--clearenv" })
	want = append(want, "--", "a b", "-x", "")
	if d := cmp.Diff(want, strings.Split(strings.TrimSuffix(string(got), "\x00"), "\x00")); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestJSONIsExact(t *testing.T) {
	out := Render(confinetest.Hostile(), compilers.Input{Set: map[string]string{"form": "json"}})
	if !json.Valid(out.Text) {
		t.Fatal("not JSON")
	}
	nul := Render(confinetest.Hostile(), compilers.Input{Set: map[string]string{"form": "nul"}})
	options := slices.DeleteFunc(strings.Split(strings.TrimSuffix(string(nul.Text), "\x00"), "\x00"), func(s string) bool { return s == "--clearenv" })
	argv := decode(t, out.Text)
	at := slices.Index(argv, "bwrap")
	if d := cmp.Diff(append(options, "--"), argv[at+1:]); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestTooManyMounts(t *testing.T) {
	c := &confine.Confinement{Root: "/p", Plan: []confine.Entry{{Path: ".", Kind: confine.Dir}}}
	for i := range 2900 {
		c.Plan = append(c.Plan, confine.Entry{Path: fmt.Sprint(i), Mode: confine.ReadOnly})
	}
	if out := Render(c, compilers.Input{}); len(out.Diagnostics) != 0 {
		t.Errorf("%v", out.Diagnostics)
	}
	for i := range 200 {
		c.Plan = append(c.Plan, confine.Entry{Path: fmt.Sprint("z", i), Mode: confine.ReadOnly})
	}
	for _, form := range []string{"json", "lines", "nul", "sh"} {
		if out := Render(c, compilers.Input{Set: map[string]string{"form": form}}); out.Text != nil || !out.Diagnostics.HasErrors() {
			t.Errorf("%s: bubblewrap takes no more than 9,000 arguments, and nobody says so", form)
		}
	}
}

func TestOptions(t *testing.T) {
	c := &confine.Confinement{Root: "/p", Plan: []confine.Entry{{Path: ".", Kind: confine.Dir}}}
	for _, workdir := range []string{"relative", "/a/../b", "/", "/a\x00b"} {
		if out := Render(c, compilers.Input{Set: map[string]string{"workdir": workdir}}); !out.Diagnostics.HasErrors() || out.Text != nil {
			t.Errorf("workdir %q is taken", workdir)
		}
	}
	n := int64(0)
	c.Limits = confine.Limits{WallTime: &n, CPUTime: &n, Tmpfs: &n}
	text := string(Render(c, compilers.Input{Set: map[string]string{"form": "sh"}}).Text)
	for _, want := range []string{"timeout --kill-after=5 0.001", "--cpu=1", "--size 1\n", "--size 1 "} {
		if !strings.Contains(strings.ReplaceAll(text, " \\\n  ", " "), strings.TrimSpace(want)) {
			t.Errorf("a limit of nothing became none: %q is missing in\n%s", want, text)
		}
	}
}
