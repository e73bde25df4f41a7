package verify

import (
	"crypto/rand"
	"errors"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"umwelt/cascade"
	"umwelt/compilers/confine"
	"umwelt/diag"
	"umwelt/sandbox/verify/probe"
)

// outside are the checks on what is no file of the project: what lies around it, and the
// world's own mounts.
func (v *verifier) outside(c *confine.Confinement) ([]check, error) {
	// Something beside the project, to be reached past it.
	secret := filepath.Join(v.dir, "outside")
	if err := os.WriteFile(secret, []byte("beside the project\n"), 0o644); err != nil {
		return nil, err
	}
	reached := false
	for _, m := range c.System {
		reached = reached || m.Type == "bind" && (m.Source == v.dir || strings.HasPrefix(v.dir, strings.TrimSuffix(m.Source, "/")+"/"))
	}
	var out []check
	if !reached {
		out = append(out, check{op: probe.Op{Do: "read", Path: []byte(secret)}, want: deny, path: secret, policy: "it lies outside of the project", content: probe.Digest([]byte("beside the project\n"))})
		out = append(out, check{op: probe.Op{Do: "write", Path: []byte(secret)}, want: deny, path: secret, policy: "it lies outside of the project"})
	}
	out = append(out, check{op: probe.Op{Do: "create", Path: []byte("/" + fresh)}, want: deny, path: "/" + fresh, policy: "it lies outside of the project"})
	for _, m := range c.System {
		info, err := os.Stat(m.Source)
		directory := err == nil && info.IsDir()
		at := m.Path + "/" + fresh
		switch {
		case m.Type == "bind" && m.ReadOnly && directory:
			out = append(out, check{op: probe.Op{Do: "create", Path: []byte(at)}, want: deny, path: at, policy: "the mount is read-only"})
		case m.Type == "bind" && m.ReadOnly && err == nil && info.Mode().IsRegular():
			out = append(out, check{op: probe.Op{Do: "write", Path: []byte(m.Path)}, want: deny, path: m.Path, policy: "the mount is read-only"})
		case m.Type == "tmpfs" && m.ReadOnly:
			out = append(out, check{op: probe.Op{Do: "create", Path: []byte(at)}, want: deny, path: at, policy: "the mount is read-only"})
		}
	}
	return out, nil
}

