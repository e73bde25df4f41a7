package confine_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"umwelt/cascade"
	. "umwelt/compilers/confine"
	"umwelt/compilers/confine/confinetest"
)

func from(t *testing.T, view, world string, context ...cascade.Ref) *Confinement {
	t.Helper()
	c, problems := From(confinetest.Resolve(t, view, world, "/project", context...))
	if problems.HasErrors() {
		t.Fatal(problems.Err())
	}
	return c
}

func whys(c *Confinement) []string {
	var out []string
	for _, n := range c.Notes {
		out = append(out, n.Why)
	}
	return out
}

// endpoints makes a world file of network endpoints.
func endpoints(lines ...string) string {
	s := "name: w\nentities:\n"
	for _, l := range lines {
		s += "  - { type: network, " + l + " }\n"
	}
	return s
}

func TestNetwork(t *testing.T) {
	world := endpoints(
		"id: network",
		"id: api.example.com, attributes: { host: api.example.com, port: 443, protocol: tcp }",
		"id: lan, attributes: { cidr: 10.0.0.0/8 }",
		"id: evil, attributes: { host: evil.example.org }")
	for _, tt := range []struct{ name, view, want string }{
		{"no rule", ``, "closed [] []"},
		{"everything", `network { allow: true }`, "open [api.example.com:443/tcp lan10.0.0.0/8 evil.example.org] []"},
		{"one endpoint", `network[host="api.example.com"] { allow: true }`, "closed [api.example.com:443/tcp] []"},
		{"a range", `network[cidr="10.0.0.0/8"] { allow: true }`, "closed [lan10.0.0.0/8] []"},
		{"the default said aloud", `network { deny: "*" } network[host="api.example.com"] { allow: true }`, "closed [api.example.com:443/tcp] []"},
		{"a deny of equal precedence beats", `network { deny: "*" } network { allow: true }`, "closed [] []"},
		{"and in either order", `network { allow: true } network { deny: "*" }`, "closed [] []"},
		{"an important allow stands above", `network { deny: "*" } network[host="api.example.com"] { allow: true !important }`, "closed [api.example.com:443/tcp] []"},
		{"an important deny stands above", `network { deny: "*" !important } network[host="api.example.com"] { allow: true }`, "closed [] []"},
		{"a pattern takes one out", `network { allow: true; deny: "evil.*" }`, "open [api.example.com:443/tcp lan10.0.0.0/8] [evil.*]"},
		{"a range in a range", `network[cidr="10.0.0.0/8"] { allow: true; deny: "10.1.0.0/16" }`, "closed [lan10.0.0.0/8] [10.1.0.0/16]"},
		{"a range around a range", `network[cidr="10.0.0.0/8"] { allow: true; deny: "8.0.0.0/6" }`, "closed [] []"},
		{"another range", `network[cidr="10.0.0.0/8"] { allow: true; deny: "192.168.0.0/16" }`, "closed [lan10.0.0.0/8] [192.168.0.0/16]"},
		{"a broken pattern takes everything", `network[host="api.example.com"] { allow: true; deny: "[" }`, "closed [] []"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := from(t, tt.view, world).Network
			var ends []string
			for _, e := range n.Allow {
				s := e.Host
				if e.CIDR != "" {
					s = "lan" + e.CIDR
				}
				if e.Port != 0 {
					s += fmt.Sprintf(":%d/%s", e.Port, e.Protocol)
				}
				if e.By.Declaration == nil {
					t.Errorf("nobody allowed %s", s)
				}
				ends = append(ends, s)
			}
			got := fmt.Sprintf("%s %v %v", map[bool]string{true: "open", false: "closed"}[n.Open], ends, n.Deny)
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	t.Run("the world's own word is above every rule", func(t *testing.T) {
		n := from(t, `network { allow: true !important } network[host="api.example.com"] { allow: true !important }`, world+"fixed:\n  network: { deny: \"*\" }\n").Network
		if n.Open || len(n.Allow) > 0 {
			t.Errorf("open %v, allowed %v", n.Open, n.Allow)
		}
	})
}

// TestDeniedEndpoints are endpoints that may not be reached, beside others that may: they
// are taken out of what holds them, and what holds them is closed to targets that cannot
// take anything out.
func TestDeniedEndpoints(t *testing.T) {
	for _, tt := range []struct{ name, view, fixed, want string }{
		{"in the open network", `network { allow: true } network[host="evil.com"] { allow: false }`, "", "open-[evil.com]"},
		{"a range in the open network", `network { allow: true } network[cidr="10.1.0.0/16"] { allow: false }`, "", "open-[10.1.0.0/16]"},
		{"a range in a range", `network[cidr="10.0.0.0/8"] { allow: true } network[cidr="10.1.0.0/16"] { allow: false }`, "", "10.0.0.0/8-[10.1.0.0/16]"},
		{"an address in a range", `network[cidr="10.0.0.0/8"] { allow: true } network[host="10.1.2.3"] { allow: false }`, "", "10.0.0.0/8-[10.1.2.3]"},
		{"a host on an open port", `network[port="443"] { allow: true } network[host="evil.com"][port="443"] { allow: false }`, "", ":443-[evil.com:443]"},
		{"a host across an open port", `network[port="443"] { allow: true } network[host="evil.com"] { allow: false }`, "", ":443-[evil.com]"},
		{"another port", `network[port="443"] { allow: true } network[host="evil.com"][port="80"] { allow: false }`, "", ":443"},
		{"another transport", `network[port="443"][protocol="udp"] { allow: true } network[port="443"][protocol="https"] { allow: false }`, "", ":443"},
		{"a name below a wildcard", `network[host="*.a.com"] { allow: true } network[host="x.a.com"] { allow: false }`, "", "*.a.com-[x.a.com]"},
		{"a name elsewhere", `network[host="*.a.com"] { allow: true } network[host="x.b.com"] { allow: false }`, "", "*.a.com"},
		{"a name that may lie in a range", `network[cidr="10.0.0.0/8"] { allow: true } network[host="evil.com"] { allow: false }`, "", "10.0.0.0/8-[evil.com]"},
		{"no rule denies it", `network#network { allow: true } network[host="evil.com"] { deny: "other.com" }`, "", "open"},
		{"an allowed one in a denied one", `network[cidr="10.0.0.0/8"] { allow: false } network[cidr="10.1.0.0/16"] { allow: true }`, "", "10.1.0.0/16"},
		{"and that in the open network", `network { allow: true } network[cidr="10.0.0.0/8"] { allow: false } network[cidr="10.1.0.0/16"] { allow: true }`, "", "open-[10.0.0.0/8] 10.1.0.0/16"},
		{"a denied one of higher precedence", `network[cidr="10.0.0.0/8"] { allow: false !important } network[cidr="10.1.0.0/16"] { allow: true }`, "", ""},
		{"the same one under two names", `network[host="evil.com"] { allow: true } network[host="EVIL.com."] { allow: false }`, "", ""},
		{"the same one in two writings", `network[host="bücher.example"] { allow: true } network[host="xn--bcher-kva.example"] { allow: false }`, "", ""},
		{"the world's own word around it", `network[cidr="10.1.0.0/16"] { allow: true !important }`, `"network[cidr='10.0.0.0/8']": { allow: false }`, ""},
		{"the world's own word in it", `network { allow: true !important }`, `"network[host='evil.com']": { allow: false }`, "open-[evil.com]"},
		{"a pattern on the denied one alone", `network#network { allow: true } network[host="evil.com"] { deny: "*" }`, "", "open-[evil.com]"},
		{"a pattern on the whole alone", `network#network { deny: "10.1.0.0/16" } network[cidr="10.0.0.0/8"] { allow: true }`, "", "10.0.0.0/8 less 10.1.0.0/16"},
		{"stray bits in what is allowed", `network[cidr="10.0.0.5/8"] { allow: true }`, "", ""},
		{"stray bits in what is denied", `network { allow: true } network[cidr="10.1.0.5/16"] { allow: false }`, "", "open-[10.1.0.5/16]"},
		{"what is denied cannot be read", `network { allow: true } network[cidr="all of it"] { allow: false }`, "", ""},
		{"what is allowed cannot be read", `network[host="["] { allow: true }`, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			world := "name: w\n"
			if tt.fixed != "" {
				world += "entities:\n  - { type: network, id: network }\n  - { type: network, id: evil, attributes: { host: evil.com } }\n  - { type: network, id: lan, attributes: { cidr: 10.0.0.0/8 } }\n"
				world += "  - { type: network, id: part, attributes: { cidr: 10.1.0.0/16 } }\nfixed:\n  " + tt.fixed + "\n"
			} else {
				world += namedEndpoints(tt.view)
			}
			c := from(t, tt.view, world)
			var parts []string
			less := func(list []Endpoint) string {
				var out []string
				for _, e := range list {
					if tt.fixed == "" && e.By.Declaration == nil {
						t.Errorf("nobody denied %v", e)
					}
					out = append(out, endpointText(e))
				}
				if out == nil {
					return ""
				}
				return "-[" + strings.Join(out, " ") + "]"
			}
			if c.Network.Open {
				parts = append(parts, "open"+less(c.Network.Less))
			}
			for _, e := range c.Network.Allow {
				if tt.fixed == "" || !c.Network.Open {
					if s := endpointText(e); !c.Network.Open || s == "10.1.0.0/16" {
						parts = append(parts, s+less(e.Less))
					}
				}
			}
			if len(c.Network.Deny) > 0 {
				parts = append(parts, "less "+strings.Join(c.Network.Deny, " "))
			}
			if got := strings.Join(parts, " "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if !c.Network.Open && len(c.Network.Allow) == 0 && len(c.Notes) == 0 {
				t.Error("what stays closed is not said")
			}
			if open, notes := c.Network.AllOrNothing(); open != (tt.want == "open") || !open && tt.want != "" && len(notes) == 0 {
				t.Errorf("all or nothing is %v with the notes %v", open, notes)
			}
		})
	}
}

// namedEndpoints is a world of the endpoints that a view's selectors name.
func namedEndpoints(view string) string {
	s := "entities:\n  - { type: network, id: network }\n"
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`network((?:\[[^\]]*"\])+)`).FindAllStringSubmatch(view, -1) {
		attrs := ""
		for _, a := range regexp.MustCompile(`\[(\w+)="([^"]*)"\]`).FindAllStringSubmatch(m[1], -1) {
			attrs += fmt.Sprintf("%s: %q, ", a[1], a[2])
		}
		if !seen[attrs] {
			seen[attrs] = true
			s += fmt.Sprintf("  - { type: network, id: e%d, attributes: { %s } }\n", len(seen), strings.TrimSuffix(attrs, ", "))
		}
	}
	return s
}

func endpointText(e Endpoint) string {
	s := e.Host + e.CIDR
	if e.Port != 0 {
		s += fmt.Sprintf(":%d", e.Port)
	}
	return s
}

// TestManyEndpoints is refused, since every one would be compared with every other.
func TestManyEndpoints(t *testing.T) {
	world := "name: w\nentities:\n"
	for i := range 6000 {
		world += fmt.Sprintf("  - { type: network, id: e%d, classes: [c%d], attributes: { host: h%d.example } }\n", i, i%2, i)
	}
	_, problems := From(confinetest.Resolve(t, `network.c0 { allow: true } network.c1 { allow: false }`, world, "/project"))
	if !problems.HasErrors() || !strings.Contains(problems.Err().Error(), "too much to compare") {
		t.Errorf("got %v", problems)
	}
}

func TestEnvironment(t *testing.T) {
	const world = "name: w\nenv: [LANG, CI, TOKEN, SECRET, \"A=B\"]\n"
	c := from(t, `env { allow: true } env[name="TOKEN"] { value: "hunter2" } env[name="SECRET"] { allow: false; value: "x" }`, world)
	var got []string
	for _, e := range c.Env {
		got = append(got, fmt.Sprint(e.Name, e.Set))
	}
	if d := cmp.Diff([]string{"CIfalse", "LANGfalse", "TOKENtrue"}, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"no variable can have this name"}, whys(c)); d != "" {
		t.Error(d)
	}
	if c := from(t, ``, world); c.Env != nil {
		t.Errorf("variables pass that no rule allows: %v", c.Env)
	}
}

