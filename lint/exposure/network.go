package exposure

import (
	"fmt"
	"slices"

	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/lint"
)

const networkOpen = "network-open-with-secrets"

// Network finds an open network beside readable credentials.
var Network = lint.Detector{
	Name: networkOpen, Severity: diag.Error,
	Summary: "The network is open, in whole or in part, while what looks like a credential can be read.",
	Find: func(f *lint.Facts) []lint.Finding {
		secrets := exposed(f)
		if len(secrets) == 0 {
			return nil
		}
		var out []lint.Finding
		seen := map[diag.Span]bool{}
		for i := range f.World.Entities {
			at, ok := reachable(f.Resolution, i)
			if !ok || seen[at] {
				continue
			}
			seen[at] = true
			x := lint.Finding{Diagnostic: diag.Diagnostic{
				Severity: diag.Error, Span: at,
				Message: fmt.Sprintf("%s is open while %s can be read", endpoint(f, i), diag.Quote(secrets[0].path)),
				Hint:    "hide what looks like a credential, or close the network",
			}}
			if n := len(secrets) - 1; n > 0 {
				x.Message = fmt.Sprintf("%s is open while %s and %d more that look like credentials can be read", endpoint(f, i), diag.Quote(secrets[0].path), n)
			}
			if secrets[0].at.IsValid() {
				x.Related = []diag.Related{{Span: secrets[0].at, Message: "it can be read by this"}}
			}
			out = append(out, x)
		}
		return out
	},
}

// endpoint names what is open.
func endpoint(f *lint.Facts, i int) string {
	e := &f.World.Entities[i]
	for _, attr := range []string{"host", "cidr"} {
		if text, ok := e.Attr(attr); ok {
			return "the network to " + diag.Quote(text)
		}
	}
	return "the network"
}

// reachable says whether something of the network may be reached, and by which
// declaration. Of denials only one of everything closes it for certain.
func reachable(r *cascade.Resolution, i int) (diag.Span, bool) {
	e := &r.World().Entities[i]
	if e.Type.Name != "network" || e.Type.Taxon.Name != "world" {
		return diag.Span{}, false
	}
	allow, deny := e.Type.Property("allow"), e.Type.Property("deny")
	if allow == nil || deny == nil {
		return diag.Span{}, false
	}
	open, closed := r.Get(i, allow), r.Get(i, deny)
	if !open.Value.Bool() || closed.Value != nil && slices.Contains(closed.Value.List, "*") && !past(open, closed) {
		return diag.Span{}, false
	}
	if open.Winner != nil {
		return open.Winner.Declaration.At, true
	}
	return e.Provenance.At, true
}

// past reports whether what allows stands above what denies: by more than its place in
// the text, and not against the world's own word.
func past(open, closed cascade.Effective) bool {
	if open.Winner == nil || closed.Winner == nil || closed.Origin == cascade.Fixed {
		return false
	}
	if a, b := open.Winner.Declaration.Locked, closed.Winner.Declaration.Locked; a != b {
		return a
	}
	ahead, why := cascade.Ahead(open.Winner, closed.Winner)
	return ahead && why != cascade.Earlier
}
