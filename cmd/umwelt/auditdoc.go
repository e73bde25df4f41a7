package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"

	"umwelt"
	"umwelt/cascade"
	"umwelt/explain"
	"umwelt/world"
)

// auditDocument is one report of everything, in JSON.
type auditDocument struct {
	Schema      string              `json:"schema"`
	Version     string              `json:"version"` // of the tool
	World       auditWorld          `json:"world"`
	Answers     string              `json:"answers-digest"` // over every answer
	Sources     []auditSource       `json:"sources"`
	Context     []entityRef         `json:"context"`
	Inventory   []auditType         `json:"inventory"`
	Entities    []auditEntity       `json:"entities"`
	LeftOut     []entityRef         `json:"left-out"` // what exists and the world leaves out
	Groups      []auditGroup        `json:"groups"`
	Rules       []auditRule         `json:"rules"`
	Baseline    *viewsDiff          `json:"baseline,omitempty"`
	Lint        []lintFinding       `json:"lint"`
	Coverage    auditCoverage       `json:"coverage"`
	Diagnostics []diagnostic        `json:"diagnostics"`
	members     map[int][]entityRef // of groups
}

type auditWorld struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
}

// auditSource is a file that was read.
type auditSource struct {
	File   string `json:"file"`
	Bytes  int    `json:"bytes"`
	Digest string `json:"digest"`
}

// auditType counts the entities of a type, and how they came into the world.
type auditType struct {
	Taxon   string         `json:"taxon"`
	Type    string         `json:"type"`
	Number  int            `json:"number"`
	Origins map[string]int `json:"origins"`
}

// auditEntity is one entity with where it came from. Group is an index into the document's
// groups.
type auditEntity struct {
	entityRef
	Classes []string   `json:"classes,omitempty"`
	Parent  *entityRef `json:"parent,omitempty"`
	From    auditFrom  `json:"from"`
	Group   int        `json:"group"`
}

type auditFrom struct {
	Origin string `json:"origin"`
	*place
	By         string `json:"by,omitempty"` // the matcher or collection
	Overridden bool   `json:"overridden,omitempty"`
}

// auditGroup is entities that no property can tell apart, with every answer for them and
// its proof.
type auditGroup struct {
	Taxon      string             `json:"taxon"`
	Type       string             `json:"type"`
	Number     int                `json:"number"`
	Properties []explain.Property `json:"properties"`
}

type auditRule struct {
	*place
	Selector string `json:"selector"`
	Matched  int    `json:"matched"`
	Idle     bool   `json:"idle,omitempty"` // its context does not hold
}

// auditCoverage says how far each target carries each rule.
type auditCoverage struct {
	Targets     []auditTarget `json:"targets"`
	Rules       []checkRule   `json:"rules"`
	Diagnostics []diagnostic  `json:"diagnostics,omitempty"` // what targets complain about
}

type auditTarget struct {
	Target  string         `json:"target"`
	Refused bool           `json:"refused,omitempty"` // it cannot write the policy
	Counts  map[string]int `json:"counts"`            // declarations of each level
	Dropped int            `json:"dropped-restrictions"`
	Summary string         `json:"summary"`
}

func newAudit(p *umwelt.Policy) *auditDocument {
	r := p.Resolution
	w := r.World()
	doc := &auditDocument{
		Schema: "umwelt.audit/1", Version: buildInfo().Version, World: auditWorld{utf8Text(w.Name), w.Digest()},
		Answers: answersDigest(r), Sources: []auditSource{}, Context: contextOf(p), Inventory: []auditType{}, Entities: []auditEntity{},
		LeftOut: []entityRef{}, Groups: []auditGroup{}, Rules: []auditRule{}, Lint: []lintFinding{}, Diagnostics: diagnostics(p.Diagnostics),
		members: map[int][]entityRef{},
	}
	for _, src := range p.Sources {
		sum := sha256.Sum256(src.Text)
		doc.Sources = append(doc.Sources, auditSource{utf8Text(src.Name), len(src.Text), "sha256:" + hex.EncodeToString(sum[:])})
	}
	for _, c := range w.Counts() {
		doc.Inventory = append(doc.Inventory, auditType{c.Type.Taxon.Name, c.Type.Name, c.Number, map[string]int{}})
	}
	doc.addEntities(r)
	for i := range w.Withheld {
		doc.LeftOut = append(doc.LeftOut, entityRef{Type: w.Withheld[i].Type.Name, ID: utf8Text(w.Withheld[i].Path())})
	}
	for _, rule := range p.Bound.Rules {
		doc.Rules = append(doc.Rules, auditRule{placeOf(rule.At), utf8Text(rule.Selector.Text), r.Matched(rule), !r.Holds(rule)})
	}
	return doc
}

func (d *auditDocument) addEntities(r *cascade.Resolution) {
	w := r.World()
	groups := map[int]int{} // by cohort
	for _, i := range r.Order() {
		e := &w.Entities[i]
		cohort := r.Engine().Cohort(int(i))
		g, ok := groups[cohort]
		if !ok {
			g = len(d.Groups)
			groups[cohort] = g
			d.Groups = append(d.Groups, groupOf(r, int(i)))
		}
		d.Groups[g].Number++
		d.members[g] = append(d.members[g], refOf(e))
		at := e.Provenance
		out := auditEntity{entityRef: refOf(e), From: auditFrom{at.Origin.String(), placeOf(at.At), utf8Text(at.By), at.Overridden}, Group: g}
		for _, c := range e.Classes {
			out.Classes = append(out.Classes, utf8Text(c))
		}
		if e.Parent != world.NoParent {
			parent := refOf(&w.Entities[e.Parent])
			out.Parent = &parent
		}
		d.Entities = append(d.Entities, out)
		k := slices.IndexFunc(d.Inventory, func(t auditType) bool { return t.Type == e.Type.Name && t.Taxon == e.Type.Taxon.Name })
		d.Inventory[k].Origins[at.Origin.String()]++
	}
}

func groupOf(r *cascade.Resolution, i int) auditGroup {
	t := r.World().Entities[i].Type
	out := auditGroup{Taxon: t.Taxon.Name, Type: t.Name, Properties: []explain.Property{}}
	for _, p := range t.Properties {
		if e := r.Get(i, p); e.Origin != cascade.None {
			out.Properties = append(out.Properties, explain.Of(r, r.Explain(i, p)))
		}
	}
	return out
}

// answersDigest is a hash of every answer with its source, those for secret properties
// among them: equal digests mean equal answers.
func answersDigest(r *cascade.Resolution) string {
	h := sha256.New()
	for _, i := range r.Order() {
		e := &r.World().Entities[i]
		put(h, e.Type.Taxon.Name, e.Type.Name, e.ID)
		for _, p := range e.Type.Properties {
			got := r.Get(int(i), p)
			if got.Value == nil {
				continue
			}
			put(h, p.Name, got.Origin.String(), got.Value.Text)
			put(h, got.Value.List...)
			for _, s := range got.Sets {
				put(h, s...)
			}
		}
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// put hashes texts so that no two lists of them give the same bytes.
func put(h hash.Hash, texts ...string) {
	fmt.Fprintf(h, "%d:", len(texts))
	for _, s := range texts {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
}