func TestLimits(t *testing.T) {
	const world = "name: w\nresources: { memory: 2GB }\n"
	l := from(t, `resource { memory: 512MB; max-wall-time: 1m; wall-time: 5m; max-fds: 64; max-max-fds: 128; cpu: 2; max-cpu: 1.5; tmpfs: 1MB } resource { max-memory: 1GB }`, world).Limits
	for name, tt := range map[string]struct {
		got  *int64
		want int64
	}{"memory": {l.Memory, 512 << 20}, "wall-time": {l.WallTime, 60e9}, "max-fds": {l.MaxFDs, 64}, "tmpfs": {l.Tmpfs, 1 << 20}} {
		if tt.got == nil || *tt.got != tt.want {
			t.Errorf("%s is %v, want %d", name, tt.got, tt.want)
		}
	}
	if l.CPU == nil || *l.CPU != 1.5 {
		t.Errorf("cpu is %v", l.CPU)
	}
	if l.Disk != nil || l.MaxProcesses != nil || l.CPUTime != nil {
		t.Error("something is limited that no rule limits")
	}
	if none := from(t, ``, world).Limits; none.Memory != nil {
		t.Error("a fact about the world became a limit")
	}
}

func TestMounts(t *testing.T) {
	mount := func(attrs string) string {
		return "name: w\nentities:\n  - { type: mount, id: m, attributes: { " + attrs + " } }\n"
	}
	for _, tt := range []struct{ name, world, view, want string }{
		{"read-only where nothing is said", mount("path: /data, source: /srv"), ``, "{/data /srv bind true 0}"},
		{"the world says writable", mount("path: /data, source: /srv, readonly: false"), ``, "{/data /srv bind false 0}"},
		{"a rule takes it back", mount("path: /data, source: /srv, readonly: false"), `mount { readonly: true }`, "{/data /srv bind true 0}"},
		{"no rule loosens what the world says", mount("path: /data, source: /srv, readonly: true"), `mount { readonly: false }`, "{/data /srv bind true 0}"},
		{"a rule loosens the default", mount("path: /data, source: /srv"), `mount { readonly: false }`, "{/data /srv bind false 0}"},
		{"no rule reaches for the host", mount("path: /data, source: /srv"), `mount { source: "/etc" }`, "{/data /srv bind true 0}"},
		{"a rule empties it", mount("path: /data, source: /srv, readonly: false"), `mount { type: tmpfs; size: 1MB }`, "{/data  tmpfs false 1048576}"},
		{"an unclean path is made clean", mount("path: /data//etc, source: /srv"), ``, "{/data/etc /srv bind true 0}"},
		{"the smaller size", mount("path: /scratch, type: tmpfs, size: 2MB"), `mount { size: 4MB }`, "{/scratch  tmpfs false 2097152}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := fmt.Sprint(from(t, tt.view, tt.world).System[0]); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	for _, tt := range []struct{ name, attrs, want string }{
		{"relative", "path: data, source: /srv", "is no absolute path"},
		{"the root", "path: /, source: /srv", "is no absolute path"},
		{"a source that climbs", "path: /data, source: /srv/../etc", "has no absolute source"},
		{"no source", "path: /data", "has no absolute source"},
		{"a link without a text", "path: /data, type: symlink", "is a symlink without a text"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := From(confinetest.Resolve(t, ``, mount(tt.attrs), "/project"))
			if err := problems.Err(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestExec(t *testing.T) {
	const world = "name: w\nentities:\n  - { type: exec, id: git, attributes: { name: git, path: /usr/bin/git } }\n  - { type: exec, id: sh, attributes: { name: sh, path: /bin/sh } }\n"
	c := from(t, `exec { search-path: "/usr/bin:/bin" } exec#git { allow: true }`, world)
	if c.SearchPath != "/usr/bin:/bin" || fmt.Sprint(c.Allowed) != "[/usr/bin/git]" {
		t.Errorf("search path %q, allowed %v", c.SearchPath, c.Allowed)
	}
	if c := from(t, ``, world); c.Allowed != nil {
		t.Errorf("allowed %v where no rule speaks", c.Allowed)
	}
}
