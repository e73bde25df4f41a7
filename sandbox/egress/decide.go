package egress

import (
	"net/netip"
	"slices"
	"strings"
)

// form is how a client asks to be let out.
type form uint8

// The forms.
const (
	tunnel form = iota // CONNECT: bytes that the proxy does not read
	plain              // a request for an http URL
)

// target is one thing that is asked for.
type target struct {
	host Host
	port uint16
	form form
}

func (t target) protocol() string {
	if t.form == plain {
		return "http"
	}
	return "tcp"
}

// parseTarget reads an authority. Only a plain request may leave its port out; IPv6 stands
// in brackets.
func parseTarget(authority string, f form) (target, error) {
	t := target{form: f, port: 80}
	host, hasPort := authority, false
	if i := strings.LastIndexByte(authority, ':'); i > strings.LastIndexByte(authority, ']') {
		var err error
		if t.port, err = parsePort(authority[i+1:]); err != nil {
			return target{}, err
		}
		host, hasPort = authority[:i], true
	}
	if f == tunnel && !hasPort {
		return target{}, errPort
	}
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		return target{}, errAddress
	}
	var err error
	t.host, err = ParseHost(host)
	return t, err
}

// grant is how much may pass to an address, the least first.
type grant uint8

// The grants.
const (
	nothing  grant = iota
	onlyTLS        // a tunnel must begin with TLS for its own name
	anything       // a tunnel may carry anything
)

// grant is what a rule grants where it holds.
func (a *rule) grant() grant {
	if a.protocol == https {
		return onlyTLS
	}
	return anything
}

// The reasons that several places give.
const (
	noRule    = "no rule allows it"
	isDenied  = "a deny pattern takes it"
	isLeftOut = "the endpoint is denied"
	allClosed = "everything is denied"
)

// name decides whether a target may be asked for at all, before any name is resolved. The
// reason is "" where it may. A name that is refused here must never be looked up: a query
// alone can carry data out.
func (r *Rules) name(t target) string {
	if r.closed {
		return allClosed
	}
	if t.host.Addr.IsValid() {
		_, reason := r.address(t, t.host.Addr)
		return reason
	}
	for _, p := range r.deny {
		if p.fits(t.host) {
			return isDenied
		}
	}
	reason := noRule
	for i := range r.allow {
		if a := &r.allow[i]; a.at(t) && a.covers(t.host) {
			if !a.leavesOut(t, nil) {
				return ""
			}
			reason = isLeftOut
		}
	}
	return reason
}

// address decides whether a target may be reached at an address: the literal itself, or
// one that its name resolved to. The reason is "" where it may be reached.
func (r *Rules) address(t target, addr netip.Addr) (g grant, reason string) {
	if r.closed {
		return nothing, allClosed
	}
	if addr.Zone() != "" {
		return nothing, errZone.Error()
	}
	addr = addr.Unmap()
	if addr.IsUnspecified() {
		// It connects to this host, whatever range took it in.
		return nothing, "an unspecified address"
	}
	ends := []netip.Addr{addr}
	if inner, ok := embedded(addr); ok {
		ends = append(ends, inner)
	}
	for _, p := range r.deny {
		for _, a := range ends {
			if p.fits(Host{Addr: a}) {
				return nothing, isDenied
			}
		}
		if p.fits(t.host) {
			return nothing, isDenied
		}
	}

	// What is granted by rules for ranges, by rules for the name alone, and by rules for the
	// name within a range.
	var ranged, named, both grant
	reason = noRule
	for i := range r.allow {
		a := &r.allow[i]
		inside := a.prefix.IsValid() && a.prefix.Contains(addr)
		switch {
		case !a.at(t):
		case (inside || !a.prefix.IsValid()) && a.leavesOut(t, ends):
			reason = isLeftOut
		case !a.forNames() && inside:
			ranged = max(ranged, a.grant())
		case a.covers(t.host) && inside:
			both = max(both, a.grant())
		case a.covers(t.host) && !a.prefix.IsValid():
			named = max(named, a.grant())
		}
	}
	what := notPublic(addr)
	switch {
	case t.host.Addr.IsValid():
		both = max(both, ranged)
	case what == "":
		both = max(both, named)
	default:
		both = max(both, min(named, ranged))
	}
	switch {
	case both != nothing:
		return both, ""
	case named != nothing && what != "":
		return nothing, what
	}
	return nothing, reason
}

// leavesOut reports whether a rule leaves out a target at any of the addresses that it
// leads to. Without addresses only what is left out whatever they are counts.
func (a *rule) leavesOut(t target, ends []netip.Addr) bool {
	for i := range a.less {
		if a.less[i].fits(t, ends) {
			return true
		}
	}
	return false
}

func (x *exception) fits(t target, ends []netip.Addr) bool {
	switch {
	case x.port != 0 && x.port != t.port, x.host != nil && !x.host.fits(t.host):
		return false
	case x.protocol == http1 && t.form != plain, x.protocol == https && t.form != tunnel:
		return false
	case !x.prefix.IsValid():
		return true
	}
	return slices.ContainsFunc(ends, x.prefix.Contains)
}

// forNames reports whether the rule speaks of names, and not of address literals.
func (a *rule) forNames() bool { return a.any || a.name != "" }

// covers reports whether the rule speaks of the name of a host.
func (a *rule) covers(h Host) bool {
	return h.Name != "" && (a.any || a.name != "" && named(a.name, a.below, h.Name))
}

// at reports whether the rule holds for the port and the form of a target.
func (a *rule) at(t target) bool {
	if a.port != 0 && a.port != t.port {
		return false
	}
	switch a.protocol {
	case http1:
		return t.form == plain
	case https:
		return t.form == tunnel
	}
	return true
}
