//go:build amd64 || arm64

package runner

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"umwelt/compilers/confine"
)

// needPodman is an image for podman that holds a shell. Where podman or busybox is missing
// or does not work, that is said, and is a failure where tools are required.
func needPodman(t *testing.T) string {
	t.Helper()
	missing := func(what string) {
		t.Helper()
		if os.Getenv("UMWELT_REQUIRE_TOOLS") == "1" {
			t.Fatal(what)
		}
		t.Skip(what)
	}
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		missing("busybox is missing: apt-get install busybox-static")
	}
	if _, err := exec.LookPath("podman"); err != nil {
		missing("podman is missing: apt-get install podman runc")
	}
	if os.Geteuid() != 0 {
		missing("podman runs here as root alone")
	}
	program, err := os.ReadFile(busybox)
	if err != nil {
		t.Fatal(err)
	}
	var image bytes.Buffer
	w := tar.NewWriter(&image)
	add := func(h *tar.Header, content []byte) {
		h.Size = int64(len(content))
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	add(&tar.Header{Name: "bin/", Typeflag: tar.TypeDir, Mode: 0o755}, nil)
	add(&tar.Header{Name: "bin/busybox", Typeflag: tar.TypeReg, Mode: 0o755}, program)
	for _, name := range []string{"sh", "cat", "sleep", "env", "true"} {
		add(&tar.Header{Name: "bin/" + name, Typeflag: tar.TypeSymlink, Linkname: "busybox"}, nil)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("localhost/umwelt-runner-test:%d", os.Getpid())
	cmd := exec.Command("podman", "import", "-", name)
	cmd.Stdin = &image
	if out, err := cmd.CombinedOutput(); err != nil {
		missing("podman does not work here: " + string(out))
	}
	t.Cleanup(func() { _ = exec.Command("podman", "rmi", "--force", name).Run() })
	return name
}

func TestPodman(t *testing.T) {
	for _, tt := range []struct {
		name    string
		command string
		limits  confine.Limits
		exit    int
		output  string
	}{
		{"status", "exit 7", confine.Limits{}, 7, ""},
		{"bounds", "cat keep/k.txt; echo x > keep/k.txt || echo x > src/lock.txt || cat .env || echo held; echo y > out/f && cat out/f", confine.Limits{}, 0, "content of k.txtheld\ny\n"},
		{"environment", "echo $FIXED $LEFT $SECRET $ALLOWED", confine.Limits{}, 0, "inside allowed\n"},
		{"wall-time", "trap '' TERM; sleep 30; sleep 30", confine.Limits{WallTime: ptr(int64(1500 * time.Millisecond))}, ExitTimeout, ""},
		{"not found", "exec no-such-command", confine.Limits{}, ExitNotFound, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, w := podmanScene(t)
			s.c.System = nil
			s.c.SearchPath = "/bin"
			s.c.Limits = tt.limits
			s.c.Env = []confine.Env{{Name: "ALLOWED"}, {Name: "FIXED", Set: true}, {Name: "LEFT", Set: true}}
			s.environ = []string{"ALLOWED=allowed", "FIXED=outside", "LEFT=outside", "SECRET=s3cret"}
			s.values = map[string]string{"FIXED": "inside"}
			out, stdout, stderr := s.run(w, "sh", "-c", tt.command)
			if out.Error != "" || out.Result.Exit != tt.exit || stdout != tt.output {
				t.Errorf("exit status %d (%s), %q, want %d and %q\n%s", out.Result.Exit, out.Error, stdout, tt.exit, tt.output, stderr)
			}
			containersAreGone(t)
			s.nothingRuns()
		})
	}
}

// An image that is not there is named, with how to get it.
func TestPodmanWithoutImage(t *testing.T) {
	s, w := podmanScene(t)
	s.set = map[string]string{"image": "localhost/umwelt-no-such-image:1"}
	out, _, _ := s.run(w, "true")
	if !strings.HasPrefix(out.Error, "podman cannot be used: the image localhost/umwelt-no-such-image:1 is not to be had") || !strings.Contains(out.Error, "podman pull localhost/umwelt-no-such-image:1") {
		t.Errorf("exit status %d, %q", out.Result.Exit, out.Error)
	}
}

