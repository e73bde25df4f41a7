package main

import (
	"umwelt/diag"
	"umwelt/policydiff"
	"umwelt/registry"
)

func (f *diffFlags) views(std *streams, old, now string) error {
	var faults diag.List
	if f.require != "" {
		faults = append(faults, problemsOf(oneOf("require", f.require, "no-widening"))...)
	}
	if f.contexts < 1 {
		faults.Errorf(diag.BadOption, diag.Span{}, "--contexts takes a number from 1, not %d", f.contexts)
	}
	if f.limit < 0 {
		faults.Errorf(diag.BadOption, diag.Span{}, "--limit takes a number from 0, not %d", f.limit)
	}
	if faults != nil {
		return &problemsError{faults}
	}
	p, err := f.loadPair(std, []string{old}, []string{now})
	if err != nil {
		return err
	}
	result, err := f.compare(std, p)
	if err != nil {
		return err
	}
	doc := viewsDocument(p, result)
	if f.format == "json" {
		err = std.writeJSON(f.output, doc)
	} else {
		std.render(p.diagnostics)
		err = std.write(f.output, []byte(doc.text(f.limit)))
	}
	switch {
	case err != nil:
		return err
	case f.require != "" && doc.Widens:
		return findingsError{"the new view may give more than the old one"}
	case f.require != "" && doc.Left > 0:
		return findingsError{plural(doc.Left, "context") + " not compared, so a widening is not ruled out; see --contexts"}
	case f.require == "" && (len(doc.Groups) > 0 || doc.Left > 0):
		return findingsError{}
	}
	return nil
}

// compare compares what was loaded, in the contexts that the flags ask for.
func (f *diffFlags) compare(std *streams, p *policyPair) (*policydiff.Result, error) {
	context, err := parseContext(f.context)
	if err != nil {
		return nil, err
	}
	std.doing("comparing the answers")
	result, list := policydiff.Compare(p.pairs, p.options(context, f.contexts))
	std.stopProgress()
	if err := f.judge(list); err != nil {
		return nil, err
	}
	if result.Equivalence.Verdict != policydiff.Equivalent {
		result.Left += p.left
	}
	return result, nil
}

// viewsDiff is a comparison of two views in JSON.
type viewsDiff struct {
	Schema      string         `json:"schema"`
	Verdict     string         `json:"verdict"` // over all worlds: different, equivalent or undecided
	Why         string         `json:"why"`
	Widens      bool           `json:"widens"` // some difference is a widening, or cannot be told from one
	Counts      map[string]int `json:"counts"` // groups of each kind
	Entities    int            `json:"entities"`
	Contexts    []contextJSON  `json:"contexts"`
	Left        int            `json:"contexts-left-out"`
	Secrets     []string       `json:"not-compared,omitempty"` // properties whose values no database holds
	Groups      []diffGroup    `json:"groups"`
	Diagnostics []diagnostic   `json:"diagnostics"`
}

// contextJSON is what has to be named for a context. What is active by itself is left out.
type contextJSON struct {
	Env    string      `json:"env,omitempty"`
	Active []entityRef `json:"active"`
}

// diffGroup is one change and all that it befalls. Later says that it befalls what may be
// made in the entities. Without a property, it is the entity that comes or goes.
type diffGroup struct {
	Kind     string      `json:"kind"`
	Taxon    string      `json:"taxon"`
	Type     string      `json:"type"`
	Property string      `json:"property,omitempty"`
	Later    bool        `json:"later,omitempty"`
	Old      diffAnswer  `json:"old"`
	New      diffAnswer  `json:"new"`
	Entities []entityRef `json:"entities"`
	Contexts []int       `json:"contexts"` // indices into the document's contexts
}

// diffAnswer is what one view says. Values holds every possible one where a name that is
// not known yet decides; null is no value.
type diffAnswer struct {
	Values  []*string   `json:"values"`
	Sets    [][]string  `json:"sets,omitempty"`
	Source  string      `json:"source"`
	Because string      `json:"because,omitempty"`
	Absent  bool        `json:"absent,omitempty"` // it exists only because the other view names it
	Rules   []diffCause `json:"rules,omitempty"`
}

// diffCause is a rule, or a fixed constraint of the world.
type diffCause struct {
	*place
	Selector string `json:"selector"`
	Property string `json:"property,omitempty"`
	Value    string `json:"value,omitempty"`
	Fixed    bool   `json:"fixed,omitempty"`
}

func viewsDocument(p *policyPair, r *policydiff.Result) viewsDiff {
	doc := viewsDiff{
		Schema: "umwelt.diff/1", Verdict: r.Equivalence.Verdict.String(), Why: r.Equivalence.Why, Widens: r.Widens(), Counts: map[string]int{},
		Entities: r.Entities, Left: r.Left, Contexts: []contextJSON{}, Groups: []diffGroup{}, Diagnostics: diagnostics(p.diagnostics),
	}
	doc.Secrets = p.secrets()
	for k := policydiff.Widening; k <= policydiff.Neutral; k++ {
		doc.Counts[k.String()] = r.Count(k)
	}
	for _, c := range r.Contexts {
		j := contextJSON{Env: utf8Text(c.Env), Active: []entityRef{}}
		for _, ref := range c.Refs {
			j.Active = append(j.Active, entityRef{Type: ref.Type, ID: utf8Text(ref.ID)})
		}
		doc.Contexts = append(doc.Contexts, j)
	}
	for _, g := range r.Groups {
		j := diffGroup{
			Kind: g.Kind.String(), Taxon: g.Type.Taxon.Name, Type: g.Type.Name, Later: g.Later, Contexts: g.Contexts,
			Old: diffAnswerOf(g.Property, &g.Old), New: diffAnswerOf(g.Property, &g.New),
		}
		if g.Property != nil {
			j.Property = g.Property.Name
		}
		for _, e := range g.Entities {
			j.Entities = append(j.Entities, refOf(e))
		}
		doc.Groups = append(doc.Groups, j)
	}
	return doc
}

func diffAnswerOf(p *registry.Property, a *policydiff.Answer) diffAnswer {
	out := diffAnswer{Values: []*string{}, Source: a.Origin.String(), Because: utf8Text(a.Reason), Absent: a.Absent}
	if p == nil {
		return out
	}
	for _, v := range a.Values {
		if v == nil {
			out.Values = append(out.Values, nil)
			continue
		}
		text := shown(p, v)
		out.Values = append(out.Values, &text)
	}
	if p.Secret {
		out.Because = ""
	} else {
		out.Sets = a.Sets
	}
	for _, c := range a.Causes {
		out.Rules = append(out.Rules, causeOf(p, c))
	}
	return out
}

func causeOf(p *registry.Property, c policydiff.Cause) diffCause {
	switch {
	case c.Fixed != nil:
		return diffCause{place: placeOf(c.Fixed.At), Selector: utf8Text(c.Fixed.Selector.Text), Fixed: true}
	case c.Declaration == nil:
		return diffCause{place: placeOf(c.Rule.At), Selector: utf8Text(c.Rule.Selector.Text)}
	}
	at := c.Declaration.At
	if !at.IsValid() {
		at = c.Rule.At
	}
	return diffCause{place: placeOf(at), Selector: utf8Text(c.Rule.Selector.Text), Property: c.Declaration.Name, Value: declaredText(c.Declaration)}
}
