package container_test

import (
	"encoding/csv"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/compilers/confine/confinetest"
	"umwelt/compilers/container"
	"umwelt/compilers/docker"
	"umwelt/compilers/podman"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var tools = []container.Tool{podman.Tool, docker.Tool}

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

func forms(tool container.Tool) []string { return tool.Compiler().Info.Options[0].Values }

// The shipped example, in sugar and in rules, gives the same bytes in every form.
func TestExample(t *testing.T) {
	for _, tool := range tools {
		for _, form := range forms(tool) {
			for _, name := range []string{"auth-fix.umw", "auth-fix.rules.umw"} {
				in := compilers.Input{Resolution: confinetest.Example(t, "../..", name), Set: map[string]string{"form": form}, Version: "1.0"}
				out := tool.Compiler().Compile(in)
				if out.Diagnostics.HasErrors() {
					t.Fatal(out.Diagnostics.Err())
				}
				golden(t, tool.Name+"."+form, out.Text)
				if form == "sh" && name == "auth-fix.rules.umw" {
					c := compilers.Cover(tool.Compiler().Info, in.Resolution, out.Notes)
					golden(t, tool.Name+".coverage", []byte(c.Summary()+"\n\n"+c.Text()))
				}
			}
		}
	}
}

// hostile is every odd name that a container tool can be told.
func hostile() *confine.Confinement {
	c := confinetest.Hostile()
	c.Plan = slices.DeleteFunc(c.Plan, func(e confine.Entry) bool { return strings.Contains(e.Path, "\xff") })
	for i := range c.Plan {
		c.Plan[i].Path = strings.ReplaceAll(c.Plan[i].Path, strings.Repeat("n", 255), "long")
	}
	c.Plan = append(c.Plan, confine.Entry{Path: "tmp:fs", Kind: confine.Dir, Mode: confine.ReadOnly})
	c.System = []confine.Mount{{Path: "/var/a:b", Type: "tmpfs"}, {Path: "/var/a,b", Type: "tmpfs", Size: 5}, {Path: "/bin", Source: "usr/bin", Type: "symlink"}, {Path: "/mnt/proc", Type: "proc"}}
	n := func(n int64) *int64 { return &n }
	cpu := 1.5
	c.Limits = confine.Limits{Memory: n(1 << 29), WallTime: n(2.5e9), CPUTime: n(7e9), MaxFDs: n(64), MaxProcesses: n(32), Tmpfs: n(1 << 20), Disk: n(4096), CPU: &cpu}
	c.Env = append(c.Env, confine.Env{Name: "TOKEN", Set: true}, confine.Env{Name: "DOCKER_HOST", Set: true})
	return c
}

func TestHostileNames(t *testing.T) {
	c := hostile()
	for _, tool := range tools {
		for _, form := range forms(tool) {
			out := tool.Render(c, compilers.Input{Set: map[string]string{"form": form}, Version: "1.0\nrm -rf /"})
			if form == "lines" {
				if !out.Diagnostics.HasErrors() {
					t.Errorf("%s: a name with a newline stands in lines", tool.Name)
				}
				continue
			}
			if out.Diagnostics.HasErrors() {
				t.Fatal(out.Diagnostics.Err())
			}
			golden(t, "hostile."+tool.Name+"."+form, out.Text)
		}
	}
}

// words is the command line of the form nul.
func words(t *testing.T, tool container.Tool, c *confine.Confinement) []string {
	t.Helper()
	out := tool.Render(c, compilers.Input{Set: map[string]string{"form": "nul"}})
	if out.Diagnostics.HasErrors() {
		t.Fatal(out.Diagnostics.Err())
	}
	return strings.Split(strings.TrimSuffix(string(out.Text), "\x00"), "\x00")
}

// Every mount reads back as it was written.
func TestMountsAreRecords(t *testing.T) {
	c := hostile()
	for _, tool := range tools {
		want := map[string]bool{}
		for _, s := range c.Layout(c.Root) {
			if s.Kind == confine.Bind || s.Kind == confine.Cover || s.Kind == confine.Tmpfs {
				want["target="+s.Path] = true
			}
		}
		argv := words(t, tool, c)
		for i, w := range argv[:len(argv)-1] {
			switch w {
			case "--mount":
				records, err := csv.NewReader(strings.NewReader(argv[i+1])).ReadAll()
				if err != nil || len(records) != 1 {
					t.Fatalf("%q: %v", argv[i+1], err)
				}
				at := slices.IndexFunc(records[0], func(f string) bool { return strings.HasPrefix(f, "target=") })
				if !want[records[0][at]] {
					t.Errorf("%q stands for nothing", argv[i+1])
				}
				delete(want, records[0][at])
			case "--tmpfs":
				target, _, _ := strings.Cut(argv[i+1], ":")
				delete(want, "target="+target)
			}
		}
		if len(want) > 0 {
			t.Errorf("%s misses %v", tool.Name, want)
		}
	}
}

func TestUnsayableNames(t *testing.T) {
	for _, name := range []string{"\xff", "a\r\nb", "d/\xfe/x"} {
		for _, tool := range tools {
			c := &confine.Confinement{Root: "/p", Plan: []confine.Entry{{Path: ".", Kind: confine.Dir}, {Path: name, Mode: confine.ReadOnly}}}
			if out := tool.Render(c, compilers.Input{}); !out.Diagnostics.HasErrors() || out.Text != nil {
				t.Errorf("%s takes %q", tool.Name, name)
			}
		}
	}
}

func TestOptions(t *testing.T) {
	c := &confine.Confinement{Root: "/p", Plan: []confine.Entry{{Path: ".", Kind: confine.Dir}}}
	for _, tt := range []struct{ key, value string }{
		{"workdir", "relative"}, {"workdir", "/a/../b"}, {"workdir", "/"}, {"image", ""}, {"image", "-v"}, {"image", "a b"}, {"image", "a\nb"}, {"user", "--privileged"},
		{"user", "0 0"}, {"network", "a,b"}, {"runtime", "a b"}, {"max-fds", "1.5"}, {"max-fds", "-1"}, {"cover", "x"}, {"cover", "/a/.."}, {"cover", "/\xff"},
	} {
		for _, tool := range tools {
			has := slices.ContainsFunc(tool.Compiler().Info.Options, func(o compilers.Option) bool { return o.Key == tt.key })
			if out := tool.Render(c, compilers.Input{Set: map[string]string{tt.key: tt.value}}); has && (!out.Diagnostics.HasErrors() || out.Text != nil) {
				t.Errorf("%s takes %s %q", tool.Name, tt.key, tt.value)
			}
		}
	}
}

// A limit of nothing must not become no limit.
func TestLimitsOfNothing(t *testing.T) {
	n, cpu := int64(0), 0.0
	c := &confine.Confinement{Root: "/p", Plan: []confine.Entry{{Path: ".", Kind: confine.Dir}}}
	c.Limits = confine.Limits{Memory: &n, WallTime: &n, CPUTime: &n, MaxProcesses: &n, Tmpfs: &n, CPU: &cpu}
	for _, tool := range tools {
		text := strings.Join(words(t, tool, c), " ")
		wanted := []string{"--memory 1 --memory-swap 1 ", "--pids-limit 1 ", "--cpus 0.01 ", "--ulimit cpu=1:1 ", "--shm-size 1 "}
		if tool.Timeout {
			wanted = append(wanted, "--timeout 1 ")
		}
		for _, want := range wanted {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is missing in %s", tool.Name, want, text)
			}
		}
	}
}