// What the tool holds by itself is not said to be held by anything else.
func TestHeldByTheTool(t *testing.T) {
	l := confine.Limits{Memory: ptr(int64(1)), MaxProcesses: ptr(int64(2)), CPU: ptr(2.0), MaxFDs: ptr(int64(3))}
	for _, h := range held(l, map[string]bool{"memory": true}, "the tool") {
		want, strict := "the tool", false
		switch h.Name {
		case "memory":
			want, strict = "control group", true
		case "max-fds":
			want, strict = "open files of each process", true
		}
		if h.How != want || h.Strict != strict {
			t.Errorf("%+v", h)
		}
	}
}

// A signal ends the container, and the report comes after that.
func TestPodmanIsEnded(t *testing.T) {
	s, w := podmanScene(t)
	s.c.System, s.c.SearchPath = nil, "/bin"
	d := s.start(w, "sh", "-c", "echo up > out/ready; trap 'exit 9' TERM; while :; do sleep 0.1; done")
	s.await("out/ready", "up")
	if err := d.cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	out, err := d.wait()
	if err != nil || out.Result.Exit != 9 {
		t.Errorf("exit status %d (%s) %v\n%s", out.Result.Exit, out.Error, err, d.stderr.String())
	}
	containersAreGone(t)
}

// staticProbe is this test program without need of a loader, as an image may have none.
var staticProbe = sync.OnceValues(func() ([]byte, error) {
	exe, err := os.Executable()
	if err == nil && interpreter(exe) != "" {
		var dir string
		if dir, err = os.MkdirTemp("", "umwelt-probe-"); err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		exe = dir + "/probe"
		build := exec.Command("go", "test", "-c", "-o", exe, ".")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w: %s", err, out)
		}
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(exe)
})

// podmanScene is a scene whose program needs nothing that an image may lack.
func podmanScene(t *testing.T) (*scene, way) {
	t.Helper()
	w := way{target: "podman"}
	s := newScene(t, w)
	s.set = map[string]string{"image": needPodman(t)}
	text, err := staticProbe()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(s.probePath()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.probePath(), text, 0o755); err != nil {
		t.Fatal(err)
	}
	for i, m := range s.c.System {
		if m.Type == "symlink" { // of which containers have none
			s.c.System[i] = confine.Mount{Path: m.Path, Source: "/" + strings.TrimPrefix(m.Source, "/"), Type: "bind", ReadOnly: true}
		}
	}
	return s, w
}

// In a container the same attacks fail as elsewhere, and the same work is done.
func TestPodmanAttacks(t *testing.T) {
	s, w := podmanScene(t)
	// A hidden directory is empty, whoever lists it. The first process is the command itself,
	// and the devices are nodes that the container has of its own.
	attackScene(t, s, w, "list R/secret", "openw /proc/1/mem", "openw /proc/1/oom_score_adj", "samemode /dev/null", "samemode /dev/urandom")
	containersAreGone(t)
}

// The proxy opens the endpoints of the policy in a container too, and nothing else.
func TestPodmanEndpoints(t *testing.T) {
	s, w := podmanScene(t)
	endpointsOf(t, s, w)
	temporary := s.ownTemporary()
	// Nothing of the way by which the listener came out is left, and nothing of it can be
	// replaced.
	results := s.try(w, "list "+meetingPath, "connect "+meetingPath+"/"+meetingName, "write "+meetingPath+"/"+meetingName, "symlink x "+meetingPath+"/"+meetingName,
		"mkfifo "+meetingPath+"/"+meetingName, "rename "+meetingPath+" /old", "remove "+entryPath, "append "+entryPath, "rename "+entryPath+" /old")
	for op, fault := range results {
		if (fault == "") != strings.HasPrefix(op, "list") {
			t.Errorf("%s: %q", op, fault)
		}
	}
	containersAreGone(t)
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("these are left: %v, %v", left, err)
	}
}

