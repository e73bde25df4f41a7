package egress

import (
	"net/netip"
	"path"
	"strings"

	"umwelt/compilers/confine"
	"umwelt/diag"
)

// Rules are network rules made ready for deciding. The zero value allows nothing.
//
// A rule without a port holds for every port, one without a protocol for tunnels and plain
// HTTP alike. A rule with a host speaks of that name, and with a range too only of its
// addresses in the range. A rule with only a range speaks of address literals in it, and
// lets names that another rule allows resolve into it; by itself it lets no name be looked
// up. A rule with neither speaks of every name.
type Rules struct {
	allow  []rule
	deny   []pattern
	closed bool // a deny pattern takes everything, or could not be read
}

// rule is one endpoint. It is for names where it is for any or has a name.
type rule struct {
	any      bool
	name     string // normalized
	below    bool   // the names below name, and not name itself
	prefix   netip.Prefix
	port     uint16 // 0 for every port
	protocol protocol
	less     []exception
}

// exception is an endpoint that a rule leaves out. Of a name at addresses of a range it
// leaves out the name at those addresses.
type exception struct {
	host     *pattern     // nil for every name
	prefix   netip.Prefix // not valid for every address
	port     uint16       // 0 for every port
	protocol protocol
}

// pattern is one thing that is denied: a name, all names below one, a glob, or a range.
type pattern struct {
	name   string
	below  bool
	glob   string
	prefix netip.Prefix
}

type protocol uint8

// The protocols of a rule. Plain HTTP is also TCP, so a rule for TCP allows it.
const (
	anyProtocol protocol = iota
	tcp                  // tunnels of any content, and plain HTTP
	https                // tunnels that begin with TLS for the same name
	http1                // plain HTTP requests
)

var protocols = map[string]protocol{"": anyProtocol, "tcp": tcp, "https": https, "tls": https, "http": http1}

// Problem is a part of the network rules that cannot be carried out as written. What it
// speaks of stays closed; an unreadable deny pattern closes everything.
type Problem struct {
	By     confine.Source // what allowed it; empty for a deny pattern
	Text   string         // the host, range, protocol or pattern, as written
	Reason string
}

// Error is the text and the reason, on one line.
func (p Problem) Error() string { return diag.Quote(p.Text) + ": " + p.Reason }

// Compile makes rules of what a policy says of the network. The rules hold as far as they
// can be understood, never wider; the problems say what stays closed that was to be open,
// in the order of the endpoints and then of the patterns.
//
// Precedence between allowing and denying was settled when n was made: here a deny pattern
// beats every rule. An open network means every name on every port; literals and addresses
// that are not public still need a range.
func Compile(n confine.Network) (*Rules, []Problem) {
	r := &Rules{}
	var problems []Problem
	if n.Open {
		less, text, reason := compileLess(n.Less)
		if reason == "" {
			r.allow = append(r.allow, rule{any: true, less: less})
		} else {
			problems = append(problems, Problem{n.By, text, reason + "; the network stays closed but for single endpoints"})
		}
	}
	for _, e := range n.Allow {
		rule, text, reason := compileEndpoint(e)
		if reason == "" {
			rule.less, text, reason = compileLess(e.Less)
		}
		if reason != "" {
			problems = append(problems, Problem{e.By, text, reason + "; the endpoint stays closed"})
			continue
		}
		r.allow = append(r.allow, rule)
	}
	for _, text := range n.Deny {
		p, ok := compilePattern(text)
		switch {
		case text == "*":
			r.closed = true
		case !ok:
			r.closed = true
			problems = append(problems, Problem{Text: text, Reason: "not a pattern of hosts; everything stays closed"})
		default:
			r.deny = append(r.deny, p)
		}
	}
	return r, problems
}

// Empty reports whether the rules allow nothing at all.
func (r *Rules) Empty() bool { return r.closed || len(r.allow) == 0 }

