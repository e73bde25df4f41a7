package nsjail

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	"pgregory.net/rapid"

	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/compilers/confine/confinetest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// descriptor is the part of nsjail's configuration message that its documentation names.
// The text form goes by field names, so the numbers are the test's own.
func descriptor(t testing.TB) protoreflect.MessageDescriptor {
	type field struct {
		names string
		typ   descriptorpb.FieldDescriptorProto_Type
		label descriptorpb.FieldDescriptorProto_Label
		of    string
	}
	const (
		one      = descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL
		many     = descriptorpb.FieldDescriptorProto_LABEL_REPEATED
		required = descriptorpb.FieldDescriptorProto_LABEL_REQUIRED
		str      = descriptorpb.FieldDescriptorProto_TYPE_STRING
		bin      = descriptorpb.FieldDescriptorProto_TYPE_BYTES
		boolean  = descriptorpb.FieldDescriptorProto_TYPE_BOOL
		u32      = descriptorpb.FieldDescriptorProto_TYPE_UINT32
		u64      = descriptorpb.FieldDescriptorProto_TYPE_UINT64
		i32      = descriptorpb.FieldDescriptorProto_TYPE_INT32
		enum     = descriptorpb.FieldDescriptorProto_TYPE_ENUM
		msg      = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
	)
	message := func(name string, fields ...field) *descriptorpb.DescriptorProto {
		m := &descriptorpb.DescriptorProto{Name: proto.String(name)}
		for _, f := range fields {
			for _, n := range strings.Fields(f.names) {
				d := &descriptorpb.FieldDescriptorProto{
					Name: proto.String(n), Number: proto.Int32(int32(len(m.Field) + 1)), Type: f.typ.Enum(), Label: f.label.Enum(),
				}
				if f.of != "" {
					d.TypeName = proto.String(".nsjail." + f.of)
				}
				m.Field = append(m.Field, d)
			}
		}
		return m
	}
	enumOf := func(name string, values ...string) *descriptorpb.EnumDescriptorProto {
		e := &descriptorpb.EnumDescriptorProto{Name: proto.String(name)}
		for i, v := range values {
			e.Value = append(e.Value, &descriptorpb.EnumValueDescriptorProto{Name: proto.String(v), Number: proto.Int32(int32(i))})
		}
		return e
	}
	file := &descriptorpb.FileDescriptorProto{
		Name: proto.String("nsjail.proto"), Package: proto.String("nsjail"), Syntax: proto.String("proto2"),
		EnumType: []*descriptorpb.EnumDescriptorProto{enumOf("Mode", "LISTEN", "ONCE", "RERUN", "EXECVE"), enumOf("RLimit", "VALUE", "SOFT", "HARD", "INF")},
		MessageType: []*descriptorpb.DescriptorProto{
			message("MountPt",
				// Bytes where the original has strings that hold paths: the C++ reader does not
				// check UTF-8, Go's does.
				field{"src prefix_src_env src_content prefix_dst_env fstype options", bin, one, ""},
				field{"dst", bin, required, ""},
				field{"is_bind rw is_dir mandatory is_symlink nosuid nodev noexec", boolean, one, ""}),
			message("NsJailConfig",
				field{"name hostname bindhost log_file seccomp_policy_file", str, one, ""},
				field{"description", str, many, ""},
				field{"cwd", bin, one, ""},
				field{"envar", bin, many, ""},
				field{"mode", enum, one, "Mode"},
				field{"no_pivotroot daemon keep_env keep_caps silent skip_setsid stderr_to_null disable_no_new_privs forward_signals disable_tsc disable_rl " +
					"clone_newnet clone_newuser clone_newns clone_newpid clone_newipc clone_newuts clone_newcgroup clone_newtime mount_proc seccomp_log use_cgroupv2 detect_cgroupv2", boolean, one, ""},
				field{"port max_conns max_conns_per_ip time_limit max_cpus cgroup_cpu_ms_per_sec", u32, one, ""},
				field{"nice_level oom_score_adj", i32, one, ""},
				field{"rlimit_as rlimit_core rlimit_cpu rlimit_fsize rlimit_nofile rlimit_nproc rlimit_stack rlimit_memlock rlimit_rtprio rlimit_msgqueue " +
					"cgroup_mem_max cgroup_pids_max", u64, one, ""},
				field{"rlimit_as_type rlimit_core_type rlimit_cpu_type rlimit_fsize_type rlimit_nofile_type rlimit_nproc_type rlimit_stack_type rlimit_memlock_type " +
					"rlimit_rtprio_type rlimit_msgqueue_type", enum, one, "RLimit"},
				field{"mount", msg, many, "MountPt"}),
		},
	}
	fd, err := protodesc.NewFile(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fd.Messages().ByName("NsJailConfig")
}

// config is a parsed configuration.
type config struct {
	m protoreflect.Message
}

func read(t testing.TB, text []byte) config {
	m := dynamicpb.NewMessage(descriptor(t))
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
