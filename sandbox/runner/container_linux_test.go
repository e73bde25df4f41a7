//go:build amd64 || arm64

package runner

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
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
	image := needPodman(t)
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
			w := way{target: "podman"}
			s := newScene(t, w)
			s.set = map[string]string{"image": image}
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

// A signal ends the container, and the report comes after that.
func TestPodmanIsEnded(t *testing.T) {
	image := needPodman(t)
	w := way{target: "podman"}
	s := newScene(t, w)
	s.set = map[string]string{"image": image}
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
