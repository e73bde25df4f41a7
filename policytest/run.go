package policytest

import (
	"slices"
	"strings"

	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/registry"
	"umwelt/world"
)

// Subject is the policy that a test file speaks of.
type Subject struct {
	Engine *cascade.Engine
	// Pick finds the entities that a selector fits. An error in the list means that there are
	// none; unusable says that the selector itself is wrong.
	Pick func(selector string) (found []Target, unusable bool, list diag.List)
}

// Target is an entity and its index in the world, -1 where it does not exist and is
// answered as if it did.
type Target struct {
	Entity *world.Entity
	Index  int
}

// Result is what became of a file's cases.
type Result struct {
	Cases []CaseResult
}

// CaseResult is what became of one case. Checks counts the answers that were compared.
type CaseResult struct {
	Name     string
	At       diag.Span
	Checks   int
	Failures []Failure
}

// Failed is the number of cases that failed.
func (r *Result) Failed() int {
	n := 0
	for _, c := range r.Cases {
		if len(c.Failures) > 0 {
			n++
		}
	}
	return n
}

// Failure is one answer that is not what the case wants. Where nothing was found to ask
// about, Entity is nil and Message says so. Of a call, Property is the one that decides it,
// nil where none is asked, and Message says how.
type Failure struct {
	At       diag.Span
	Entity   *world.Entity
	Property *registry.Property
	Call     *string
	Want     string
	Got      string
	Message  string
	Proof    cascade.Proof
}

// asked is one answer that a case compares, with all that is needed to ask again.
type asked struct {
	context  int
	target   Target
	property *registry.Property
	call     *registry.Call // in place of a property
	want     expected
	denied   bool // what is wanted of the call
	at       diag.Span
}

// expected is a wanted answer, typed. A nil Value stands for none.
type expected struct {
	value *registry.Value
	sets  [][]string
}

// run is one file against one subject.
type run struct {
	diag.List
	file     *File
	subject  Subject
	contexts []*cascade.Resolution
	refs     [][]cascade.Ref
	known    map[string]int // contexts by their references
	picks    map[string]pick
	passed   []asked
}

// pick is what Subject.Pick gave for a selector.
type pick struct {
	found    []Target
	unusable bool
	list     diag.List
}

// Run asks everything that a file's cases ask. An error in the list makes the file
// unusable: it names what the vocabulary or the world does not have.
func Run(f *File, s Subject) (*Result, diag.List) {
	r := newRun(f, s)
	return r.all(), r.List
}

func newRun(f *File, s Subject) *run {
	return &run{file: f, subject: s, known: map[string]int{}, picks: map[string]pick{}}
}

func (r *run) all() *Result {
	out := &Result{}
	for i := range r.file.Cases {
		c := &r.file.Cases[i]
		res := CaseResult{Name: c.Name, At: c.At}
		if context := r.context(c); context >= 0 {
			for _, check := range c.Checks {
				r.check(context, &check, &res)
			}
		}
		out.Cases = append(out.Cases, res)
	}
	return out
}

// context is the resolution of a case's context, by index, or -1.
func (r *run) context(c *Case) int {
	refs := c.Refs()
	var key strings.Builder
	for _, ref := range refs {
		key.WriteString(ref.Type + "\x00" + ref.ID + "\x01")
	}
	if i, ok := r.known[key.String()]; ok {
		return i
	}
	res, list := r.subject.Engine.Resolve(refs)
	for _, d := range list {
		if d.Severity == diag.Error {
			d.Span = c.At
			for _, a := range c.Context {
				if slices.ContainsFunc(a.IDs, func(id string) bool { return strings.Contains(d.Message, diag.Quote(id)) }) || strings.Contains(d.Message, diag.Quote(a.Type)) {
					d.Span = a.At
				}
			}
			r.List = append(r.List, d)
		}
	}
	i := -1
	if res != nil {
		i = len(r.contexts)
		r.contexts, r.refs = append(r.contexts, res), append(r.refs, refs)
	}
	r.known[key.String()] = i
	return i
}

