package exposure

import (
	"fmt"
	"strings"

	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/lint"
	"umwelt/registry"
	"umwelt/world"
)

const secretsExposed = "secrets-exposed"

// Secrets finds paths that the actor can read and that look like credentials.
var Secrets = lint.Detector{
	Name: secretsExposed, Severity: diag.Warning,
	Summary: "A path that looks like a credential can be read.",
	Find: func(f *lint.Facts) []lint.Finding {
		var out []lint.Finding
		for _, g := range grouped(exposed(f)) {
			first := g[0]
			names := make([]string, 0, 3)
			for _, s := range g[:min(len(g), 3)] {
				names = append(names, diag.Quote(s.path))
			}
			text := strings.Join(names, ", ")
			if n := len(g) - len(names); n > 0 {
				text += fmt.Sprintf(" and %d more", n)
			}
			what := "looks like " + first.what
			if len(g) > 1 {
				what = "look like credentials"
			}
			out = append(out, lint.Finding{Diagnostic: diag.Diagnostic{
				Severity: diag.Warning, Span: first.at,
				Message: text + " can be read and " + what,
				Hint:    "hide what is one: a rule that sets visible to false, or fixed in the world file",
			}})
		}
		return out
	},
}

// secret is one path that can be read and looks like a credential. At is what makes it
// readable.
type secret struct {
	path, what string
	at         diag.Span
}

// exposed are the secrets among the files and mounts of the world, in its order.
func exposed(f *lint.Facts) []secret {
	var out []secret
	for i := range f.World.Entities {
		e := &f.World.Entities[i]
		if e.Type.Taxon.Name != "world" {
			continue
		}
		switch e.Type.Name {
		case "file":
			if what := LooksSecret(e.Path()); what != "" {
				if at, ok := readable(f.Resolution, i); ok {
					out = append(out, secret{e.Path(), what, at})
				}
			}
		case "mount":
			if s, ok := mounted(e); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

// readable says whether a file can be read, and by which declaration.
func readable(r *cascade.Resolution, i int) (diag.Span, bool) {
	t := r.World().Entities[i].Type
	visible := t.Property("visible")
	if visible == nil {
		return diag.Span{}, false
	}
	e := r.Get(i, visible)
	if !e.Value.Bool() {
		return diag.Span{}, false
	}
	for _, p := range append([]*registry.Property{visible}, others(t, visible.ImpliedBy)...) {
		if w := r.Get(i, p).Winner; w != nil {
			return w.Declaration.At, true
		}
	}
	return r.World().Entities[i].Provenance.At, true
}

func others(t *registry.EntityType, names []string) []*registry.Property {
	var out []*registry.Property
	for _, name := range names {
		if p := t.Property(name); p != nil {
			out = append(out, p)
		}
	}
	return out
}

// mounted is a mount that brings in what looks like a credential. What a mount holds is
// readable whatever its other properties are.
func mounted(e *world.Entity) (secret, bool) {
	if kind, ok := e.Attr("type"); ok && kind != "bind" {
		return secret{}, false
	}
	for _, attr := range []string{"source", "path"} {
		if p, ok := e.Attr(attr); ok {
			if what := LooksSecret(p); what != "" {
				return secret{p, what, e.Provenance.At}, true
			}
		}
	}
	return secret{}, false
}

// grouped sorts secrets by what makes them readable, in order.
func grouped(all []secret) [][]secret {
	var out [][]secret
	at := map[diag.Span]int{}
	for _, s := range all {
		i, ok := at[s.at]
		if !ok {
			i = len(out)
			at[s.at] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], s)
	}
	return out
}
