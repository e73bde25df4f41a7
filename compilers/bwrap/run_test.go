package bwrap

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/compilers/confine/confinetest"
)

// needBwrap skips where bubblewrap is not installed, or fails where tools are required.
func needBwrap(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("bwrap"); err != nil {
		if os.Getenv("UMWELT_REQUIRE_TOOLS") == "1" {
			t.Fatal("bwrap is missing: apt-get install bubblewrap")
		}
		t.Skip("bwrap is missing: apt-get install bubblewrap")
	}
}

// system is the mounts of a Debian host, and the test binary at /probe.
func system(t testing.TB) []confine.Mount {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	mounts := []confine.Mount{
		{Path: "/usr", Source: "/usr", Type: "bind", ReadOnly: true},
		{Path: "/probe", Source: exe, Type: "bind", ReadOnly: true},
	}
	for _, link := range []string{"/bin", "/lib", "/lib64", "/sbin"} {
		if target, err := os.Readlink(link); err == nil {
			mounts = append(mounts, confine.Mount{Path: link, Source: target, Type: "symlink"})
		} else if _, err := os.Stat(link); err == nil {
			mounts = append(mounts, confine.Mount{Path: link, Source: link, Type: "bind", ReadOnly: true})
		}
	}
	return mounts
}

// A sandbox runs the probe in a compiled confinement.
type sandbox struct {
	t    testing.TB
	c    *confine.Confinement
	form string
	set  map[string]string
	env  []string
	as   *syscall.SysProcAttr
}

func (s sandbox) compile() []byte {
	in := compilers.Input{Set: map[string]string{"form": s.form}, Version: "test"}
	for k, v := range s.set {
		in.Set[k] = v
	}
	out := Render(s.c, in)
	if out.Diagnostics.HasErrors() {
		s.t.Fatal(out.Diagnostics.Err())
	}
	return out.Text
}

// command is the compiled text made to run args inside, as its form wants to be run.
func (s sandbox) command(args ...string) *exec.Cmd {
	text := s.compile()
	dir := s.t.(interface{ TempDir() string }).TempDir()
	var cmd *exec.Cmd
	switch s.form {
	case "sh":
		script := filepath.Join(dir, "run.sh")
		if err := os.WriteFile(script, text, 0o755); err != nil {
			s.t.Fatal(err)
		}
		cmd = exec.Command("sh", append([]string{script}, args...)...)
	case "json":
		argv := decode(s.t, text)
		argv = append(argv, args...)
		cmd = exec.Command(argv[0], argv[1:]...)
	case "nul":
		cmd = exec.Command("bwrap", append([]string{"--args", "3", "--"}, args...)...)
		cmd.ExtraFiles = []*os.File{pipe(s.t, text)}
	case "lines":
		options := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		cmd = exec.Command("bwrap", append(append(options, "--"), args...)...)
	}
	cmd.SysProcAttr = s.as
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, s.env...)
	return cmd
}

// decode is the wrapper and argv of the JSON form.
func decode(t testing.TB, text []byte) []string {
	var doc struct {
		Schema        string
		Argv, Wrapper []json.RawMessage
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	var argv []string
	for _, raw := range append(doc.Wrapper, doc.Argv...) {
		var s string
		if json.Unmarshal(raw, &s) != nil {
			var bytes struct{ Base64 string }
			if err := json.Unmarshal(raw, &bytes); err != nil {
				t.Fatal(err)
			}
			b, err := base64.StdEncoding.DecodeString(bytes.Base64)
			if err != nil {
				t.Fatal(err)
			}
			s = string(b)
		}
		argv = append(argv, s)
	}
	return argv
}

func pipe(t testing.TB, text []byte) *os.File {
	f, err := os.CreateTemp(t.(interface{ TempDir() string }).TempDir(), "args")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(text); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	return f
}

func (s sandbox) run(ops []op) []result {
	input, err := json.Marshal(ops)
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := s.command("/probe", "probe")
	cmd.Stdin = bytes.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("%v: %s\n%s", err, stderr.String(), s.compile())
	}
	var results []result
	if err := json.Unmarshal(output, &results); err != nil {
		s.t.Fatalf("%v: %q", err, output)
	}
	return results
}