func (r *run) check(context int, c *Check, out *CaseResult) {
	picked, ok := r.picks[c.Selector.Value]
	if !ok {
		picked.found, picked.unusable, picked.list = r.subject.Pick(c.Selector.Value)
		r.picks[c.Selector.Value] = picked
	}
	found := picked.found
	if picked.list.HasErrors() {
		for _, d := range picked.list {
			switch {
			case picked.unusable:
				d.Span, d.Related = c.Selector.At, nil
				d.Message = diag.Quote(c.Selector.Value) + ": " + d.Message
				r.List = append(r.List, d)
			case d.Severity == diag.Error:
				message := d.Message
				if d.Hint != "" {
					message += " (" + d.Hint + ")"
				}
				f := Failure{At: c.Selector.At, Message: message}
				same := func(old Failure) bool { return old.At == f.At && old.Message == f.Message }
				if !slices.ContainsFunc(out.Failures, same) {
					out.Failures = append(out.Failures, f)
				}
			}
		}
		return
	}
	if c.Call != nil {
		r.call(context, c, found, out)
		return
	}
	wanted := map[*registry.Property]*expected{}
	asks := 0
	for _, t := range found {
		p := t.Entity.Type.Property(c.Property.Value)
		if p == nil {
			continue
		}
		asks++
		want, ok := wanted[p]
		if !ok {
			want = r.expect(p, c)
			wanted[p] = want
		}
		if want == nil {
			continue // it has been reported
		}
		out.Checks++
		a := asked{context: context, target: t, property: p, want: *want, at: c.At}
		if got := a.answer(r.contexts[context], p); want.met(p, &got) {
			r.passed = append(r.passed, a)
		} else {
			out.Failures = append(out.Failures, r.failure(a, &got))
		}
	}
	if asks == 0 {
		r.unknownProperty(c, found)
	}
}

// call holds a call of each entity against the policy.
func (r *run) call(context int, c *Check, found []Target, out *CaseResult) {
	call := registry.ReadCall(c.Call.Value)
	for _, t := range found {
		if !cascade.Callable(t.Entity.Type) {
			r.Errorf(diag.BadValue, c.Selector.At, "%s %s is nothing that is called: no property of it has patterns for calls", t.Entity.Type.Name, diag.Quote(t.Entity.ID))
			return
		}
		out.Checks++
		a := asked{context: context, target: t, call: call, denied: c.Want.Kind == WantDenied, at: c.At}
		verdict := a.verdict(r.contexts[context])
		if verdict.Allowed() != a.denied {
			r.passed = append(r.passed, a)
			continue
		}
		out.Failures = append(out.Failures, r.callFailure(a, c.Call.Value, verdict))
	}
}

func (r *run) callFailure(a asked, call string, verdict cascade.Verdict) Failure {
	words := map[bool]string{false: "allowed", true: "denied"}
	f := Failure{At: a.at, Entity: a.target.Entity, Call: &call, Want: words[a.denied], Got: words[!a.denied]}
	step := verdict.Decisive()
	if step == nil && len(verdict.Steps) > 0 {
		step = &verdict.Steps[len(verdict.Steps)-1] // all hold; the last is the narrowest
	}
	if step != nil {
		f.Property, f.Message = step.Property, step.Why
		f.Proof = r.prove(a.context, a.target, step.Property)
	}
	return f
}

// passes reports whether what is wanted is what r answers.
func (a *asked) passes(r *cascade.Resolution) bool {
	if a.call != nil {
		v := a.verdict(r)
		return v.Allowed() != a.denied
	}
	got := a.answer(r, a.property)
	return a.want.met(a.property, &got)
}

func (a *asked) verdict(r *cascade.Resolution) cascade.Verdict {
	return cascade.Judge(a.target.Entity.Type, func(p *registry.Property) *cascade.Effective {
		e := a.answer(r, p)
		return &e
	}, a.call)
}

func (a *asked) answer(r *cascade.Resolution, p *registry.Property) cascade.Effective {
	if a.target.Index >= 0 {
		return r.Get(a.target.Index, p)
	}
	return *r.ResolveEntity(a.target.Entity)[p.Index]
}