// tryEnvironment compares the variables inside with the policy.
func (v *verifier) tryEnvironment(s *session, res *cascade.Resolution, t *tally) error {
	results, err := s.ask([]probe.Op{{Do: "environ"}})
	if err != nil {
		return err
	}
	inside := map[string]string{}
	for _, l := range results[0].List {
		name, value, _ := strings.Cut(string(l), "=")
		inside[name] = value
	}
	given := map[string]string{}
	for _, l := range v.environ {
		name, value, _ := strings.Cut(l, "=")
		given[name] = value
	}
	lowered := v.lowered()
	variables := map[string]variable{canary: {}}
	names := []string{canary}
	w := res.World()
	env := typeOf(w.Registry, "env")
	for i := range w.Entities {
		e := &w.Entities[i]
		if e.Type != env {
			continue
		}
		name, ok := e.Attr("name")
		if !ok {
			name = e.ID
		}
		allow := res.Get(i, env.Property("allow"))
		it := variable{passes: allow.Value.Bool(), set: res.Get(i, env.Property("value")).Value != nil}
		if allow.Winner != nil {
			it.by = confine.Source{Rule: allow.Winner.Rule, Declaration: allow.Winner.Declaration}
		}
		// Of two entities with one name, the more restrictive one is not the one that counts.
		if have := variables[name]; !have.passes || it.passes && it.set {
			variables[name] = it
		}
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		t.count("environ")
		t.report.Variables++
		value, is := inside[name]
		it := variables[name]
		host, has := given[name]
		want := host
		if it.set {
			want, has = v.values[name], true
		}
		f := Finding{Do: "environ", Path: name, Policy: "it does not pass"}
		if it.passes {
			f.Policy = "it passes, by " + it.by.String()
		}
		switch {
		case ownVariable[name]:
		case !it.passes && is && value == host:
			f.Got = "it is there"
			t.find(true, f)
		case it.passes && it.set && is && value != want:
			f.Got = "it does not have the value that the policy fixes"
			t.find(value == host, f)
		case it.passes && has && (!is || value != want) && !lowered(it.by):
			f.Got = "it is not there as it was given"
			t.find(false, f)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(inside)) {
		if _, known := variables[name]; !known && !ownVariable[name] && given[name] != "" && inside[name] == given[name] {
			t.find(true, Finding{Do: "environ", Path: name, Policy: "no rule lets it pass", Got: "it is there"})
		}
	}
	return nil
}

// variable is what the rules say of one.
type variable struct {
	passes, set bool
	by          confine.Source
}

// canary is a variable that no policy knows.
const canary = "UMWELT_VERIFY_CANARY"

// ownVariable are those that a sandbox sets by itself, so that they may have a value of its
// own, or by chance that of the host.
var ownVariable = map[string]bool{"PATH": true, "PWD": true, "HOME": true, "HOSTNAME": true, "TERM": true, "TMPDIR": true, "container": true, "SHLVL": true}

// withMarkers is the caller's environment with a value for every variable that the world
// has, so that each can be seen to pass or not.
func withMarkers(environ []string, res *cascade.Resolution) []string {
	out := append(slices.Clone(environ), canary+"="+rand.Text())
	given := map[string]bool{}
	for _, l := range environ {
		name, _, _ := strings.Cut(l, "=")
		given[name] = true
	}
	w := res.World()
	for i := range w.Entities {
		e := &w.Entities[i]
		if e.Type != typeOf(w.Registry, "env") {
			continue
		}
		name, ok := e.Attr("name")
		if !ok {
			name = e.ID
		}
		if name != "" && !given[name] && !strings.ContainsAny(name, "=\x00") && !strings.HasPrefix(name, "LD_") {
			given[name] = true
			out = append(out, name+"="+rand.Text())
		}
	}
	return out
}

// listeners are servers of this process that a sandbox is to reach, or not.
type listeners struct {
	tcp, tcp6 net.Listener
	udp       net.PacketConn
	abstract  net.Listener
	path      net.Listener
	at        string // of the one with a path
	ports     map[int]net.Listener
}

// listen starts the servers. Ports are those that the policy opens; where one is taken, it
// is left out.
func (v *verifier) listen(ports []int) (*listeners, error) {
	l := &listeners{ports: map[int]net.Listener{}, at: filepath.Join(v.dir, "socket")}
	var err error
	if l.tcp, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	if l.udp, err = net.ListenPacket("udp", "127.0.0.1:0"); err != nil {
		return nil, errors.Join(err, l.tcp.Close())
	}
	l.tcp6, _ = net.Listen("tcp", "[::1]:0") // a host may have no such loopback
	l.abstract, _ = net.Listen("unix", "@umwelt-verify-"+rand.Text())
	l.path, _ = net.Listen("unix", l.at)
	for _, p := range ports {
		if other, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(p))); err == nil {
			l.ports[p] = other
		}
	}
	for _, s := range l.streams() {
		go greet(s)
	}
	go func() {
		b := make([]byte, 64)
		for {
			_, from, err := l.udp.ReadFrom(b)
			if err != nil {
				return
			}
			_, _ = l.udp.WriteTo([]byte(probe.Greeting), from)
		}
	}()
	return l, nil
}

func (l *listeners) streams() []net.Listener {
	var out []net.Listener
	for _, s := range []net.Listener{l.tcp, l.tcp6, l.abstract, l.path} {
		if s != nil {
			out = append(out, s)
		}
	}
	for _, s := range l.ports {
		out = append(out, s)
	}
	return out
}

func greet(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_ = c.SetDeadline(time.Now().Add(time.Second))
		_, _ = c.Write([]byte(probe.Greeting))
		c.Close()
	}
}

func (l *listeners) close() {
	for _, s := range l.streams() {
		s.Close()
	}
	l.udp.Close()
}