// listing is every path below root with its kind and content.
func listing(t testing.TB, root string) string {
	var b strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var content []byte
		if d.Type().IsRegular() {
			if content, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		fmt.Fprintf(&b, "%q %s %q\n", path, d.Type(), content)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// expectation is one operation and whether it has to go well.
type expectation struct {
	op
	well bool
	data string // what "read" and "readlink" give where they go well
	why  string
}

// expectations are what the policy allows and forbids at every path of a tree, without
// changing anything that it allows to be changed.
func expectations(root string, tree *confine.Node, want map[string]confine.Mode) []expectation {
	var out []expectation
	add := func(well bool, do, path, other, data, why string) {
		o := op{Do: do, Path: []byte(root + "/" + path)}
		if other != "" {
			o.New = []byte(other)
		}
		out = append(out, expectation{op: o, well: well, data: data, why: why})
	}
	confinetest.Walk(tree, func(path string, n *confine.Node) {
		m := want[path]
		why := fmt.Sprintf("%q is %s", path, m)
		switch n.Kind {
		case confine.Dir:
			add(m == confine.ReadWrite, "create", path+"/new-file", "", "", why)
			add(m == confine.ReadWrite, "mkdir", path+"/new-dir", "", "", why)
			if n.Shown || m != confine.Hidden {
				add(true, "list", path, "", "", why)
			}
		case confine.File:
			add(m != confine.Hidden, "read", path, "", "content of "+path, why)
			add(m == confine.ReadWrite, "write", path, "", "", why)
		case confine.Symlink:
			add(m != confine.Hidden, "readlink", path, "", n.Target, why)
		case confine.Special:
			add(m == confine.ReadWrite, "fifo", path, "", "", why)
		}
		if m == confine.ReadWrite || path == "." {
			return
		}
		add(false, "remove", path, "", "", why)
		add(false, "umount", path, "", "", why)
		add(false, "remount", path, "", "", why)
		add(false, "link", path, "/tmp/linked", "", why)
		if n.Kind == confine.File {
			add(false, "append", path, "", "", why)
			add(false, "truncate", path, "", "", why)
			add(false, "chmod", path, "", "", why)
		}
		for p := path; p != "."; p = confinetest.Parent(p) {
			add(false, "rename", p, root+"/"+p+"-moved", "", why)
			add(false, "rename", p, "/tmp/moved", "", why)
			add(false, "exchange", p, root, "", why)
		}
	})
	return out
}

func check(t testing.TB, s sandbox, want []expectation) {
	ops := make([]op, len(want))
	for i, e := range want {
		ops[i] = e.op
	}
	for i, r := range s.run(ops) {
		e := want[i]
		switch {
		case e.well && r.Error != "":
			t.Errorf("%s %q: %s, but %s", e.Do, e.Path, r.Error, e.why)
		case !e.well && r.Error == "":
			t.Errorf("%s %q went well, but %s", e.Do, e.Path, e.why)
		case e.well && e.data != "" && string(r.Data) != e.data:
			t.Errorf("%s %q gave %q, want %q", e.Do, e.Path, r.Data, e.data)
		}
	}
	if t.Failed() {
		t.Fatalf("the sandbox was\n%s", s.compile())
	}
}

// Whatever the names, the kinds and the policy: inside, everything is exactly as allowed
// as the plan's truth says, and outside nothing has changed.
func TestRandomTreesForReal(t *testing.T) {
	needBwrap(t)
	base := t.TempDir()
	mounts := system(t)
	count := 0
	rapid.Check(t, func(rt *rapid.T) {
		count++
		tree := confinetest.Draw(rt, confinetest.Odd, 12)
		root := filepath.Join(base, fmt.Sprint(count), "pro ject[1]")
		confinetest.Plant(t, root, tree)
		want := confinetest.Wanted(tree)
		before := listing(t, root)
		plan, _ := confine.Plan(tree)
		c := &confine.Confinement{Root: root, System: mounts, Plan: plan}
		form := rapid.SampledFrom([]string{"json", "nul", "sh"}).Draw(rt, "form")
		check(t, sandbox{t: t, c: c, form: form}, expectations(root, tree, want))
		if after := listing(t, root); after != before {
			t.Fatalf("the tree changed:\n%s\nwas\n%s", after, before)
		}
	})
}

func smallTree() *confine.Node {
	return node("", confine.Dir, confine.ReadOnly,
		node(".env", confine.File, confine.Hidden),
		node("docs", confine.Dir, confine.ReadOnly, node("a.md", confine.File, confine.ReadOnly)),
		node("src", confine.Dir, confine.ReadWrite,
			node("a.py", confine.File, confine.ReadWrite),
			node("deep", confine.Dir, confine.ReadWrite, node("lock", confine.File, confine.ReadOnly)),
			node("key.pem", confine.File, confine.Hidden)))
}

func planted(t *testing.T, tree *confine.Node) *confine.Confinement {
	t.Helper()
	needBwrap(t)
	root := filepath.Join(t.TempDir(), "project")
	confinetest.Plant(t, root, tree)
	plan, _ := confine.Plan(tree)
	return &confine.Confinement{Root: root, System: system(t), Plan: plan}
}

func TestEveryFormForReal(t *testing.T) {
	for _, form := range []string{"json", "lines", "nul", "sh"} {
		t.Run(form, func(t *testing.T) {
			tree := smallTree()
			want := confinetest.Wanted(tree)
			c := planted(t, tree)
			c.Env = []confine.Env{{Name: "ALLOWED"}, {Name: "ABSENT"}, {Name: "FIXED", Set: true}}
			s := sandbox{t: t, c: c, form: form, env: []string{"ALLOWED=it's \"so\"\n$HOME", "SECRET=s3cret", "FIXED=outside", "UMWELT_ENV_FIXED=inside"}}
			check(t, s, expectations(c.Root, tree, want))

			r := s.run([]op{{Do: "environ"}, {Do: "getwd"}})
			env := []string{"PATH=" + defaultPath, "PWD=" + c.Root}
			if form == "json" || form == "sh" {
				env = []string{"ALLOWED=it's \"so\"\n$HOME", "FIXED=inside", "PATH=" + defaultPath, "PWD=" + c.Root}
			}
			if fmt.Sprint(r[0].Values) != fmt.Sprint(env) {
				t.Errorf("environment %q, want %q", r[0].Values, env)
			}
			if string(r[1].Data) != c.Root {
				t.Errorf("working directory %q, want %q", r[1].Data, c.Root)
			}
			if text := string(s.compile()); strings.Contains(text, "s3cret") || strings.Contains(text, "it's") {
				t.Error("a value stands in the text")
			}
		})
	}
}

// A fixed value that nobody supplied must not be replaced by the one from outside.
func TestFixedVariableIsNotInherited(t *testing.T) {
	c := planted(t, smallTree())
	c.Env = []confine.Env{{Name: "TOKEN", Set: true}}
	for _, form := range []string{"json", "sh"} {
		r := sandbox{t: t, c: c, form: form, env: []string{"TOKEN=outside"}}.run([]op{{Do: "environ"}})
		for _, v := range r[0].Values {
			if strings.HasPrefix(v, "TOKEN=") {
				t.Errorf("%s: %s", form, v)
			}
		}
	}
}

func TestNetworkForReal(t *testing.T) {
	c := planted(t, smallTree())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, tt := range []struct {
		name    string
		network confine.Network
		open    bool
	}{
		{"closed", confine.Network{}, false},
		{"open", confine.Network{Open: true}, true},
		{"an endpoint alone", confine.Network{Allow: []confine.Endpoint{{CIDR: "127.0.0.1/32"}}}, false},
		{"all but one", confine.Network{Open: true, Deny: []string{"example.com"}}, false},
	} {
		c.Network = tt.network
		r := sandbox{t: t, c: c, form: "sh"}.run([]op{{Do: "dial", Path: []byte(l.Addr().String())}})
		if open := r[0].Error == ""; open != tt.open {
			t.Errorf("%s: reached %v, want %v (%s)", tt.name, open, tt.open, r[0].Error)
		}
	}
}

func TestLimitsForReal(t *testing.T) {
	c := planted(t, smallTree())
	n := func(n int64) *int64 { return &n }
	c.Limits = confine.Limits{WallTime: n(300e6), MaxFDs: n(64), Tmpfs: n(1 << 20), Disk: n(4096), CPUTime: n(7e9), Memory: n(1 << 33)}
	s := sandbox{t: t, c: c, form: "sh"}
	out, err := s.command("sh", "-c", "ulimit -n; ulimit -t; ulimit -f; head -c 2000 /dev/zero > /tmp/a && echo small; (head -c 9000 /dev/zero > /tmp/b) 2>/dev/null; stat -c %s /tmp/b; df --output=size -k /tmp | tail -1").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Fields(string(out)); fmt.Sprint(got) != "[64 7 8 small 4096 1024]" {
		t.Errorf("limits inside: %v", got)
	}
	err = s.command("sleep", "5").Run()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 124 {
		t.Errorf("a command over its time gave %v", err)
	}
}
