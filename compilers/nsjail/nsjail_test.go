package nsjail

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
	"pgregory.net/rapid"

	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/compilers/confine/confinetest"
	"umwelt/compilers/nsjail/nsjailtest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// config is a parsed configuration.
type config struct {
	m protoreflect.Message
}

func read(t testing.TB, text []byte) config {
	m := dynamicpb.NewMessage(nsjailtest.Descriptor())
	if err := prototext.Unmarshal(text, m); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return config{m}
}

func (c config) get(name string) string {
	f := c.m.Descriptor().Fields().ByName(protoreflect.Name(name))
	if !c.m.Has(f) {
		return ""
	}
	v := c.m.Get(f)
	switch {
	case f.Kind() == protoreflect.BytesKind:
		return string(v.Bytes())
	case f.Kind() == protoreflect.EnumKind:
		return string(f.Enum().Values().ByNumber(v.Enum()).Name())
	}
	return v.String()
}

func (c config) list(name string) []config {
	var out []config
	l := c.m.Get(c.m.Descriptor().Fields().ByName(protoreflect.Name(name))).List()
	for i := range l.Len() {
		out = append(out, config{l.Get(i).Message()})
	}
	return out
}

func (c config) envars() []string {
	var out []string
	l := c.m.Get(c.m.Descriptor().Fields().ByName("envar")).List()
	for i := range l.Len() {
		out = append(out, string(l.Get(i).Bytes()))
	}
	return out
}

func render(t testing.TB, c *confine.Confinement, set map[string]string) []byte {
	out := Render(c, compilers.Input{Set: set, Version: "1.0"})
	if out.Diagnostics.HasErrors() {
		t.Fatal(out.Diagnostics.Err())
	}
	return out.Text
}

func n(n int64) *int64 { return &n }

func full() *confine.Confinement {
	cpu := 1.5
	return &confine.Confinement{
		Root: "/home/u/project",
		System: []confine.Mount{
			{Path: "/usr", Source: "/usr", Type: "bind", ReadOnly: true},
			{Path: "/bin", Source: "usr/bin", Type: "symlink"},
			{Path: "/tmp", Type: "tmpfs", Size: 1 << 30},
		},
		Plan: []confine.Entry{
			{Path: ".", Mode: confine.Hidden, Kind: confine.Dir},
			{Path: "src", Mode: confine.ReadWrite, Kind: confine.Dir},
			{Path: "src/auth", Mode: confine.ReadWrite, Kind: confine.Dir, Pin: true},
			{Path: "src/auth/key.pem", Mode: confine.Hidden},
			{Path: "src/vendor", Mode: confine.Hidden, Kind: confine.Dir},
			{Path: "to-docs", Mode: confine.ReadOnly, Kind: confine.Symlink, Target: "src/docs"},
		},
		Env:        []confine.Env{{Name: "CI"}, {Name: "TOKEN", Set: true}},
		Network:    confine.Network{Open: true},
		SearchPath: "/usr/bin:/bin",
		Limits: confine.Limits{Memory: n(512 << 20), Tmpfs: n(64 << 20), Disk: n(3<<20 + 1), WallTime: n(60e9), CPUTime: n(1500e6), MaxFDs: n(256),
			MaxProcesses: n(32), CPU: &cpu},
	}
}

func TestGolden(t *testing.T) {
	for _, tt := range []struct {
		name string
		c    *confine.Confinement
		set  map[string]string
	}{
		{"full", full(), nil},
		{"rlimit", full(), map[string]string{"limits": "rlimit", "workdir": "/work"}},
		{"nothing", &confine.Confinement{Root: "/p", Plan: []confine.Entry{{Path: ".", Kind: confine.Dir}}}, nil},
		{"hostile", confinetest.Hostile(), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := render(t, tt.c, tt.set)
			read(t, got)
			golden(t, tt.name, got)
		})
	}
}

