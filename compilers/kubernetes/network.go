package kubernetes

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/diag"
)

// egress are the egress rules of the NetworkPolicy; none closes the network. A
// NetworkPolicy tells addresses and ports apart, and no host names: what it cannot say
// stays closed.
func egress(n confine.Network) (list, []compilers.Note) {
	var notes []compilers.Note
	note := func(by confine.Source, level compilers.Level, format string, args ...any) {
		notes = append(notes, compilers.Note{Rule: by.Rule, Declaration: by.Declaration, Level: level, Why: fmt.Sprintf(format, args...)})
	}
	denied, names := denials(n.Deny)
	if slices.Contains(names, "*") {
		return nil, nil
	}
	if n.Whole() {
		return list{object{}}, nil
	}
	var rules list
	if n.Open {
		less, wider, why := exceptions(confine.Endpoint{}, n.Less)
		switch {
		case len(names) > 0:
			note(n.By, compilers.Partial, "the network is closed: a NetworkPolicy cannot leave out the denied hosts %s", quoteAll(names))
		case why != "":
			note(n.By, compilers.Partial, "the network is closed: %s", why)
		default:
			for _, w := range wider {
				note(n.By, compilers.Partial, "%s", w)
			}
			var peers list
			for _, all := range []string{"0.0.0.0/0", "::/0"} {
				if p, ok := block(netip.MustParsePrefix(all), together(denied, less)); ok {
					peers = append(peers, p)
				}
			}
			if len(peers) > 0 {
				rules = append(rules, object{{"to", peers}})
			}
			if len(n.Less) == 0 {
				return rules, notes // the allowed endpoints are in it already
			}
		}
	}
	more, moreNotes := endpoints(n, denied, names)
	return append(rules, more...), append(notes, moreNotes...)
}

// endpoints are the rules for the allowed endpoints.
func endpoints(n confine.Network, denied []netip.Prefix, names []string) (rules list, notes []compilers.Note) {
	note := func(by confine.Source, level compilers.Level, format string, args ...any) {
		notes = append(notes, compilers.Note{Rule: by.Rule, Declaration: by.Declaration, Level: level, Why: fmt.Sprintf(format, args...)})
	}
	seen := map[string]bool{}
	for _, e := range n.Allow {
		same := fmt.Sprintf("%q %q %q %d", e.Host, e.CIDR, e.Protocol, e.Port)
		if seen[same] {
			continue
		}
		seen[same] = true
		what := describe(e)
		if len(names) > 0 {
			note(e.By, compilers.Dropped, "%s is not opened: a NetworkPolicy cannot leave out the denied hosts %s", what, quoteAll(names))
			continue
		}
		less, wider, why := exceptions(e, e.Less)
		if why != "" {
			note(e.By, compilers.Dropped, "%s is not opened: %s", what, why)
			continue
		}
		rule, why := allow(e, together(denied, less))
		if why != "" {
			note(e.By, compilers.Dropped, "%s is not opened: %s", what, why)
		}
		if rule != nil {
			rules = append(rules, rule)
			for _, w := range wider {
				note(e.By, compilers.Partial, "%s", w)
			}
		}
	}
	return rules, notes
}

// exceptions are the ranges to leave out of an endpoint for what may not be reached in it.
// A range is left out with all its ports and protocols, and wider says where that takes
// more than was asked. why is why the endpoint has to stay closed.
func exceptions(in confine.Endpoint, less []confine.Endpoint) (ranges []netip.Prefix, wider []string, why string) {
	for _, e := range less {
		what := describe(e)
		text := e.CIDR
		if text == "" {
			text = e.Host
		}
		p, err := prefix(text)
		if err != nil {
			return nil, nil, "a NetworkPolicy cannot leave out the denied endpoint " + what
		}
		ranges = append(ranges, p)
		if e.Host != "" && e.CIDR != "" || e.Port != 0 && e.Port != in.Port || e.Protocol != "" && !strings.EqualFold(e.Protocol, in.Protocol) {
			wider = append(wider, "the denied endpoint "+what+" is left out with everything at its addresses: a NetworkPolicy leaves out whole ranges")
		}
	}
	return ranges, wider, ""
}

// together are the ranges of two lists, sorted and without repeats.
func together(a, b []netip.Prefix) []netip.Prefix {
	all := slices.Concat(a, b)
	slices.SortFunc(all, netip.Prefix.Compare)
	return slices.Compact(all)
}