func (r *run) unknownProperty(c *Check, found []Target) {
	var names []string
	for _, t := range found {
		for _, p := range t.Entity.Type.Properties {
			if !slices.Contains(names, p.Name) {
				names = append(names, p.Name)
			}
		}
	}
	d := r.Errorf(diag.UnknownProperty, c.Property.At, "what %s picks has no property %s", diag.Quote(c.Selector.Value), diag.Quote(c.Property.Value))
	if d.Hint = diag.DidYouMean(c.Property.Value, names); d.Hint == "" && names != nil {
		d.Hint = "its properties are " + strings.Join(names, ", ")
	}
}

// expect types a wanted answer for a property; nil where it does not fit.
func (r *run) expect(p *registry.Property, c *Check) *expected {
	reg := r.subject.Engine.Bound().Registry
	problem := func(text string) *expected {
		r.Errorf(diag.BadValue, c.At, "%s.%s: %s", p.Entity.Name, p.Name, text)
		return nil
	}
	directed := p.Type.Kind == registry.Boolean && p.Type.Shape == registry.One && p.Restrictive != registry.NoDirection
	switch {
	case c.Want.Kind == WantNone:
		return &expected{}
	case c.Want.Kind != WantValue && !directed:
		return problem("it is no permission, so it is neither allowed nor denied; write what it is under expect")
	case c.Want.Kind == WantAllowed:
		return &expected{value: p.PermissiveBool()}
	case c.Want.Kind == WantDenied:
		return &expected{value: p.RestrictiveBool()}
	case len(c.Want.Sets) > 1 && p.Comparison != registry.Overlap:
		return problem("only a property whose sets must each be met takes a list of lists")
	}
	t := p.Type
	if p.Repeatable && t.Shape == registry.One {
		t.Shape = registry.List
	}
	out := &expected{}
	for _, members := range c.Want.Sets {
		var v *registry.Value
		var fault string
		if t.Shape == registry.One && !c.Want.List {
			v, fault = reg.TypeText(t, members[0])
		} else {
			v, fault = reg.TypeList(t, members)
		}
		if fault != "" {
			return problem(fault)
		}
		out.value, out.sets = v, append(out.sets, v.List)
	}
	return out
}

// met reports whether an answer is the wanted one.
func (e *expected) met(p *registry.Property, got *cascade.Effective) bool {
	if p.Comparison != registry.Overlap || e.value == nil || got.Value == nil {
		return e.value.Equal(got.Value)
	}
	have := got.Sets
	if have == nil {
		have = [][]string{got.Value.List}
	}
	within := func(a, b [][]string) bool {
		return !slices.ContainsFunc(a, func(x []string) bool {
			return !slices.ContainsFunc(b, func(y []string) bool { return slices.Equal(x, y) })
		})
	}
	return within(have, e.sets) && within(e.sets, have)
}

func (e *expected) text(p *registry.Property) string {
	if len(e.sets) < 2 {
		return Shown(p, e.value)
	}
	var out []string
	for _, s := range e.sets {
		out = append(out, strings.Join(s, ", "))
	}
	return strings.Join(out, "; ")
}

// Shown is a value for people; that of a secret property is not shown.
func Shown(p *registry.Property, v *registry.Value) string {
	switch {
	case v == nil:
		return "no value"
	case p.Secret:
		return "(secret)"
	case v.Text == "":
		return `""`
	}
	return v.Text
}

func (r *run) failure(a asked, got *cascade.Effective) Failure {
	f := Failure{At: a.at, Entity: a.target.Entity, Property: a.property, Want: a.want.text(a.property), Got: Shown(a.property, got.Value)}
	if a.property.Secret && a.want.value != nil && got.Value != nil {
		f.Want, f.Got = "another value, which is a secret", Shown(a.property, got.Value)
	}
	f.Proof = r.prove(a.context, a.target, a.property)
	return f
}

func (r *run) prove(context int, t Target, p *registry.Property) cascade.Proof {
	if t.Index >= 0 {
		return r.contexts[context].Explain(t.Index, p)
	}
	return r.contexts[context].ExplainEntity(t.Entity, p)
}
