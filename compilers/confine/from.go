package confine

import (
	"slices"
	"strconv"
	"strings"

	"umwelt/cascade"
	"umwelt/compilers"
	"umwelt/diag"
	"umwelt/registry"
	"umwelt/world"
)

const (
	dropped = compilers.Dropped
	partial = compilers.Partial
)

// reader carries what the parts of From share.
type reader struct {
	res      *cascade.Resolution
	world    *world.World
	notes    []compilers.Note
	problems diag.List
	options  Options
	byType   [][]int    // the entities of each type, by EntityType.Index
	unsure   unsure     // where the tightest reading holds
	aside    unsure     // where the usual one does
	unknown  []Lowering // directories that hold what the world may not know
	twins    [][]string // see Confinement.Twins
	tied     []Lowering // files of which another name may do less
}

// Options say how a resolution is read.
type Options struct {
	// Usual leaves rules and fixed constraints that fit new files by their names aside for
	// files created later, in place of reading them as if they might fit every name.
	Usual bool
}

// NewFiles is the target option that asks for Options.Usual.
var NewFiles = compilers.Option{Key: "new-files", Default: "tight", Values: []string{"tight", "usual"},
	Description: "what a file created later may be where rules go by its name: tight: the least that any name could get; usual: what its neighbours are, those rules left aside"}

// ForTarget reads the resolution of an input for a target that takes NewFiles.
func ForTarget(in compilers.Input, info compilers.Info) (*Confinement, diag.List) {
	return FromWith(in.Resolution, Options{Usual: in.Option(info, NewFiles.Key) == "usual"})
}

// From is FromWith without any option.
func From(res *cascade.Resolution) (*Confinement, diag.List) { return FromWith(res, Options{}) }

// FromWith reads a resolution. An error among the diagnostics makes the confinement void: it
// is then nil or incomplete, and must not be used.
func FromWith(res *cascade.Resolution, o Options) (*Confinement, diag.List) {
	r := newReader(res, o)
	c := &Confinement{Root: strings.TrimSuffix(r.world.Root, "/")}
	switch {
	case r.typ("file") == nil || r.typ("dir") == nil:
		r.problems.Errorf(diag.Invalid, diag.Span{}, "the vocabulary has no files and directories to confine anything to")
		return c, r.problems
	case r.world.Root == "":
		r.problems.Errorf(diag.Invalid, diag.Span{}, "the world has no project root")
		return c, r.problems
	case strings.ContainsRune(c.Root, 0):
		r.problems.Errorf(diag.BadPath, diag.Span{}, "the project root holds a NUL byte")
		return c, r.problems
	case c.Root == "":
		r.problems.Errorf(diag.BadPath, diag.Span{}, "the project root is /, which the sandbox needs for the system").
			Hint = "give --root a directory"
		return c, r.problems
	}
	tree := r.readTree()
	c.System = r.readMounts(tree)
	var lowered []Lowering
	c.Plan, lowered = Plan(tree)
	c.Tree, c.Twins = tree, r.twins
	c.Usual = o.Usual
	c.ByName = append(r.unsure.most(), r.aside.most()...)
	r.notes = append(r.notes, r.unsure.notes(whyLater, whyFixed)...)
	r.notes = append(r.notes, r.aside.notes(whyUsual, whyUsualFixed)...)
	r.notes = append(r.notes, LoweringNotes(r.unknown)...)
	r.notes = append(r.notes, LoweringNotes(r.tied)...)
	r.notes = append(r.notes, LoweringNotes(lowered)...)
	r.noteLeft(c.Plan)
	c.Env = r.readEnv()
	r.readExec(c)
	c.Network = r.readNetwork()
	c.Limits = r.readLimits()
	c.Notes = r.notes
	return c, r.problems
}

func newReader(res *cascade.Resolution, o Options) *reader {
	r := &reader{res: res, world: res.World(), options: o}
	types := r.world.Registry.Types()
	counts := make([]int, len(types))
	for i := range r.world.Entities {
		counts[r.world.Entities[i].Type.Index]++
	}
	r.byType = make([][]int, len(types))
	for t, n := range counts {
		r.byType[t] = make([]int, 0, n)
	}
	for i := range r.world.Entities {
		t := r.world.Entities[i].Type.Index
		r.byType[t] = append(r.byType[t], i)
	}
	return r
}

// typ is the entity type of the sandbox vocabulary by that name, or nil.
func (r *reader) typ(name string) *registry.EntityType {
	types := r.world.Registry.TypesNamed(name)
	if len(types) == 1 {
		return types[0]
	}
	// Another vocabulary has a type of the same name in a taxon of its own.
	for _, t := range types {
		if t.Taxon.Name == "world" {
			return t
		}
	}
	return nil
}

// of is the entities of a type, by index.
func (r *reader) of(t *registry.EntityType) []int { return r.byType[t.Index] }

func (r *reader) note(at Source, level compilers.Level, why string) {
	r.notes = append(r.notes, at.note(level, why))
}

const (
	whyLeft    = "not in the world"
	whyUnknown = "the world does not list all that lies there, so only what it names appears and nothing can be added"
)

// noteLeft says what had to be covered since the world leaves it out.
func (r *reader) noteLeft(plan []Entry) {
	var paths []string
	for _, e := range plan {
		if e.Why == whyLeft {
			paths = append(paths, e.Path)
		}
	}
	if len(paths) > 0 {
		r.note(Source{}, partial, whyLeft+", so hidden: "+some(paths))
	}
}

// fewPaths is how many paths a note names before it counts the rest.
const fewPaths = 3

// LoweringNotes are the notes on modes that a target cannot give, one a reason and rule.
func LoweringNotes(lowered []Lowering) []compilers.Note {
	type group struct {
		why string
		by  Source
	}
	paths := map[group][]string{}
	var order []group
	slices.SortStableFunc(lowered, byPath)
	for _, l := range lowered {
		g := group{l.Why, l.By}
		if paths[g] == nil {
			order = append(order, g)
		}
		paths[g] = append(paths[g], l.Path)
	}
	var notes []compilers.Note
	for _, g := range order {
		notes = append(notes, g.by.note(partial, g.why+": "+some(paths[g])))
	}
	return notes
}

// some names a few paths and counts the others.
func some(paths []string) string {
	var b strings.Builder
	for i, p := range paths {
		switch {
		case i == fewPaths:
			return b.String() + " and " + strconv.Itoa(len(paths)-fewPaths) + " more"
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(diag.Escape(p))
	}
	return b.String()
}
