package narrow

import (
	"strconv"

	"umwelt/registry"
)

// table compares what the current view and the proposal allow.
func (p *proposer) table(after, before *trial) {
	row := func(what string, of func(*trial) string) {
		r := Row{What: what, After: of(after)}
		if before != nil {
			r.Before = of(before)
		}
		if r.After != "" || r.Before != "" {
			p.report.Table = append(p.report.Table, r)
		}
	}
	for _, name := range []string{"visible", "editable"} {
		row(name+" files", func(t *trial) string { return t.countFiles(name) })
	}
	for _, typ := range []string{"tool", "env", "exec"} {
		row(typ+" allowed", func(t *trial) string { return t.countAllowed(typ) })
	}
	row("endpoints", func(t *trial) string {
		switch {
		case t.net.Open:
			return "all but " + strconv.Itoa(len(t.net.Less)+len(t.net.Deny))
		default:
			return strconv.Itoa(len(t.net.Allow))
		}
	})
	if r := typeOf(after.world.Registry, "resource"); r != nil {
		for _, prop := range r.Properties {
			row(prop.Name, func(t *trial) string { return t.boundOf(r, prop) })
		}
	}
	row("max-level", func(t *trial) string { return t.maxLevel() })
}

func (t *trial) countFiles(name string) string {
	if t.known.file == nil || t.known.file.Property(name) == nil {
		return ""
	}
	n := 0
	for _, f := range t.known.files {
		if t.res.Get(t.known.fileAt[f], t.known.file.Property(name)).Value.Bool() {
			n++
		}
	}
	return strconv.Itoa(n)
}

func (t *trial) countAllowed(name string) string {
	typ := typeOf(t.world.Registry, name)
	if typ == nil || typ.Property("allow") == nil || len(t.of(typ)) == 0 {
		return ""
	}
	n := 0
	for _, i := range t.of(typ) {
		if t.res.Get(i, typ.Property("allow")).Value.Bool() {
			n++
		}
	}
	return strconv.Itoa(n)
}

func (t *trial) boundOf(typ *registry.EntityType, p *registry.Property) string {
	for _, i := range t.of(typ) {
		if v := t.res.Get(i, p); v.Winner != nil && v.Value != nil {
			return v.Value.Text
		}
	}
	return ""
}

// maxLevel is the highest bound on levels that a rule sets for any tool.
func (t *trial) maxLevel() string {
	typ := typeOf(t.world.Registry, "tool")
	if typ == nil || typ.Property("max-level") == nil {
		return ""
	}
	best := -1.0
	for _, i := range t.of(typ) {
		if v := t.res.Get(i, typ.Property("max-level")); v.Winner != nil && v.Value != nil {
			best = max(best, v.Value.Num)
		}
	}
	if best < 0 {
		return ""
	}
	return strconv.FormatFloat(best, 'f', -1, 64)
}
