//go:build linux && (amd64 || arm64)

package verify

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"umwelt/compilers/confine"
	"umwelt/compilers/confine/confinetest"
	"umwelt/compilers/landlock"
)

func node(name string, k confine.Kind, children ...*confine.Node) *confine.Node {
	return &confine.Node{Name: name, Kind: k, Children: children}
}

// sample is a project with something of every kind.
func sample() *confine.Node {
	return node("", confine.Dir,
		node(".env", confine.File),
		node("docs", confine.Dir, node("a.md", confine.File), &confine.Node{Name: "link", Kind: confine.Symlink, Target: "a.md"}),
		node("keys", confine.Dir, node("private.pem", confine.File), node("public", confine.Dir, node("a.pub", confine.File))),
		node("src", confine.Dir, node("a.py", confine.File), node("deep", confine.Dir, node("lock", confine.File)), node("key.pem", confine.File), node("pipe", confine.Special)))
}

const sampleView = `file { visible: true }
file[path^="src/"] { editable: true }
file[path^="keys/"] { visible: false }
file[path^="keys/public/"] { visible: true }
file[path=".env"], file[path="src/key.pem"] { visible: false }
file[path="src/deep/lock"] { editable: false }
env[name="CI"] { allow: true }
`

const sampleWorld = discovered + "env: [CI, TOKEN]\n"

// changed is a deep copy of a tree with the mode of one path changed.
func changed(n *confine.Node, at, path string, mode confine.Mode) *confine.Node {
	c := *n
	if at == path {
		c.Mode = mode
	}
	c.Children = nil
	for _, child := range n.Children {
		c.Children = append(c.Children, changed(child, confinetest.Join(at, child.Name), path, mode))
	}
	return &c
}