// The shipped example, in sugar and in rules, gives the same bytes.
func TestExample(t *testing.T) {
	for _, name := range []string{"auth-fix.umw", "auth-fix.rules.umw"} {
		out := Compiler.Compile(compilers.Input{Resolution: confinetest.Example(t, "../..", name), Version: "1.0"})
		if out.Diagnostics.HasErrors() {
			t.Fatal(out.Diagnostics.Err())
		}
		read(t, out.Text)
		golden(t, "auth-fix", out.Text)
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".cfg")
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
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestFields(t *testing.T) {
	free := &confine.Confinement{Root: "/p", Plan: []confine.Entry{{Path: ".", Kind: confine.Dir}}}
	for _, tt := range []struct {
		name string
		c    *confine.Confinement
		set  map[string]string
		want map[string]string
	}{
		{"nothing is limited that no rule limits", free, nil, map[string]string{
			"mode": "ONCE", "time_limit": "0", "nice_level": "0", "keep_env": "false", "clone_newnet": "true", "cwd": "/p",
			"rlimit_as_type": "HARD", "rlimit_cpu_type": "HARD", "rlimit_fsize_type": "HARD", "rlimit_nofile_type": "HARD", "rlimit_nproc_type": "HARD",
			"cgroup_mem_max": "", "detect_cgroupv2": "",
		}},
		{"limits together", full(), nil, map[string]string{
			"time_limit": "60", "rlimit_cpu": "1", "rlimit_cpu_type": "VALUE", "rlimit_fsize": "3", "rlimit_nofile": "256", "rlimit_nofile_type": "VALUE",
			"rlimit_as_type": "HARD", "cgroup_mem_max": "536870912", "cgroup_pids_max": "32", "cgroup_cpu_ms_per_sec": "1500", "detect_cgroupv2": "true",
			"clone_newnet": "false",
		}},
		{"limits one by one", full(), map[string]string{"limits": "rlimit", "workdir": "/w"}, map[string]string{
			"rlimit_as": "512", "rlimit_as_type": "VALUE", "rlimit_nproc": "32", "rlimit_nproc_type": "VALUE", "cgroup_mem_max": "", "cwd": "/w",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := read(t, render(t, tt.c, tt.set))
			for name, want := range tt.want {
				if got := c.get(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
		})
	}
}

func TestVariables(t *testing.T) {
	c := read(t, render(t, full(), nil))
	// A fixed value is not inherited, and the name alone would inherit it.
	if d := cmp.Diff([]string{"PATH=/usr/bin:/bin", "CI"}, c.envars()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"PATH=/bin:$(id)'", "A\"B", "\xff", "OK", "$(id)"}, read(t, render(t, confinetest.Hostile(), nil)).envars()); d != "" {
		t.Error(d)
	}
}

// What is read back is what was laid out, byte for byte and in the same order, and no
// hidden file is the source of a mount.
func TestRandomTrees(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tree := confinetest.Draw(rt, confinetest.Odd, 14)
		want := confinetest.Wanted(tree)
		plan, _ := confine.Plan(tree)
		root := "/r/" + rapid.SampledFrom(confinetest.Odd).Draw(rt, "root")
		c := &confine.Confinement{Root: root, Plan: plan}
		seen := map[string]config{}
		for _, m := range read(t, render(t, c, nil)).list("mount") {
			dst := m.get("dst")
			if _, late := seen[dst+"/"]; late {
				t.Fatalf("%q is mounted after something below it", dst)
			}
			seen[dst] = m
			for p := filepath.Dir(dst); p != "/"; p = filepath.Dir(p) {
				seen[p+"/"] = m
			}
		}
		confinetest.Walk(tree, func(path string, node *confine.Node) {
			at := root
			if path != "." {
				at += "/" + path
			}
			m, mounted := seen[at]
			if !mounted {
				return
			}
			src := m.get("src")
			switch {
			case m.get("is_symlink") == "true":
				if want[path] == confine.Hidden || src != node.Target {
					t.Fatalf("%q is linked to %q", at, src)
				}
			case want[path] == confine.Hidden && src != "" && src != "/dev/null":
				t.Fatalf("hidden %q shows %q", at, src)
			case want[path] != confine.Hidden && (src != at || m.get("is_bind") != "true" || (m.get("rw") == "true") != (want[path] == confine.ReadWrite)):
				t.Fatalf("%q is mounted from %q, rw %s, want %s", at, src, m.get("rw"), want[path])
			}
		})
	})
}

func FuzzQuote(f *testing.F) {
	for _, s := range confinetest.Odd {
		f.Add(s)
	}
	f.Add("\x007")
	f.Fuzz(func(t *testing.T, s string) {
		var x text
		x.str("cwd", s)
		if got := read(t, []byte(x.b.String())).get("cwd"); got != s {
			t.Fatalf("%q came back as %q", s, got)
		}
	})
}
