// Package check reads the compose files of package container with compose's own reader. It
// is a module of its own, so that its dependencies stay out of the tool.
package check

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"pgregory.net/rapid"

	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/compilers/confine/confinetest"
	"umwelt/compilers/docker"
)

// load reads a compose file strictly, with variables that must not come into it.
func load(t *testing.T, c *confine.Confinement, set map[string]string) types.ServiceConfig {
	t.Helper()
	in := map[string]string{"form": "compose"}
	for k, v := range set {
		in[k] = v
	}
	out := docker.Tool.Render(c, compilers.Input{Set: in, Version: "test"})
	if out.Diagnostics.HasErrors() {
		t.Fatal(out.Diagnostics.Err())
	}
	project, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir:  t.TempDir(),
		ConfigFiles: []types.ConfigFile{{Filename: "compose.yml", Content: out.Text}},
		Environment: types.Mapping{"HOME": "/stolen", "CI": "true"},
	}, func(o *loader.Options) { o.SetProjectName("umwelt", true) })
	if err != nil {
		t.Fatalf("%v\n%s", err, out.Text)
	}
	s, err := project.GetService("umwelt")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Compose gets every mount as the layout has it, whatever the names.
func TestMounts(t *testing.T) {
	var names []string
	for _, n := range append(confinetest.Odd, "${HOME}", "$$", "$HOME:/x", "a${b:-c}d", ": ", "- x", "\u2028") {
		if utf8.ValidString(n) {
			names = append(names, n)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		tree := confinetest.Draw(rt, names, 30)
		plan, _ := confine.Plan(tree)
		c := &confine.Confinement{Root: "/srv/pro ject", Tree: tree, Plan: plan, System: []confine.Mount{{Path: "/usr", Source: "/usr", Type: "bind", ReadOnly: true}, {Path: "/var/a:b", Type: "tmpfs"}}}
		s := load(t, c, map[string]string{"cover": "/var/lib/cover"})
		got := map[string]types.ServiceVolumeConfig{}
		for _, v := range s.Volumes {
			got[v.Target] = v
		}
		for _, step := range c.Layout(c.Root) {
			v, there := got[step.Path]
			delete(got, step.Path)
			switch step.Kind {
			case confine.Bind, confine.Cover:
				source := step.Source
				if step.Kind == confine.Cover {
					source = "/var/lib/cover"
				}
				if v.Type != "bind" || v.Source != source || v.ReadOnly != step.ReadOnly || bool(v.Bind.CreateHostPath) || step.ReadOnly && v.Bind.Recursive != "disabled" {
					t.Fatalf("%q is %+v, want %+v", step.Path, v, step)
				}
			case confine.Tmpfs:
				if !step.ReadOnly && !strings.Contains(step.Path, ":") {
					if len(s.Tmpfs) != 1 || !strings.HasPrefix(s.Tmpfs[0], step.Path+":exec,") {
						t.Fatalf("temporary directories %q", s.Tmpfs)
					}
				} else if v.Type != "tmpfs" || v.ReadOnly != step.ReadOnly || step.Perms == "0555" && v.Tmpfs.Mode != 0o555 || step.Perms == "0000" && v.Tmpfs.Mode != 0 {
					t.Fatalf("%q is %+v, want %+v", step.Path, v, step)
				}
			default:
				if there {
					t.Fatalf("%q is %+v", step.Path, v)
				}
			}
		}
		if len(got) > 0 {
			t.Fatalf("too much: %+v", got)
		}
	})
}

func TestRest(t *testing.T) {
	n := func(n int64) *int64 { return &n }
	cpu := 1.5
	c := &confine.Confinement{
		Root: "/p", SearchPath: "/bin:$HOME", Plan: []confine.Entry{{Path: ".", Kind: confine.Dir}},
		Limits: confine.Limits{Memory: n(1 << 29), CPUTime: n(7e9), MaxFDs: n(64), MaxProcesses: n(32), Tmpfs: n(1 << 20), Disk: n(4096), CPU: &cpu},
		Env:    []confine.Env{{Name: "CI"}, {Name: "ABSENT"}, {Name: "TOKEN", Set: true}},
	}
	s := load(t, c, map[string]string{"user": "7:8"})
	if s.User != "7:8" || s.WorkingDir != "/p" || !s.ReadOnly || s.NetworkMode != "none" || len(s.CapDrop) != 1 || s.CapDrop[0] != "ALL" || len(s.SecurityOpt) != 1 || s.PullPolicy != "never" {
		t.Errorf("%+v", s)
	}
	if s.MemLimit != 1<<29 || s.MemSwapLimit != 1<<29 || s.PidsLimit != 32 || s.CPUS != 1.5 || s.ShmSize != 1<<20 || len(s.Ulimits) != 3 || s.Ulimits["nofile"].Hard != 64 {
		t.Errorf("%+v", s)
	}
	if _, token := s.Environment["TOKEN"]; token || *s.Environment["PATH"] != "/bin:$HOME" || *s.Environment["CI"] != "true" {
		t.Errorf("%+v", s.Environment)
	}
}