// A sandbox that is wrong in one place is found out, whichever place that is and in which
// direction it is wrong.
func TestWrongSandboxesAreFound(t *testing.T) {
	root := filepath.Join(t.TempDir(), "project")
	plant(t, root, sample())
	for _, name := range []string{"bwrap", "landlock", "podman"} {
		t.Run(name, func(t *testing.T) {
			need(t, name)
			r, err := verifyView(t, name, sampleView, sampleWorld, root, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if well(t, r); r.Probes < 200 || r.Paths != 15 || r.Of != 15 {
				t.Errorf("%d probes of %d of %d paths", r.Probes, r.Paths, r.Of)
			}
			paths := []string{".", ".env", "docs/a.md", "keys", "keys/private.pem", "keys/public", "src", "src/a.py", "src/deep/lock", "src/key.pem"}
			if name == "podman" && os.Getenv("UMWELT_VERIFY_CASES") == "" {
				paths = []string{"src/key.pem"} // a container takes its time
			}
			for _, path := range paths {
				for _, mode := range []confine.Mode{confine.Hidden, confine.ReadOnly, confine.ReadWrite} {
					var was confine.Mode
					same := false
					tamper := func(c *confine.Confinement) {
						confinetest.Walk(c.Tree, func(at string, n *confine.Node) {
							if at == path {
								was = n.Mode
							}
						})
						before, _ := landlock.Rules(c)
						c.Tree = changed(c.Tree, ".", path, mode)
						after, _ := landlock.Rules(c)
						// What can only allow may have nothing to say about a difference.
						same = name == "landlock" && bytes.Equal(before.JSON(), after.JSON())
						c.Plan, _ = confine.Plan(changed(c.Tree, ".", "", 0))
					}
					r, err := verifyView(t, name, sampleView, sampleWorld, root, nil, tamper)
					switch {
					case err != nil:
						t.Errorf("%s as %s: %v", path, mode, err)
					case mode > was && !same && len(r.FalseAllows) == 0:
						t.Errorf("%s as %s in place of %s is no false allow", path, mode, was)
					case mode < was && !same && len(r.FalseDenies) == 0:
						t.Errorf("%s as %s in place of %s is no false deny", path, mode, was)
					case mode == was || same:
						well(t, r)
					}
				}
			}
		})
	}
}

func TestWrongEnvironmentAndNetworkAreFound(t *testing.T) {
	root := filepath.Join(t.TempDir(), "project")
	plant(t, root, sample())
	for _, name := range []string{"bwrap", "landlock", "podman"} {
		need(t, name)
		for _, tt := range []struct {
			what   string
			tamper func(*confine.Confinement)
			allow  bool
			do     string
			only   string // the one target that shows it
		}{
			{"a variable that passes", func(c *confine.Confinement) { c.Env = append(c.Env, confine.Env{Name: "TOKEN"}) }, true, "environ", ""},
			{"an unknown variable that passes", func(c *confine.Confinement) { c.Env = append(c.Env, confine.Env{Name: "UMWELT_TEST_SECRET"}) }, true, "environ", ""},
			{"a variable that does not pass", func(c *confine.Confinement) { c.Env = nil }, false, "environ", ""},
			{"an endpoint that is open", func(c *confine.Confinement) {
				c.Network.Allow = append(c.Network.Allow, confine.Endpoint{CIDR: "127.0.0.0/8"})
			}, true, "proxy", "bwrap"},
			{"an open network", func(c *confine.Confinement) { c.Network.Open = true }, true, "tcp", "bwrap"},
			{"a view of what lies beside", func(c *confine.Confinement) {
				dir := filepath.Dir(c.Root)
				c.System = append(c.System, confine.Mount{Path: dir, Source: dir, Type: "bind"})
			}, true, "read", "bwrap"},
		} {
			if tt.only != "" && tt.only != name || name == "podman" && !tt.allow {
				continue
			}
			r, err := verifyView(t, name, sampleView, sampleWorld, root, nil, tt.tamper)
			if err != nil {
				t.Errorf("%s, %s: %v", name, tt.what, err)
				continue
			}
			list := r.FalseDenies
			if tt.allow {
				list = r.FalseAllows
			}
			if !slices.ContainsFunc(list, func(f Finding) bool { return f.Do == tt.do }) {
				t.Errorf("%s: %s was not found", name, tt.what)
			}
			if text := fmt.Sprint(r); strings.Contains(text, "s3cret") {
				t.Errorf("the report holds a value: %s", text)
			}
		}
	}
}

// An endpoint that the policy opens is reached through the proxy, and missed where it is not.
func TestEndpoints(t *testing.T) {
	root := filepath.Join(t.TempDir(), "project")
	plant(t, root, sample())
	for _, name := range []string{"bwrap", "landlock", "podman"} {
		t.Run(name, func(t *testing.T) {
			need(t, name)
			if name == "podman" {
				needStatic(t)
			}
			v := proxiedView()
			r, err := verifyView(t, name, v, proxiedWorld, root, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if well(t, r); !slices.Contains(r.Kinds, Count{"proxy", 2}) {
				t.Errorf("%+v", r.Kinds)
			}
			r, err = verifyView(t, name, v, proxiedWorld, root, nil, func(c *confine.Confinement) { c.Network.Allow = c.Network.Allow[1:] })
			if err != nil || !slices.ContainsFunc(r.FalseDenies, func(f Finding) bool { return f.Do == "proxy" }) {
				t.Errorf("the endpoint that is missing was not found: %+v, %v", r, err)
			}
		})
	}
}

// needStatic skips, or fails where tools are required, where a container could not run this
// program.
func needStatic(t *testing.T) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if needsLoader(exe) {
		if os.Getenv("UMWELT_REQUIRE_TOOLS") == "1" {
			t.Fatal("this program is not static: set CGO_ENABLED=0")
		}
		t.Skip("missing: this program is not static; set CGO_ENABLED=0")
	}
}

const proxiedWorld = sampleWorld + `entities:
  - { type: network, id: here, attributes: { cidr: "127.0.0.1/32", port: "39471" } }
  - { type: network, id: there, attributes: { host: "api.github.com", protocol: "https" } }
`

// proxiedView opens a range of addresses that holds this machine, at one port.
func proxiedView() string {
	return sampleView + `network[cidr="127.0.0.1/32"][port="39471"] { allow: true }
network[host="api.github.com"][protocol="https"] { allow: true }
`
}

// Every limit that a target says it enforces is held, and less than it works.
func TestLimits(t *testing.T) {
	root := filepath.Join(t.TempDir(), "project")
	plant(t, root, sample())
	view := sampleView + `resource { memory: 1GB; wall-time: 30m; cpu-time: 10m; max-fds: 100; max-processes: 64; tmpfs: 4MB; disk: 2MB; cpu: 1 }`
	for _, name := range []string{"bwrap", "landlock", "podman"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			need(t, name)
			r, err := verifyView(t, name, view, sampleWorld, root, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if well(t, r); r.Limits != 7 {
				t.Errorf("%d limits", r.Limits)
			}
			t.Log(strings.Join(r.Remarks, "\n"))
		})
	}
}

// The same seed gives the same sample, and another one another.
func TestSample(t *testing.T) {
	var places []*place
	for i := range 1000 {
		places = append(places, &place{path: fmt.Sprint(i)})
	}
	choose := func(n int, seed uint64) string {
		v := &verifier{Options: Options{Sample: n, Seed: seed}}
		var names []string
		for _, p := range v.choose(places) {
			names = append(names, p.path)
		}
		return strings.Join(names, " ")
	}
	first, again, other := choose(10, 1), choose(10, 1), choose(10, 2)
	if first != again || first == other || len(strings.Fields(first)) != 10 || len(strings.Fields(choose(0, 1))) != 1000 {
		t.Errorf("%s; %s; %s", first, again, other)
	}
}
