//go:build amd64 || arm64

package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"umwelt/compilers/confine"
	"umwelt/compilers/landlock"
)

// The test binary plays three parts: it is the test, the driver (a process of its own that
// calls Run, so that it can be another user, be killed and inherit things), and the
// program that attacks from inside.
func TestMain(m *testing.M) {
	Main()
	if filepath.Base(os.Args[0]) == "nsjail" {
		os.Exit(standIn(os.Args[1:]))
	}
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "drive":
			drive()
		case "probe":
			probe(os.Args[2:])
		}
	}
	os.Exit(m.Run())
}

// drivenRun is what the driver is told on descriptor 3.
type drivenRun struct {
	Target  string
	Root    string
	Tree    *plainNode
	System  []confine.Mount
	Env     []plainEnv
	Open    bool
	Allow   []plainEndpoint
	Deny    []string
	Limits  landlock.Limits
	Path    string
	Values  map[string]string
	Command []string
	Set     map[string]string
	Bare    bool
	Record  string // a file for what strace records of the run, "" for none
}

// plainNode and plainEnv are what they stand for, without the rules that decided.
type plainNode struct {
	Name     string
	Kind     confine.Kind
	Mode     confine.Mode
	Children []*plainNode
}

type plainEnv struct {
	Name string
	Set  bool
}

type plainEndpoint struct {
	Host, CIDR, Protocol string
	Port                 int
}

func plain(n *confine.Node) *plainNode {
	out := &plainNode{Name: n.Name, Kind: n.Kind, Mode: n.Mode}
	for _, c := range n.Children {
		out.Children = append(out.Children, plain(c))
	}
	return out
}

func (n *plainNode) node() *confine.Node {
	out := &confine.Node{Name: n.Name, Kind: n.Kind, Mode: n.Mode}
	for _, c := range n.Children {
		out.Children = append(out.Children, c.node())
	}
	return out
}

// confinement is the one that a driven run is to be held by.
func (in *drivenRun) confinement() *confine.Confinement {
	c := &confine.Confinement{Root: in.Root, Tree: in.Tree.node(), System: in.System, SearchPath: in.Path}
	l := in.Limits
	c.Limits = confine.Limits{Memory: l.Memory, Tmpfs: l.Tmpfs, Disk: l.Disk, WallTime: l.WallTime, CPUTime: l.CPUTime, MaxFDs: l.MaxFDs, MaxProcesses: l.MaxProcesses, CPU: l.CPU}
	c.Network = confine.Network{Open: in.Open, Deny: in.Deny}
	for _, e := range in.Allow {
		c.Network.Allow = append(c.Network.Allow, confine.Endpoint{Host: e.Host, CIDR: e.CIDR, Protocol: e.Protocol, Port: e.Port})
	}
	c.Plan, _ = confine.Plan(c.Tree)
	for _, e := range in.Env {
		c.Env = append(c.Env, confine.Env{Name: e.Name, Set: e.Set})
	}
	return c
}

// driven is what it says on descriptor 4.
type driven struct {
	Result Result
	Error  string
}

func drive() {
	var in drivenRun
	config := os.NewFile(3, "config")
	if err := json.NewDecoder(config).Decode(&in); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	config.Close()
	stop := make(chan os.Signal, 4)
	signal.Notify(stop, Signals()...)
	spec := Spec{Confinement: in.confinement(), Values: in.Values, Environ: os.Environ(), Command: in.Command, Set: in.Set,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Stop: stop, bare: in.Bare}
	finish := func() {}
	if in.Record != "" {
		finish = recorded(&spec, in.Record)
	}
	var out driven
	for _, t := range Targets() {
		if t.Info.Name == in.Target {
			var err error
			if out.Result, err = Run(t, spec); err != nil {
				out.Error = err.Error()
			}
		}
	}
	finish()
	if err := json.NewEncoder(os.NewFile(4, "result")).Encode(out); err != nil {
		os.Exit(2)
	}
	os.Exit(0)
}

// way is one way of running a sandbox.
type way struct {
	target string
	user   bool // as a plain user
	bare   bool // without namespaces
}