// What is written between quotes is what a reader of YAML and then compose get.
func TestComposeReadsBack(t *testing.T) {
	c := hostile()
	out := docker.Tool.Render(c, compilers.Input{Set: map[string]string{"form": "compose"}})
	var doc struct {
		Services map[string]struct {
			Volumes []struct{ Type, Source, Target string }
			Tmpfs   []string
		}
	}
	if err := yaml.Unmarshal(out.Text, &doc); err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, s := range c.Layout(c.Root) {
		if s.Kind == confine.Bind || s.Kind == confine.Cover || s.Kind == confine.Tmpfs {
			want[s.Path] = true
		}
	}
	for _, v := range doc.Services["umwelt"].Volumes {
		if strings.Contains(strings.ReplaceAll(v.Target, "$$", ""), "$") {
			t.Errorf("compose would expand %q", v.Target)
		}
		target := strings.ReplaceAll(v.Target, "$$", "$")
		if !want[target] {
			t.Errorf("%q stands for nothing", v.Target)
		}
		delete(want, target)
	}
	for _, v := range doc.Services["umwelt"].Tmpfs {
		target, _, _ := strings.Cut(v, ":")
		delete(want, target)
	}
	if len(want) > 0 {
		t.Errorf("compose misses %v", want)
	}
}

