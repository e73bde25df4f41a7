//go:build linux && (amd64 || arm64)

package verify

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"umwelt/compilers/confine"
)

// daemon starts docker's daemon for one test, with everything of its own.
func daemon(t *testing.T) {
	t.Helper()
	miss := t.Skip
	if os.Getenv("UMWELT_REQUIRE_TOOLS") == "1" {
		miss = t.Fatal
	}
	for _, tool := range []string{"docker", "dockerd"} {
		if _, err := exec.LookPath(tool); err != nil {
			miss("missing tool: ", tool, " (apt-get install docker.io)")
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("missing tool: only root can start dockerd")
	}
	dir, err := os.MkdirTemp("", "dockerd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	host := "unix://" + filepath.Join(dir, "s")
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command("dockerd", "--bridge", "none", "--iptables=false", "--data-root", filepath.Join(dir, "data"), "--exec-root", filepath.Join(dir, "exec"),
		"--pidfile", filepath.Join(dir, "pid"), "--host", host)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		miss("dockerd cannot be started here: ", err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(unix.SIGTERM)
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
	})
	t.Setenv("DOCKER_HOST", host)
	for range 300 {
		select {
		case <-ended:
			text, _ := os.ReadFile(log.Name())
			miss("dockerd does not run here: ", string(text))
		case <-time.After(100 * time.Millisecond):
		}
		if exec.Command("docker", "info").Run() == nil {
			return
		}
	}
	miss("dockerd does not answer")
}

// Docker does what the view says, and is found out where it does not.
func TestDocker(t *testing.T) {
	daemon(t)
	root := filepath.Join(t.TempDir(), "project")
	plant(t, root, sample())
	r, err := verifyView(t, "docker", sampleView+`resource { memory: 64MB; wall-time: 30m; max-fds: 100; max-processes: 64; tmpfs: 4MB }`, sampleWorld, root, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if well(t, r); r.Probes < 200 || r.Limits != 5 {
		t.Errorf("%d probes, %d limits", r.Probes, r.Limits)
	}
	r, err = verifyView(t, "docker", sampleView, sampleWorld, root, nil, func(c *confine.Confinement) {
		c.Plan = slices.Clone(c.Plan)
		for i, e := range c.Plan {
			if e.Path == "src/key.pem" {
				c.Plan[i].Mode = confine.ReadOnly
			}
		}
	})
	if err != nil || len(r.FalseAllows) == 0 || !strings.HasPrefix(r.FalseAllows[0].Path, "src/key.pem") {
		t.Errorf("%+v, %v", r, err)
	}
	t.Run("endpoints", func(t *testing.T) {
		needStatic(t)
		r, err := verifyView(t, "docker", proxiedView(), proxiedWorld, root, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if well(t, r); !slices.Contains(r.Kinds, Count{"proxy", 2}) {
			t.Errorf("%+v", r.Kinds)
		}
	})
}