func (w way) String() string {
	s := w.target
	if w.user {
		s += " as a plain user"
	}
	if w.bare {
		s += " without namespaces"
	}
	return s
}

// nobody is the plain user.
const nobody = 65534

// ways are all ways that this machine can try. What is missing is said, and is a failure
// where tools are required.
func ways(t *testing.T) []way {
	t.Helper()
	all := []way{{target: "bwrap"}, {target: "bwrap", user: true}, {target: "landlock"}, {target: "landlock", user: true},
		{target: "landlock", bare: true}, {target: "landlock", user: true, bare: true}}
	var out []way
	for _, w := range all {
		if w.user && os.Geteuid() != 0 {
			continue // this is the plain user already
		}
		for _, target := range Targets() {
			if target.Info.Name != w.target {
				continue
			}
			if err := target.Available(); err == nil {
				out = append(out, w)
			} else if os.Getenv("UMWELT_REQUIRE_TOOLS") == "1" {
				t.Fatal(err)
			} else {
				t.Log(err)
			}
		}
	}
	if len(out) == 0 {
		t.Skip("neither bwrap nor Landlock is here: apt-get install bubblewrap")
	}
	return out
}

// scene is a project on disk with a policy, and a directory for what lies outside of it.
type scene struct {
	t       testing.TB
	dir     string // outside; holds everything
	root    string
	c       *confine.Confinement
	values  map[string]string
	environ []string
	set     map[string]string
	record  string
	stdin   *os.File
	files   []*os.File // inherited from number 5 on
}

func dir(name string, mode confine.Mode, children ...*confine.Node) *confine.Node {
	return &confine.Node{Name: name, Kind: confine.Dir, Mode: mode, Children: children}
}

func file(name string, mode confine.Mode) *confine.Node {
	return &confine.Node{Name: name, Mode: mode}
}