// allow is the rule for one endpoint, or why there is none.
func allow(e confine.Endpoint, denied []netip.Prefix) (rule object, why string) {
	target := e.CIDR
	if e.Host != "" && e.Host != "*" {
		a, err := netip.ParseAddr(e.Host)
		if err != nil {
			return nil, "a NetworkPolicy knows addresses and no host names"
		}
		if target != "" {
			return nil, "it names both a host and an address range"
		}
		target = a.String()
	}
	var peers list
	for _, cidr := range targets(target, len(denied) > 0) {
		p, err := prefix(cidr)
		if err != nil {
			return nil, "not an address range"
		}
		if given, err := netip.ParsePrefix(cidr); err == nil && given != p {
			return nil, "the address has bits outside its range; write " + p.String()
		}
		if b, ok := block(p, denied); ok {
			peers = append(peers, b)
		}
	}
	if len(peers) == 0 && (target != "" || len(denied) > 0) {
		return nil, "all of it is denied"
	}
	if len(peers) > 0 {
		rule = append(rule, field{"to", peers})
	}
	ports, why := ports(e)
	if why != "" {
		return nil, why
	}
	if len(ports) > 0 {
		rule = append(rule, field{"ports", ports})
	}
	if rule == nil {
		rule = object{}
	}
	return rule, ""
}

// targets are the address ranges of an endpoint: everything has to be spelt out only
// where something is left out of it.
func targets(cidr string, denied bool) []string {
	switch {
	case cidr != "":
		return []string{cidr}
	case denied:
		return []string{"0.0.0.0/0", "::/0"}
	}
	return nil
}

// ports are the ports of an endpoint, none for any. A port without a protocol means each
// of the protocols, where Kubernetes would read TCP.
func ports(e confine.Endpoint) (list, string) {
	protocol := strings.ToUpper(e.Protocol)
	if !slices.Contains([]string{"", "TCP", "UDP", "SCTP"}, protocol) {
		return nil, "a NetworkPolicy knows the protocols TCP, UDP and SCTP only"
	}
	if e.Port < 0 || e.Port > 65535 {
		return nil, "not a port"
	}
	if protocol == "" && e.Port == 0 {
		return nil, ""
	}
	var out list
	for _, p := range []string{"TCP", "UDP", "SCTP"} {
		if protocol != "" && p != protocol {
			continue
		}
		item := object{{"protocol", p}}
		if e.Port != 0 {
			item = append(item, field{"port", int64(e.Port)})
		}
		out = append(out, item)
	}
	return out, ""
}

// block is the peer for a range less what is denied in it; ok is false where nothing is
// left.
func block(p netip.Prefix, denied []netip.Prefix) (peer object, ok bool) {
	var except list
	for _, d := range denied {
		switch {
		case !d.Overlaps(p):
		case d.Bits() <= p.Bits():
			return nil, false
		default:
			except = append(except, d.String())
		}
	}
	ip := object{{"cidr", p.String()}}
	if len(except) > 0 {
		ip = append(ip, field{"except", except})
	}
	return object{{"ipBlock", ip}}, true
}

// denials splits deny patterns into address ranges, sorted and without repeats, and
// patterns of host names.
func denials(patterns []string) (ranges []netip.Prefix, names []string) {
	for _, p := range patterns {
		if r, err := prefix(p); err == nil {
			ranges = append(ranges, r)
		} else {
			names = append(names, p)
		}
	}
	slices.Sort(names)
	return together(ranges, nil), slices.Compact(names)
}

// prefix reads an address range or a single address. An IPv4 address in IPv6 clothing is
// refused: rules for one family do not hold for the other.
func prefix(s string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(s)
	if err != nil {
		a, addrErr := netip.ParseAddr(s)
		if addrErr != nil {
			return netip.Prefix{}, err
		}
		p = netip.PrefixFrom(a, a.BitLen())
	}
	if p.Addr().Zone() != "" || p.Addr().Is4In6() {
		return netip.Prefix{}, fmt.Errorf("%s: no plain address range", s)
	}
	return p.Masked(), nil
}

func describe(e confine.Endpoint) string {
	text := diag.Quote(first(e.Host, e.CIDR, "*"))
	if e.Port != 0 {
		text += fmt.Sprintf(" port %d", e.Port)
	}
	if e.Protocol != "" {
		text += " " + diag.Quote(e.Protocol)
	}
	return text
}

// quoteAll names a few names and counts the others.
func quoteAll(names []string) string {
	const few = 3
	var quoted []string
	for _, n := range names[:min(few, len(names))] {
		quoted = append(quoted, diag.Quote(n))
	}
	text := strings.Join(quoted, ", ")
	if more := len(names) - few; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