// network are the checks on what may be reached.
func (v *verifier) network(c *confine.Confinement) ([]check, *listeners, error) {
	var ports []int
	for _, e := range c.Network.Allow {
		if e.Port > 0 && (portAlone(e) || holdsLoopback(e)) && !slices.Contains(ports, e.Port) {
			ports = append(ports, e.Port)
		}
	}
	slices.Sort(ports)
	l, err := v.listen(ports)
	if err != nil {
		return nil, nil, err
	}
	var out []check
	add := func(want expect, do, at, path, policy string) {
		out = append(out, check{op: probe.Op{Do: do, Path: []byte(at)}, want: want, path: path, policy: policy})
	}
	open, _ := c.Network.AllOrNothing()
	whole, policy := deny, "the network is closed"
	switch {
	case open && v.target.open:
		whole, policy = allow, "the network is open"
	case c.Network.Open:
		// All but some hosts, or a network of the sandbox's own with its own loopback.
		whole, policy = either, "the network is open"
	}
	add(whole, "tcp", l.tcp.Addr().String(), "127.0.0.1", policy)
	add(whole, "udp", l.udp.LocalAddr().String(), "127.0.0.1", policy)
	if l.tcp6 != nil {
		add(whole, "tcp", l.tcp6.Addr().String(), "::1", policy)
	}
	if whole == deny && l.abstract != nil {
		add(deny, "unix", l.abstract.Addr().String(), "an abstract socket", policy)
	}
	if l.path != nil {
		add(deny, "unix", l.at, "a socket beside the project", "it lies outside of the project")
	}
	// Where anything else is open too, a proxy stands for single ports.
	alone := v.target.ports && len(c.Network.Deny) == 0 && !slices.ContainsFunc(c.Network.Allow, func(e confine.Endpoint) bool { return !portAlone(e) })
	reached := []net.Listener{l.tcp}
	for _, p := range ports {
		other := l.ports[p]
		if other == nil || c.Network.Open {
			continue
		}
		reached = append(reached, other)
		want, policy := deny, "only the proxy leads there"
		if slices.ContainsFunc(c.Network.Allow, func(e confine.Endpoint) bool { return e.Port == p && portAlone(e) }) {
			if want, policy = either, "the port is open"; alone {
				want = allow
			}
		}
		add(want, "tcp", other.Addr().String(), "port "+strconv.Itoa(p), policy)
	}
	if !c.Network.Open {
		for _, s := range reached {
			want, policy := v.byProxy(c, s.Addr().(*net.TCPAddr).Port)
			add(want, "proxy", s.Addr().String(), s.Addr().String()+" through the proxy", policy)
		}
	}
	return out, l, nil
}

// byProxy is what a tunnel to this machine's loopback has to come to. It is reached only
// where a range, or an address, says so.
func (v *verifier) byProxy(c *confine.Confinement, port int) (expect, string) {
	lowered := v.lowered()
	want, policy := deny, "no range that is allowed holds the address"
	for _, e := range c.Network.Allow {
		switch {
		case !holdsLoopback(e) || e.Port != 0 && e.Port != port:
		case want == allow:
		case len(e.Less) == 0 && len(c.Network.Deny) == 0 && anyBytes(e) && (e.CIDR == "" || e.Host == "") && !lowered(e.By):
			want, policy = allow, "it is open, by "+e.By.String()
		default:
			want, policy = either, "it is open in part, by "+e.By.String()
		}
	}
	return want, policy
}

// portAlone reports whether an endpoint is a port of any host, and nothing less.
func portAlone(e confine.Endpoint) bool {
	return e.Port > 0 && e.Host == "" && e.CIDR == "" && anyBytes(e) && len(e.Less) == 0
}

// anyBytes reports whether an endpoint takes any bytes over TCP.
func anyBytes(e confine.Endpoint) bool {
	return e.Protocol == "" || strings.EqualFold(e.Protocol, "tcp")
}

// holdsLoopback reports whether an endpoint speaks of this machine's loopback by its address.
func holdsLoopback(e confine.Endpoint) bool {
	at := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	if host, err := netip.ParseAddr(e.Host); err == nil && host == at {
		return true
	}
	if host, err := netip.ParseAddr(e.CIDR); err == nil && host == at {
		return true
	}
	r, err := netip.ParsePrefix(e.CIDR)
	return err == nil && r.Contains(at)
}

// lowered reports whether the target has declared that it carries a declaration in part or
// not at all.
func (v *verifier) lowered() func(confine.Source) bool {
	return func(by confine.Source) bool {
		for _, r := range v.report.Coverage.Rules {
			for _, d := range r.Declarations {
				if by.Declaration != nil && d.Declaration == by.Declaration && d.Level < enforced {
					return true
				}
			}
		}
		return false
	}
}

func display(path string) string { return diag.Quote(path) }
