package narrow

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"umwelt/registry"
)

// admitted is how many entities each unit gives a permission that was not needed. That an
// empty directory appears gives away its name alone, so directories do not count.
func (n *narrower) admitted() map[*unit]int {
	out := map[*unit]int{}
	file := n.t.known.file
	if file != nil {
		for _, f := range n.t.known.files {
			i := n.t.known.fileAt[f]
			had, ok := n.needed[f]
			visible, editable, show := n.c.entity(i, file.Property("visible")), n.c.entity(i, file.Property("editable")), n.c.entity(i, file.Property("show"))
			counted := map[*unit]bool{}
			count := func(c *choice) {
				if c.unit != nil && !counted[c.unit] {
					counted[c.unit] = true
					out[c.unit]++
				}
			}
			given := first(editable, nil)
			if given != nil && given.yes && !(ok && had == change) {
				count(given)
			}
			if ok {
				continue
			}
			switch w := first(visible, nil); {
			case w != nil && w.yes:
				count(w)
			case w != nil:
			case given != nil:
				count(given)
			default:
				if s := first(show, nil); s != nil {
					count(s)
				}
			}
		}
	}
	for _, name := range []string{"tool", "env", "exec"} {
		n.admittedOf(typeOf(n.t.world.Registry, name), out)
	}
	n.admittedEndpoints(out)
	return out
}

// admittedOf counts the entities of a type that are allowed and were not used.
func (n *narrower) admittedOf(t *registry.EntityType, out map[*unit]int) {
	if t == nil || t.Property("allow") == nil {
		return
	}
	used := map[int]bool{}
	for _, r := range n.reqs {
		if r.kind == allow && r.typ == t.Name {
			for _, i := range n.t.named(t, r.id) {
				used[i] = true
			}
		}
	}
	p := t.Property("allow")
	for _, i := range n.t.of(t) {
		if used[i] {
			continue
		}
		if w := first(n.c.entity(i, p), nil); w != nil {
			if w.yes && w.unit != nil {
				out[w.unit]++
			}
			continue
		}
		for _, f := range n.t.res.Engine().Followed(n.t.res.Entity(i), p) {
			if q := f.Entity.Type.Property(p.Follows); f.Index >= 0 && q != nil {
				if w := first(n.c.entity(f.Index, q), nil); w != nil && w.yes && w.unit != nil {
					out[w.unit]++
				}
			}
		}
	}
}

// admittedEndpoints counts a unit that opens more than one named host: how much more
// nobody knows.
func (n *narrower) admittedEndpoints(out map[*unit]int) {
	t := typeOf(n.t.world.Registry, "network")
	if t == nil {
		return
	}
	for _, u := range n.units {
		if u.kind == granting && u.state == alive && u.name == "allow" && slices.ContainsFunc(u.rules, func(d decided) bool { return opensMany(t, d.rule) }) {
			out[u] += 1 << 20
		}
	}
}

// opensMany reports whether a rule is about more than one host.
func opensMany(t *registry.EntityType, r *registry.Rule) bool {
	if r.Selector.Target.Type != t {
		return false
	}
	for _, test := range r.Selector.Target.Tests {
		switch {
		case test.Kind == registry.TestID:
			return false
		case test.Kind != registry.TestAttr || test.Op != "=":
		case test.Attr == "host":
			return strings.ContainsAny(test.Value, "*?[")
		case test.Attr == "cidr":
			p, err := netip.ParsePrefix(test.Value)
			return err == nil && !p.IsSingleIP()
		}
	}
	return true
}

// replaceWide replaces what gives more than was needed, and the slack, by rules for what it
// was needed for.
func (n *narrower) replaceWide() {
	for round := 0; round <= len(n.units); round++ {
		admits := n.admitted()
		used := 0
		for _, u := range n.units {
			for _, d := range u.instead {
				used += d.admits
			}
		}
		changed := false
		for _, u := range n.units {
			if admits[u] == 0 || u.state != alive {
				continue
			}
			if used+admits[u] <= n.in.Slack {
				used += admits[u]
				continue
			}
			if !n.removable(u) || n.unobserved(u) || u.whole != "" {
				if u.kind == granting || u.kind == implying && n.late {
					why := cmp.Or(u.stuck, u.whole, "it also keeps something from being allowed")
					n.keepWide(u, admits[u], why)
				}
				continue
			}
			n.slack = n.in.Slack - used
			n.replace(u)
			changed = true
			break
		}
		if !changed {
			return
		}
	}
}

func (n *narrower) keepWide(u *unit, admits int, why string) {
	k := Unused{Text: u.text, At: u.place, Why: "it gives more than was needed, but " + why}
	if !slices.Contains(n.report.Kept, k) {
		n.report.Kept = append(n.report.Kept, k)
	}
}
