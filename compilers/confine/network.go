package confine

import (
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"

	"umwelt/cascade"
	"umwelt/registry"
)

// readNetwork puts the network as a whole and its endpoints together. A deny pattern
// beats an allow of equal or lower precedence.
func (r *reader) readNetwork() Network {
	var n Network
	t := r.typ("network")
	if t == nil {
		return n
	}
	allowed, denied := t.Property("allow"), t.Property("deny")
	for _, i := range r.of(t) {
		allow := r.res.Get(i, allowed)
		if !allow.Value.Bool() {
			continue
		}
		e := &r.world.Entities[i]
		end := Endpoint{By: by(allow)}
		end.Host, _ = e.Attr("host")
		end.CIDR, _ = e.Attr("cidr")
		end.Protocol, _ = e.Attr("protocol")
		port, hasPort := e.Attr("port")
		if hasPort {
			p, err := strconv.Atoi(port)
			if err != nil || p < 1 || p > 65535 {
				r.note(end.By, dropped, "the port is none, so the endpoint stays closed")
				continue
			}
			end.Port = p
		}
		if end.CIDR != "" {
			if _, err := netip.ParsePrefix(end.CIDR); err != nil {
				r.note(end.By, dropped, "the address range is none, so the endpoint stays closed")
				continue
			}
		}
		whole := end.Host == "" && end.CIDR == "" && end.Protocol == "" && !hasPort
		deny := r.res.Get(i, denied)
		var kept []string
		if beats(deny, allow) {
			for _, p := range deny.Value.List {
				if p == "*" || !whole && covers(p, end) {
					kept = nil
					allow.Value = nil
					break
				}
				kept = append(kept, p)
			}
		}
		if !allow.Value.Bool() {
			r.note(by(allow), partial, "a deny pattern of no lower precedence closes it")
			continue
		}
		n.Deny = append(n.Deny, kept...)
		if whole {
			n.Open, n.By = true, end.By
		} else {
			n.Allow = append(n.Allow, end)
		}
	}
	slices.Sort(n.Deny)
	n.Deny = slices.Compact(n.Deny)
	return n
}

// beats reports whether what denies holds against what allows. Only a rule that stands
// above the one that denies gets past it, and nothing gets past the world's own word.
func beats(deny, allow cascade.Effective) bool {
	switch {
	case deny.Value == nil || len(deny.Value.List) == 0:
		return false
	case deny.Winner == nil || deny.Origin == cascade.Fixed || allow.Winner == nil:
		return true
	}
	return !stronger(allow.Winner, deny.Winner)
}

// stronger reports whether a has the higher precedence, the order of appearance aside.
func stronger(a, b *cascade.Candidate) bool {
	x, y := a.Declaration, b.Declaration
	switch {
	case x.Locked != y.Locked:
		return x.Locked
	case x.Important != y.Important:
		return x.Important
	case a.Rule.Layer != b.Rule.Layer:
		return (a.Rule.Layer > b.Rule.Layer) != x.Important
	}
	return a.Rule.Selector.Specificity.Compare(b.Rule.Selector.Specificity) > 0
}

// covers reports whether a deny pattern takes in all of an endpoint. A pattern that cannot
// be read takes in everything.
func covers(pattern string, e Endpoint) bool {
	if e.CIDR != "" {
		prefix, err := netip.ParsePrefix(e.CIDR)
		denied, bad := netip.ParsePrefix(pattern)
		if addr, e := netip.ParseAddr(pattern); e == nil {
			denied, bad = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		return err != nil || bad == nil && denied.Overlaps(prefix)
	}
	if e.Host == "" {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(e.Host, "."))
	fits, err := path.Match(strings.ToLower(strings.TrimSuffix(pattern, ".")), host)
	return fits || err != nil
}

// by is what decided a value.
func by(e cascade.Effective) Source {
	if e.Winner == nil {
		return Source{}
	}
	return Source{Rule: e.Winner.Rule, Declaration: e.Winner.Declaration}
}

// set reports whether a rule or the world's own word decided a value.
func set(e cascade.Effective) bool {
	return e.Winner != nil || e.Origin == cascade.Cascade || e.Origin == cascade.Fixed
}

// property is the value of a property that the type may lack.
func (r *reader) property(i int, t *registry.EntityType, name string) cascade.Effective {
	if p := t.Property(name); p != nil {
		return r.res.Get(i, p)
	}
	return cascade.Effective{}
}