// Where nobody supplies a fixed value, the one from outside must not stand for it.
func TestFixedVariables(t *testing.T) {
	c := &confine.Confinement{Root: "/p", Plan: []confine.Entry{{Path: ".", Kind: confine.Dir}}, Env: []confine.Env{{Name: "TOKEN", Set: true}, {Name: "PASS"}}}
	for _, tool := range tools {
		for _, form := range forms(tool) {
			out := tool.Render(c, compilers.Input{Set: map[string]string{"form": form}})
			text := string(out.Text)
			supplied := strings.Contains(text, "UMWELT_ENV_TOKEN")
			if strings.Contains(text, "TOKEN") != supplied || !supplied && len(out.Notes) != 1 || !strings.Contains(text, "PASS") {
				t.Errorf("%s, %s: %s\n%v", tool.Name, form, text, out.Notes)
			}
		}
	}
}

// fake is a directory with a program in the tool's place, to put first on the path.
func fake(t *testing.T, name, script string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A shell reads every word of the script as it was written.
func TestScriptWordsForReal(t *testing.T) {
	c := hostile()
	c.Limits.WallTime = nil
	c.Env = slices.DeleteFunc(c.Env, func(e confine.Env) bool { return e.Set })
	for _, tool := range tools {
		script := filepath.Join(t.TempDir(), "run.sh")
		out := tool.Render(c, compilers.Input{Set: map[string]string{"form": "sh", "user": "7:8"}})
		if err := os.WriteFile(script, out.Text, 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", script, "a b", "-x", "")
		cmd.Env = []string{"PATH=" + fake(t, tool.Name, `[ "$1" = rm ] || printf '%s\0' "$@"`) + ":" + os.Getenv("PATH")}
		text, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
		nul := tool.Render(c, compilers.Input{Set: map[string]string{"form": "nul", "user": "7:8"}})
		want := append(strings.Split(strings.TrimSuffix(string(nul.Text), "\x00"), "\x00"), "a b", "-x", "")
		if !tool.NoDev {
			// The script has a directory of its own for the cover and the container's id.
			at := slices.Index(got, "--cidfile")
			dir := filepath.Dir(got[at+1])
			got = slices.Delete(got, at-1, at+2)
			for i := range got {
				got[i] = strings.ReplaceAll(got[i], "source="+dir+"/cover", "source=/dev/null")
			}
			if _, err := os.Stat(dir); !os.IsNotExist(err) {
				t.Errorf("%s stays behind", dir)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s -want +got:\n%s", tool.Name, d)
		}
	}
}

// The wrapper hands fixed values on, ends what takes too long, and removes the container.
func TestWrapperForReal(t *testing.T) {
	n := int64(200e6)
	c := &confine.Confinement{Root: "/p", Plan: []confine.Entry{{Path: ".", Kind: confine.Dir}}, Limits: confine.Limits{WallTime: &n}, Env: []confine.Env{{Name: "TOKEN", Set: true}, {Name: "OTHER", Set: true}}}
	out := docker.Tool.Render(c, compilers.Input{})
	var doc struct{ Argv, Wrapper []string }
	if err := json.Unmarshal(out.Text, &doc); err != nil {
		t.Fatal(err)
	}
	dir := fake(t, "docker", `case $1 in
rm) echo "removed $3" >> "$LOG" ;;
run) shift; while [ "$1" != --cidfile ]; do shift; done; echo 0815 > "$2"; echo "token $TOKEN other ${OTHER-none}" >> "$LOG"; exec sleep 20 ;;
esac`)
	log := filepath.Join(dir, "log")
	argv := append(append(doc.Wrapper, doc.Argv...), "make")
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "LOG=" + log, "UMWELT_ENV_TOKEN=fixed", "TOKEN=outside", "OTHER=outside"}
	start := time.Now()
	err := cmd.Run()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 124 || time.Since(start) > 10*time.Second {
		t.Errorf("after %v: %v", time.Since(start), err)
	}
	text, _ := os.ReadFile(log)
	if string(text) != "token fixed other none\nremoved 0815\n" {
		t.Errorf("%q", text)
	}
}
