package main

import (
	"fmt"
	"strings"

	"umwelt"
	"umwelt/diag"
	"umwelt/explain"
	"umwelt/registry"
	"umwelt/report"
)

// rulesInspection is the rules of views by taxon, in JSON.
type rulesInspection struct {
	Schema      string       `json:"schema"`
	Layers      []string     `json:"layers,omitempty"`
	Taxa        []taxonRules `json:"taxa"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

// taxonRules are the rules of one taxon; of rules that name no type, Taxon is "*".
type taxonRules struct {
	Taxon string     `json:"taxon"`
	Rules []ruleJSON `json:"rules"`
}

type ruleJSON struct {
	*place
	Selector     string            `json:"selector"`
	Layer        string            `json:"layer,omitempty"`
	Specificity  string            `json:"specificity"`
	Never        bool              `json:"never,omitempty"` // it can match nothing
	Declarations []declarationJSON `json:"declarations"`
}

type declarationJSON struct {
	Property  string `json:"property"`
	Value     string `json:"value"`
	Important bool   `json:"important,omitempty"`
	Locked    bool   `json:"locked,omitempty"`
}

func rulesDocument(p *umwelt.Policy) rulesInspection {
	doc := rulesInspection{
		Schema: "umwelt.inspect/1", Layers: p.Bound.Layers, Taxa: []taxonRules{}, Diagnostics: diagnostics(p.Diagnostics),
	}
	taxa := append(append([]*registry.Taxon{}, p.Registry.Taxa()...), nil)
	for _, taxon := range taxa {
		group := taxonRules{Taxon: "*"}
		if taxon != nil {
			group.Taxon = taxon.Name
		}
		for _, r := range p.Bound.Rules {
			if r.Selector.Taxon == taxon {
				group.Rules = append(group.Rules, ruleOf(p, r))
			}
		}
		if group.Rules != nil {
			doc.Taxa = append(doc.Taxa, group)
		}
	}
	return doc
}

func ruleOf(p *umwelt.Policy, r *registry.Rule) ruleJSON {
	out := ruleJSON{
		place: placeOf(r.At), Selector: utf8Text(r.Selector.Text), Never: r.Selector.Never,
		Specificity: specificityText(p.Registry, r.Selector.Specificity), Declarations: []declarationJSON{},
	}
	if r.Layer < len(p.Bound.Layers) {
		out.Layer = p.Bound.Layers[r.Layer]
	}
	for _, d := range r.Declarations {
		out.Declarations = append(out.Declarations, declarationJSON{d.Name, declaredText(d), d.Important, d.Locked})
	}
	return out
}

// declaredText is a declaration's value, or what stands for a secret one.
func declaredText(d *registry.Declaration) string {
	text := ""
	for _, t := range d.Typed {
		if t.Property.Secret {
			return report.Hidden
		}
		if t.Value != nil && text == "" {
			text = utf8Text(t.Value.Text)
		}
	}
	return text
}

// specificityText is a specificity key as "axes N; taxon a,b,c; …" with the taxa in which
// it counts anything.
func specificityText(reg *registry.Registry, s registry.Specificity) string {
	return explain.Specificity(reg, s)
}

func (d rulesInspection) text() string {
	var b strings.Builder
	if len(d.Layers) > 0 {
		fmt.Fprintf(&b, "layers, weakest first: %s\n\n", diag.Escape(strings.Join(d.Layers, ", ")))
	}
	for i, taxon := range d.Taxa {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s\n", taxon.Taxon)
		for _, r := range taxon.Rules {
			fmt.Fprintf(&b, "  %s  %s  [%s]", r.place, diag.Escape(r.Selector), r.Specificity)
			if r.Layer != "" {
				fmt.Fprintf(&b, "  @layer %s", diag.Escape(r.Layer))
			}
			if r.Never {
				b.WriteString("  matches nothing")
			}
			b.WriteByte('\n')
			for _, decl := range r.Declarations {
				fmt.Fprintf(&b, "      %s: %s", diag.Escape(decl.Property), diag.Escape(decl.Value))
				if decl.Important {
					b.WriteString(" !important")
				}
				if decl.Locked {
					b.WriteString(" !locked")
				}
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}