// Where the program that starts the command would not fit, no endpoint is opened, and a
// closed network is said to have no filter.
func TestPodmanWithFewProcesses(t *testing.T) {
	s, w := podmanScene(t)
	s.c.Limits.MaxProcesses = ptr(int64(2))
	s.c.Network = confine.Network{Allow: []confine.Endpoint{{Host: "api.example.com"}}}
	if out, _, _ := s.run(w, "true"); !strings.Contains(out.Error, "max-processes leaves no room") {
		t.Errorf("exit status %d, %q", out.Result.Exit, out.Error)
	}
	s.c.Network = confine.Network{}
	out, _, stderr := s.run(w, "true")
	if out.Error != "" || out.Result.Exit != 0 || !strings.Contains(strings.Join(out.Result.Remarks, " "), "no filter of system calls but its own") {
		t.Errorf("exit status %d, %q, %q\n%s", out.Result.Exit, out.Error, out.Result.Remarks, stderr)
	}
	containersAreGone(t)
}

// Where the runner dies, a container that lives on has no network.
func TestPodmanWithoutItsProxy(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "reached") }))
	defer server.Close()
	s, w := podmanScene(t)
	s.ownTemporary()
	s.c.Network = confine.Network{Allow: []confine.Endpoint{{CIDR: "127.0.0.1/32", Port: server.Listener.Addr().(*net.TCPAddr).Port}}}
	ops, err := json.Marshal([]string{"get " + server.URL + "/", "connect " + meetingPath + "/" + meetingName})
	if err != nil {
		t.Fatal(err)
	}
	d := s.start(w, "sh", "-c", `"$0" probe "$1" > out/f; echo once > out/ready; while [ ! -e out/go ]; do sleep 0.1; done; "$0" probe "$1" > out/sub/g; echo twice > out/ready`, s.probePath(), string(ops))
	s.await("out/ready", "once")
	if err := d.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = d.cmd.Wait()
	if err := os.WriteFile(s.root+"/out/go", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	s.await("out/ready", "twice")
	for file, want := range map[string]bool{"f": true, "sub/g": false} {
		text, err := os.ReadFile(s.root + "/out/" + file)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		for op, fault := range got {
			if (fault == "") != (want && strings.HasPrefix(op, "get")) {
				t.Errorf("%s, with a runner %v: %q", op, want, fault)
			}
		}
	}
	s.removeContainers()
}

// ownTemporary gives the runner a temporary directory of its own.
func (s *scene) ownTemporary() string {
	s.t.Helper()
	dir := s.dir + "/temporary"
	if err := os.Mkdir(dir, 0o755); err != nil {
		s.t.Fatal(err)
	}
	s.environ = append(s.environ, "TMPDIR="+dir)
	return dir
}

// removeContainers removes what a killed runner left of this scene.
func (s *scene) removeContainers() {
	t := s.t
	t.Helper()
	out, err := exec.Command("podman", "ps", "--all", "--format", "{{.Names}}").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.FieldsSeq(string(out)) {
		mounts, _ := exec.Command("podman", "inspect", "--format", "{{range .Mounts}}{{.Source}} {{end}}", name).Output()
		if strings.Contains(string(mounts), s.root) {
			_ = exec.Command("podman", "rm", "--force", "--time", "0", name).Run()
		}
	}
}

// containersAreGone waits a little, since the tool removes a container after its end.
func containersAreGone(t *testing.T) {
	t.Helper()
	var left []string
	for range 100 {
		out, err := exec.Command("podman", "ps", "--all", "--format", "{{.Names}}").Output()
		if err != nil {
			t.Fatal(err)
		}
		left = nil
		for _, name := range strings.Fields(string(out)) {
			if strings.HasPrefix(name, "umwelt-") {
				left = append(left, name)
			}
		}
		if left == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("containers are left: %v", left)
}

func ptr[T any](v T) *T { return &v }
