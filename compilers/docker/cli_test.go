package docker

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/compilers/confine/confinetest"
)

// created is what docker asks its daemon to make.
type created struct {
	Image, User, WorkingDir string
	Cmd, Entrypoint, Env    []string
	HostConfig              struct {
		NetworkMode                  string
		ReadonlyRootfs, AutoRemove   bool
		CapDrop, SecurityOpt         []string
		Memory, MemorySwap, NanoCpus int64
		ShmSize                      int64
		PidsLimit                    *int64
		Ulimits                      []struct {
			Name       string
			Soft, Hard int64
		}
		Tmpfs     map[string]string
		LogConfig struct{ Type string }
		Mounts    []struct {
			Type, Source, Target string
			ReadOnly             bool
			BindOptions          *struct{ NonRecursive bool }
			TmpfsOptions         *struct {
				SizeBytes int64
				Mode      os.FileMode
			}
		}
	}
}

// daemon is a socket on which something answers like docker's daemon until it is asked to
// make a container, and then hands over what it was asked.
func daemon(t *testing.T) (host string, asked <-chan created) {
	t.Helper()
	dir, err := os.MkdirTemp("", "docker") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	out := make(chan created, 1)
	s := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", "1.41")
		switch {
		case strings.HasSuffix(r.URL.Path, "/_ping"):
			io.WriteString(w, "OK")
		case strings.HasSuffix(r.URL.Path, "/containers/create"):
			var c created
			if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
				t.Error(err)
			}
			out <- c
			w.WriteHeader(http.StatusTeapot)
			io.WriteString(w, `{"message":"seen"}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			io.WriteString(w, `{"message":"not here"}`)
		}
	})}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	return "unix://" + path, out
}

func needDocker(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("docker"); err != nil {
		if os.Getenv("UMWELT_REQUIRE_TOOLS") == "1" {
			t.Fatal("missing tool: docker (apt-get install docker.io)")
		}
		t.Skip("missing tool: docker (apt-get install docker.io)")
	}
}

// Docker's own command line reads every word as it was meant.
func TestDockerReadsTheArgumentsForReal(t *testing.T) {
	needDocker(t)
	n := func(n int64) *int64 { return &n }
	cpu := 1.5
	c := &confine.Confinement{
		Root: "/srv/pro\"ject[1]\t'}", SearchPath: "/bin:$(id)'", Plan: []confine.Entry{{Path: ".", Mode: confine.ReadOnly, Kind: confine.Dir}},
		System: []confine.Mount{{Path: "/usr", Source: "/usr", Type: "bind", ReadOnly: true}, {Path: "/var/a,b", Type: "tmpfs", Size: 5 << 20}, {Path: "/var/c:d", Type: "tmpfs"}},
		Limits: confine.Limits{Memory: n(1 << 29), CPUTime: n(7e9), MaxFDs: n(64), MaxProcesses: n(32), Tmpfs: n(1 << 20), Disk: n(4096), CPU: &cpu},
		Env:    []confine.Env{{Name: "CI"}, {Name: "ABSENT"}},
	}
	for i, name := range confinetest.Odd {
		if utf8.ValidString(name) {
			c.Plan = append(c.Plan, confine.Entry{Path: name, Mode: []confine.Mode{confine.ReadWrite, confine.Hidden, confine.ReadOnly}[i%3], Kind: []confine.Kind{confine.File, confine.Dir}[i/3%2]})
		}
	}
	out := Tool.Render(c, compilers.Input{Set: map[string]string{"form": "json", "user": "7:8", "image": "some/image:1", "cover": "/var/lib/cover"}})
	if out.Diagnostics.HasErrors() {
		t.Fatal(out.Diagnostics.Err())
	}
	var doc struct{ Argv, Wrapper []string }
	if err := json.Unmarshal(out.Text, &doc); err != nil {
		t.Fatal(err)
	}
	host, asked := daemon(t)
	cmd := exec.Command(doc.Argv[0], append(doc.Argv[1:], "make", "--all", "")...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "DOCKER_HOST=" + host, "DOCKER_API_VERSION=1.41", "CI=true", "SECRET=s3cret"}
	said, _ := cmd.CombinedOutput()
	var got created
	select {
	case got = <-asked:
	default:
		t.Fatalf("docker asked for no container: %s", said)
	}
	h := got.HostConfig
	if got.Image != "some/image:1" || got.User != "7:8" || got.WorkingDir != c.Root || !slices.Equal(got.Cmd, []string{"make", "--all", ""}) || len(got.Entrypoint) > 1 || strings.Join(got.Entrypoint, "") != "" {
		t.Errorf("%+v", got)
	}
	slices.Sort(got.Env)
	// A name alone stands for a variable that is not there.
	if env := slices.DeleteFunc(got.Env, func(v string) bool { return v == "ABSENT" }); !slices.Equal(env, []string{"CI=true", "PATH=/bin:$(id)'"}) {
		t.Errorf("environment %q", got.Env)
	}
	if h.NetworkMode != "none" || !h.ReadonlyRootfs || !h.AutoRemove || !slices.Equal(h.CapDrop, []string{"ALL"}) || !slices.Equal(h.SecurityOpt, []string{"no-new-privileges"}) || h.LogConfig.Type != "none" {
		t.Errorf("%+v", h)
	}
	if h.Memory != 1<<29 || h.MemorySwap != 1<<29 || h.NanoCpus != 1.5e9 || h.PidsLimit == nil || *h.PidsLimit != 32 || h.ShmSize != 1<<20 || len(h.Ulimits) != 3 {
		t.Errorf("limits %+v", h)
	}
	if h.Tmpfs["/tmp"] != "exec,size=1048576,mode=1777" || h.Tmpfs["/var/a,b"] != "exec,size=1048576,mode=1777" || len(h.Tmpfs) != 2 {
		t.Errorf("temporary directories %q", h.Tmpfs)
	}
	type mount struct {
		kind, source string
		readOnly     bool
	}
	mounts := map[string]mount{}
	for _, m := range h.Mounts {
		mounts[m.Target] = mount{m.Type, m.Source, m.ReadOnly}
		if m.Type == "bind" && m.ReadOnly && (m.BindOptions == nil || !m.BindOptions.NonRecursive) {
			t.Errorf("%q brings what is mounted below", m.Target)
		}
		if m.Type == "tmpfs" && m.ReadOnly && m.TmpfsOptions.Mode != 0 && m.TmpfsOptions.Mode != 0o555 {
			t.Errorf("%q has mode %o", m.Target, m.TmpfsOptions.Mode)
		}
	}
	seen := 0
	for _, s := range c.Layout(c.Root) {
		want := mount{"bind", s.Source, s.ReadOnly}
		switch {
		case s.Kind == confine.Cover:
			want.source = "/var/lib/cover"
		case s.Kind == confine.Tmpfs && s.ReadOnly, s.Kind == confine.Tmpfs && strings.Contains(s.Path, ":"):
			want = mount{"tmpfs", "", s.ReadOnly}
		case s.Kind != confine.Bind:
			continue
		}
		seen++
		if mounts[s.Path] != want {
			t.Errorf("%q is %+v, want %+v", s.Path, mounts[s.Path], want)
		}
	}
	if seen != len(mounts) || seen < 30 {
		t.Errorf("%d mounts, want %d", len(mounts), seen)
	}
}
