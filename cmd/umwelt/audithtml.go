package main

import (
	"crypto/sha256"
	_ "embed" // for the template and its style
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"umwelt/diag"
	"umwelt/explain"
	"umwelt/policydiff"
)

var (
	//go:embed audit.html
	auditPage string
	//go:embed audit.css
	auditStyle string
)

// html writes the report as one file. It holds no script and loads nothing, and a browser
// is told to allow neither. In one place at most limit entities are named; 0 is all.
func (d *auditDocument) html(w io.Writer, limit int) error {
	page, err := template.New("audit").Funcs(d.functions(limit)).Parse(auditPage)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(auditStyle))
	open := 0
	for _, x := range d.Lint {
		if x.Silenced == "" {
			open++
		}
	}
	return page.Execute(w, map[string]any{
		"Doc": d, "Open": open, "Style": template.CSS(auditStyle),
		"Policy": "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'",
	})
}

// functions are what the page calls. They give plain text, which the template escapes; what
// a terminal or a reader could be misled by is escaped before that.
func (d *auditDocument) functions(limit int) template.FuncMap {
	cut := func(n int) int {
		if limit == 0 {
			return n
		}
		return min(n, limit)
	}
	return template.FuncMap{
		"esc":   diag.Escape,
		"count": plural,
		"where": func(x placed) string {
			if at := x.where(); at != nil {
				return at.String()
			}
			return ""
		},
		"refs": func(refs []entityRef) string { return someRefs(refs, limit) },
		"members": func(group int) string {
			return someRefs(d.members[group], limit)
		},
		"first": func(list []auditEntity) []auditEntity { return list[:cut(len(list))] },
		"more": func(n int) string {
			if n == cut(n) {
				return ""
			}
			return plural(n-cut(n), "more entity") + " not shown; see --limit, or the report as JSON"
		},
		"origins": func(t auditType) string { return t.origins() },
		"value": func(p explain.Property) string {
			if p.Value == "" {
				return `""`
			}
			return diag.Escape(p.Value)
		},
		"initial":   func(p explain.Property) bool { return p.Source == "initial" },
		"candidate": candidateText,
		"cause":     func(c diffCause) string { return c.String() },
		"widens": func(kind string) bool {
			return kind == policydiff.Widening.String() || kind == policydiff.Change.String()
		},
		"change": func(g diffGroup) string {
			if g.Property == "" {
				return existence(g.Old) + " → " + existence(g.New)
			}
			return g.Old.value() + " → " + g.New.value()
		},
		"when": func(doc *viewsDiff, g diffGroup) string {
			if len(g.Contexts) == len(doc.Contexts) {
				return ""
			}
			var out []string
			for _, i := range g.Contexts {
				out = append(out, doc.Contexts[i].String())
			}
			return someTexts(out, limit)
		},
		"cell": cellText,
	}
}

// placed is what stands somewhere in a file, as all do that embed a place.
type placed interface{ where() *place }

func (p *place) where() *place { return p }

// candidateText is a declaration with its place and precedence.
func candidateText(c explain.Candidate) string {
	text := fmt.Sprintf("%s %s → %s", c.Place, diag.Escape(c.Selector), diag.Escape(c.Value))
	if c.Important {
		text += " !important"
	}
	if c.Locked {
		text += " !locked"
	}
	if c.Layer != "" {
		text += " in layer " + diag.Escape(c.Layer)
	}
	return text + " (" + c.Specificity + ")"
}

// cellText is how far a target carries a rule, with the reasons.
func cellText(rule checkRule, target string) string {
	for _, c := range rule.Coverage {
		if c.Target != target {
			continue
		}
		whys := []string{}
		for _, x := range c.Declarations {
			if x.Why != "" {
				whys = append(whys, x.Property+" "+x.Level+": "+diag.Escape(x.Why))
			}
		}
		if len(whys) == 0 {
			return c.Level
		}
		return c.Level + " (" + strings.Join(whys, "; ") + ")"
	}
	return "–"
}