// newScene makes the project. It does not lie in /tmp, which sandboxes have of their own.
func newScene(t testing.TB, w way) *scene {
	t.Helper()
	base, err := os.MkdirTemp("/var/tmp", "umwelt-runner-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	s := &scene{t: t, dir: base, root: base + "/project"}
	const h, ro, rw = confine.Hidden, confine.ReadOnly, confine.ReadWrite
	tree := dir("", ro,
		file(".env", h),
		dir("keep", ro, file("k.txt", ro)),
		dir("out", rw, file("f", rw), dir("sub", rw, file("g", rw))),
		dir("secret", h, file("s.txt", h)),
		dir("src", rw, file("a.txt", rw), file("lock.txt", ro)))
	s.plant(tree, s.root)
	plan, _ := confine.Plan(tree)
	s.c = &confine.Confinement{Root: s.root, Tree: tree, Plan: plan, System: s.system()}
	// People own their projects.
	if w.user {
		err := filepath.Walk(base, func(path string, _ os.FileInfo, err error) error {
			if err != nil {
				return err
			}
			return os.Lchown(path, nobody, nobody)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(base, 0o777); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *scene) plant(n *confine.Node, at string) {
	s.t.Helper()
	if n.Kind != confine.Dir {
		if err := os.WriteFile(at, []byte("content of "+n.Name), 0o666); err != nil {
			s.t.Fatal(err)
		}
		if err := os.Chmod(at, 0o666); err != nil {
			s.t.Fatal(err)
		}
		return
	}
	if err := os.Mkdir(at, 0o777); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Chmod(at, 0o777); err != nil {
		s.t.Fatal(err)
	}
	for _, c := range n.Children {
		s.plant(c, at+"/"+c.Name)
	}
}

// probePath is where this program lies inside and outside.
func (s *scene) probePath() string { return s.dir + "/bin/probe" }

func (s *scene) system() []confine.Mount {
	exe, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	text, err := os.ReadFile(exe)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.Mkdir(s.dir+"/bin", 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(s.probePath(), text, 0o755); err != nil {
		s.t.Fatal(err)
	}
	mounts := []confine.Mount{
		{Path: "/usr", Source: "/usr", Type: "bind", ReadOnly: true},
		{Path: s.dir + "/bin", Source: s.dir + "/bin", Type: "bind", ReadOnly: true},
		{Path: "/proc", Type: "proc"}, {Path: "/dev", Type: "dev"}, {Path: "/tmp", Type: "tmpfs"},
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

// driver is a run that was started.
type driver struct {
	cmd    *exec.Cmd
	stdout bytes.Buffer
	stderr bytes.Buffer
	result *os.File
}

// start starts a run in a driver of its own.
func (s *scene) start(w way, command ...string) *driver {
	s.t.Helper()
	configR, configW, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	resultR, resultW, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	d := &driver{result: resultR}
	d.cmd = exec.Command(s.probePath(), "drive")
	d.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, s.environ...)
	d.cmd.Stdin, d.cmd.Stdout, d.cmd.Stderr = s.stdin, &d.stdout, &d.stderr
	d.cmd.ExtraFiles = append([]*os.File{configR, resultW}, s.files...)
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if w.user {
		d.cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	if err := d.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	configR.Close()
	resultW.Close()
	in := drivenRun{Target: w.target, Root: s.c.Root, Tree: plain(s.c.Tree), System: s.c.System, Open: s.c.Network.Open, Deny: s.c.Network.Deny,
		Path: s.c.SearchPath, Values: s.values, Command: command, Set: s.set, Bare: w.bare, Record: s.record}
	for _, e := range s.c.Env {
		in.Env = append(in.Env, plainEnv{e.Name, e.Set})
	}
	for _, e := range s.c.Network.Allow {
		in.Allow = append(in.Allow, plainEndpoint{e.Host, e.CIDR, e.Protocol, e.Port})
	}
	l := s.c.Limits
	in.Limits = landlock.Limits{Memory: l.Memory, Tmpfs: l.Tmpfs, Disk: l.Disk, WallTime: l.WallTime, CPUTime: l.CPUTime, MaxFDs: l.MaxFDs, MaxProcesses: l.MaxProcesses, CPU: l.CPU}
	if err := json.NewEncoder(configW).Encode(in); err != nil {
		s.t.Fatal(err)
	}
	configW.Close()
	return d
}

// wait waits for the end of a run.
func (d *driver) wait() (driven, error) {
	var out driven
	read := json.NewDecoder(d.result).Decode(&out)
	d.result.Close()
	timer := time.AfterFunc(20*time.Second, func() { _ = d.cmd.Process.Kill() })
	defer timer.Stop()
	err := d.cmd.Wait()
	if errors.Is(read, io.EOF) {
		read = errors.New("the driver said nothing")
	}
	return out, errors.Join(read, err)
}

// run runs a command and gives what it wrote.
func (s *scene) run(w way, command ...string) (driven, string, string) {
	s.t.Helper()
	d := s.start(w, command...)
	out, err := d.wait()
	if err != nil {
		s.t.Fatalf("%s: %v\n%s%s", w, err, d.stdout.String(), d.stderr.String())
	}
	return out, d.stdout.String(), d.stderr.String()
}

// try runs operations inside and gives the error of each, "" where it went well.
func (s *scene) try(w way, ops ...string) map[string]string {
	s.t.Helper()
	text, err := json.Marshal(ops)
	if err != nil {
		s.t.Fatal(err)
	}
	out, stdout, stderr := s.run(w, s.probePath(), "probe", string(text))
	if out.Error != "" || out.Result.Exit != 0 {
		s.t.Fatalf("%s: the probe did not run: %s, exit %d %v\n%s", w, out.Error, out.Result.Exit, out.Result.Remarks, stderr)
	}
	results := map[string]string{}
	if err := json.Unmarshal([]byte(stdout), &results); err != nil {
		s.t.Fatalf("%s: %v: %q\n%s", w, err, stdout, stderr)
	}
	return results
}

// listing is every path below a directory with its kind, permission bits and content.
func listing(t testing.TB, root string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		var content []byte
		if info.Mode().IsRegular() {
			if content, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		fmt.Fprintf(&b, "%s %s %q\n", path, info.Mode(), content)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
