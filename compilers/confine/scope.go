package confine

import (
	"net/netip"
	"path"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// scope is what an endpoint speaks of, in a form in which two can be compared.
type scope struct {
	host     string       // a pattern in small letters; "" for any
	prefix   netip.Prefix // not valid for any
	port     int          // 0 for any
	protocol string       // in small letters; "" for any
	problem  string       // what cannot be read of it, or ""
	stray    string       // that its range is not written as one, or ""
}

// scopeOf reads an endpoint. An address as host is a range of one address.
func scopeOf(e Endpoint) scope {
	s := scope{port: e.Port, protocol: strings.ToLower(e.Protocol)}
	var problem string
	if s.host, problem = plainHost(e.Host); problem != "" {
		s.problem = problem
	}
	if a, err := netip.ParseAddr(strings.Trim(s.host, "[]")); err == nil {
		a = a.Unmap().WithZone("")
		s.host, s.prefix = "", netip.PrefixFrom(a, a.BitLen())
	}
	if e.CIDR == "" {
		return s
	}
	p, ok := readRange(e.CIDR)
	switch {
	case !ok:
		s.problem = "the address range is none"
	case p != p.Masked():
		s.stray = "the address has bits outside its range (write " + p.Masked().String() + ")"
	case s.prefix.IsValid() && !(p.Overlaps(s.prefix) && p.Bits() <= s.prefix.Bits()):
		s.problem = "the address lies outside its own range"
	}
	if !s.prefix.IsValid() {
		s.prefix = p.Masked()
	}
	return s
}

// plainHost is a host in the one writing in which hosts are compared, "" for any.
func plainHost(text string) (host, problem string) {
	host = strings.ToLower(strings.TrimSuffix(text, "."))
	if host == "*" {
		return "", ""
	}
	if strings.ContainsFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) {
		name, below := strings.CutPrefix(host, "*.")
		ascii, err := idna.Lookup.ToASCII(name)
		if err != nil {
			return host, "the host is no name"
		}
		if host = strings.TrimSuffix(ascii, "."); below {
			host = "*." + host
		}
	}
	if _, err := path.Match(host, ""); err != nil {
		return host, "the host is no pattern"
	}
	return host, ""
}

// readRange reads an address range or a single address. IPv4 in IPv6 clothing is IPv4.
func readRange(text string) (netip.Prefix, bool) {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		a, err := netip.ParseAddr(text)
		if err != nil || a.Zone() != "" {
			return netip.Prefix{}, false
		}
		p = netip.PrefixFrom(a, a.BitLen())
	}
	if !p.Addr().Is4In6() {
		return p, true
	}
	if p.Bits() < 96 {
		return netip.Prefix{}, false // it is of both families
	}
	return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96), true
}

// contains reports whether everything in t certainly is in s.
func (s scope) contains(t scope) bool {
	return s.problem == "" &&
		(s.host == "" || t.host != "" && (s.host == t.host || globs(s.host, t.host))) &&
		(!s.prefix.IsValid() || t.prefix.IsValid() && s.prefix.Bits() <= t.prefix.Bits() && s.prefix.Overlaps(t.prefix)) &&
		(s.port == 0 || s.port == t.port) &&
		(s.protocol == "" || s.protocol == t.protocol || s.protocol == "tcp" && transport(t.protocol) == "tcp")
}

// meets reports whether something may be in both. A name may stand for any address.
func (s scope) meets(t scope) bool {
	return (s.host == "" || t.host == "" || s.host == t.host || wild(s.host) && wild(t.host) || globs(s.host, t.host) || globs(t.host, s.host)) &&
		(!s.prefix.IsValid() || !t.prefix.IsValid() || s.prefix.Overlaps(t.prefix)) &&
		(s.port == 0 || t.port == 0 || s.port == t.port) &&
		(transport(s.protocol) == "" || transport(t.protocol) == "" || transport(s.protocol) == transport(t.protocol))
}

// globs reports whether a pattern fits a name, or a pattern that is narrower by its words.
func globs(pattern, name string) bool {
	if wild(name) {
		// "*.a.b" lies in "*.b"; of other pairs nothing is certain.
		suffix, ok := strings.CutPrefix(pattern, "*")
		return ok && !wild(suffix) && strings.HasPrefix(suffix, ".") && strings.HasSuffix(name, suffix)
	}
	fits, err := path.Match(pattern, name)
	return fits || err != nil
}

func wild(pattern string) bool { return strings.ContainsAny(pattern, `*?[\`) }

// transport is what carries a protocol, or "" where that is any or not known.
func transport(protocol string) string {
	switch protocol {
	case "http", "https", "tls":
		return "tcp"
	case "tcp", "udp", "sctp":
		return protocol
	}
	return ""
}

// covers reports whether a deny pattern takes in all of an endpoint. A pattern that cannot
// be read takes in everything.
func covers(pattern string, e Endpoint) bool {
	if denied, ok := readRange(pattern); ok {
		s := scopeOf(e)
		return s.problem != "" || s.prefix.IsValid() && denied.Overlaps(s.prefix) && denied.Bits() <= s.prefix.Bits()
	}
	fits, err := path.Match(strings.ToLower(strings.TrimSuffix(pattern, ".")), strings.ToLower(strings.TrimSuffix(e.Host, ".")))
	return err != nil || fits && e.Host != ""
}