func compileEndpoint(e confine.Endpoint) (out rule, text, reason string) {
	var ok bool
	if out.protocol, ok = protocols[strings.ToLower(e.Protocol)]; !ok {
		return out, e.Protocol, "only tcp, http, https and tls pass a proxy"
	}
	if e.Port < 0 || e.Port > 65535 {
		return out, e.Host, "its port is none"
	}
	out.port = uint16(e.Port)
	if e.CIDR != "" {
		prefix, err := netip.ParsePrefix(e.CIDR)
		if err != nil {
			return out, e.CIDR, "not an address range"
		}
		if out.prefix, ok = plainPrefix(prefix); !ok {
			return out, e.CIDR, "the range mixes IPv4 and IPv6"
		}
		if whole := out.prefix.Masked(); whole != out.prefix {
			return out, e.CIDR, "the address has bits outside its range; write " + whole.String()
		}
	}
	switch {
	case e.Host == "*", e.Host == "" && e.CIDR == "":
		out.any = true
		return out, "", ""
	case e.Host == "":
		return out, "", ""
	}
	suffix, below := strings.CutPrefix(e.Host, "*.")
	host, err := ParseHost(suffix)
	switch {
	case err != nil:
		return out, e.Host, err.Error()
	case !host.Addr.IsValid():
		out.name, out.below = host.Name, below
	case below:
		return out, e.Host, "names cannot lie below an address"
	case out.prefix.IsValid() && !out.prefix.Contains(host.Addr):
		return out, e.Host, "the address lies outside its own range"
	default:
		out.prefix = netip.PrefixFrom(host.Addr, host.Addr.BitLen())
	}
	return out, "", ""
}

// compileLess reads the endpoints that a rule leaves out. One that cannot be read could be
// anything, so the rule is then not to be used. One that no proxy passes needs no exception.
func compileLess(list []confine.Endpoint) (out []exception, text, reason string) {
	for _, e := range list {
		var x exception
		var known bool
		if x.protocol, known = protocols[strings.ToLower(e.Protocol)]; !known {
			continue
		}
		if e.Port < 0 || e.Port > 65535 {
			return nil, e.Host, "the port of a denied endpoint is none"
		}
		x.port = uint16(e.Port)
		if e.CIDR != "" {
			p, ok := compilePattern(e.CIDR)
			if !ok || !p.prefix.IsValid() {
				return nil, e.CIDR, "the address range of a denied endpoint is none"
			}
			x.prefix = p.prefix
		}
		if e.Host != "" && e.Host != "*" {
			p, ok := compilePattern(e.Host)
			switch {
			case !ok:
				return nil, e.Host, "the host of a denied endpoint is none"
			case !p.prefix.IsValid():
				x.host = &p
			case !x.prefix.IsValid() || x.prefix.Contains(p.prefix.Addr()):
				x.prefix = p.prefix
			default:
				continue // an address outside its own range is nowhere
			}
		}
		out = append(out, x)
	}
	return out, "", ""
}

// plainPrefix is a range with IPv4 written as such.
func plainPrefix(p netip.Prefix) (_ netip.Prefix, ok bool) {
	if !p.Addr().Is4In6() {
		return p, true
	}
	return netip.PrefixFrom(p.Addr().Unmap(), max(0, p.Bits()-96)), p.Bits() >= 96
}

// compilePattern reads a deny pattern other than "*".
func compilePattern(text string) (pattern, bool) {
	if prefix, err := netip.ParsePrefix(text); err == nil {
		prefix, ok := plainPrefix(prefix)
		return pattern{prefix: prefix}, ok
	}
	suffix, below := strings.CutPrefix(text, "*.")
	if !strings.ContainsAny(suffix, `*?[\`) || strings.HasPrefix(suffix, "[") {
		host, err := ParseHost(suffix)
		if err == nil && host.Addr.IsValid() {
			return pattern{prefix: netip.PrefixFrom(host.Addr, host.Addr.BitLen())}, !below
		}
		if err == nil {
			return pattern{name: host.Name, below: below}, true
		}
		if !strings.HasPrefix(suffix, "[") {
			return pattern{}, false
		}
	}
	glob := strings.TrimSuffix(strings.ToLower(text), ".")
	for _, c := range []byte(glob) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && !strings.ContainsRune(`-._*?[]^\\`, rune(c)) {
			return pattern{}, false
		}
	}
	_, err := path.Match(glob, "")
	return pattern{glob: glob}, err == nil && glob != ""
}

func (p pattern) fits(h Host) bool {
	switch {
	case p.glob != "":
		fits, _ := path.Match(p.glob, h.String())
		return fits
	case p.name == "":
		return p.prefix.Contains(h.Addr)
	}
	return named(p.name, p.below, h.Name)
}

// named reports whether a name is the one of a rule, or lies below it.
func named(rule string, below bool, name string) bool {
	if below {
		return len(name) > len(rule)+1 && strings.HasSuffix(name, rule) && name[len(name)-len(rule)-1] == '.'
	}
	return name != "" && name == rule
}
