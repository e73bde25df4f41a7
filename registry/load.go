package registry

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"umwelt/ast"
	"umwelt/diag"
)

// vocabularyRules are the at-rules that define a vocabulary.
var vocabularyRules = []string{"taxon", "entity", "attribute", "property", "unit", "shorthand"}

func isVocabularyRule(name string) bool {
	return slices.Contains(vocabularyRules, strings.ToLower(name))
}

// Load registers what the vocabulary at-rules of the views define, following @import.
// Definitions may stand in any order: taxa are read first, then entity types, then the
// rest. Other statements are left to Bind.
func (r *Registry) Load(o Options, views ...*ast.View) diag.List {
	var x expander
	x.options = o
	var rules []*ast.AtRule
	for _, v := range views {
		x.vocabulary(v, []string{v.Source.Name}, &rules)
	}
	l := loader{reg: r, List: x.List}
	if len(rules) > maxVocabulary {
		l.Errorf(diag.TooLarge, rules[maxVocabulary].At, "the vocabulary has more than %d definitions", maxVocabulary)
		return l.List
	}
	for _, kind := range []string{"unit", "taxon", "entity", "attribute", "property", "shorthand"} {
		for _, at := range rules {
			if strings.EqualFold(at.Name, kind) {
				l.rule(kind, at)
			}
		}
	}
	l.List = append(l.List, r.Check()...)
	return l.List
}

type loader struct {
	reg *Registry
	diag.List
}

func (l *loader) rule(kind string, at *ast.AtRule) {
	f := fields{at: at, loader: l}
	f.read()
	switch kind {
	case "taxon":
		f.only("description", "axis", "aliases")
		l.add(at, l.reg.AddTaxon(Taxon{
			Name: f.name, Aliases: f.list("aliases"), Axis: f.integer("axis", 1000), Description: f.text("description"), At: at.At,
		}))
	case "entity":
		f.only("taxon", "parent", "ids", "path", "groups", "sole-active", "root", "named", "singleton", "keys", "description")
		t := EntityType{
			Name: f.name, Parents: f.list("parent"), Dotted: f.word("ids", "plain", "dotted") == "dotted",
			PathAttr: f.text("path"), GroupAttr: f.text("groups"), SoleActive: f.boolean("sole-active"), Root: f.boolean("root"),
			Named: f.boolean("named"), Singleton: f.boolean("singleton"), Keys: f.list("keys"), Description: f.text("description"), At: at.At,
		}
		if name := f.text("taxon"); name != "" {
			if t.Taxon = l.reg.Taxon(name); t.Taxon == nil {
				l.Errorf(diag.UnknownTaxon, at.At, "no taxon %s is registered", name).Hint = diag.DidYouMean(name, l.reg.taxonNames())
				return
			}
		}
		l.add(at, l.reg.AddType(t))
	case "attribute":
		f.only("type", "required", "range", "description")
		if t, name, ok := f.member(); ok {
			l.add(at, l.reg.AddAttribute(Attribute{
				Entity: t, Name: name, Type: f.valueType(), Required: f.boolean("required"), Description: f.text("description"), At: at.At,
			}))
		}
	case "property":
		f.only("type", "initial", "comparison", "restrictive", "altitude", "range", "attribute", "gates", "follows",
			"through", "implied-by", "repeatable", "secret", "description")
		if t, name, ok := f.member(); ok {
			l.property(&f, t, name)
		}
	case "unit":
		f.only("kind", "factor")
		u := Unit{Name: f.name, Kind: strings.ToLower(f.text("kind")), Factor: f.number("factor", 1), At: at.At}
		if u.Kind == "" || u.Factor <= 0 {
			l.Errorf(diag.BadVocabulary, at.At, "unit %s needs a kind and a factor above 0", u.Name)
			return
		}
		l.add(at, l.reg.AddUnit(u))
	case "shorthand":
		f.only("entity", "form")
		l.add(at, l.reg.AddShorthand(Shorthand{
			Key: f.name, Entity: f.text("entity"), Form: f.word("form", "list", "scalar", "map"), At: at.At,
		}))
	}
}

func (l *loader) property(f *fields, t *EntityType, name string) {
	p := Property{
		Entity: t, Name: name, Type: f.valueType(), Attribute: f.text("attribute"), Gates: f.text("gates"), Through: f.text("through"),
		ImpliedBy: f.list("implied-by"), Repeatable: f.boolean("repeatable"), Secret: f.boolean("secret"),
		Description: f.text("description"), At: f.at.At,
	}
	p.Restrictive = Direction(f.index("restrictive", "none", "false", "true", "min", "max", "subset", "superset"))
	p.Altitude = Altitude(f.index("altitude", "os", "language", "semantic", "conversational"))
	if f.has("comparison") {
		p.Comparison = Comparison(f.index("comparison", "exact", "<=", ">=", "in", "overlap", "pattern"))
	} else {
		p.Comparison = impliedComparison(name)
	}
	p.Follows = f.text("follows")
	if before, after, ok := strings.Cut(p.Follows, "."); ok {
		p.FollowsType, p.Follows = before, after
	}
	if (p.FollowsType == "") != (p.Through == "") {
		l.Errorf(diag.BadVocabulary, f.at.At, "property %s.%s needs both follows: type.property and through: attribute, or neither", t.Name, name)
	}
	if d := f.values["initial"]; d != nil {
		v, problem := l.reg.typeDeclaration(p.Type, d)
		if problem != "" {
			l.Errorf(diag.BadValue, d.ValueAt, "initial value: %s", problem)
			return
		}
		p.Initial = v
	}
	if problem := p.fits(); problem != "" {
		l.Errorf(diag.BadVocabulary, f.at.At, "property %s.%s: %s", t.Name, name, problem)
		return
	}
	l.add(f.at, l.reg.AddProperty(p))
}

// fits says what comparison or direction the property's type cannot have, or "".
func (p *Property) fits() string {
	numeric := p.Type.Shape == One && slices.Contains([]Kind{Integer, Number, Size, Duration}, p.Type.Kind)
	many := p.Type.Shape != One
	switch {
	case (p.Comparison == AtMost || p.Comparison == AtLeast) && !numeric:
		return "comparison " + p.Comparison.String() + " needs a number"
	case p.Comparison >= In && !many:
		return "comparison " + p.Comparison.String() + " needs a list or a set"
	case (p.Restrictive == Min || p.Restrictive == Max) && !numeric:
		return "direction " + p.Restrictive.String() + " needs a number"
	case (p.Restrictive == Subset || p.Restrictive == Superset) && !many:
		return "direction " + p.Restrictive.String() + " needs a list or a set"
	case (p.Restrictive == False || p.Restrictive == True) && (many || p.Type.Kind != Boolean):
		return "direction " + p.Restrictive.String() + " needs a boolean"
	}
	return ""
}

// impliedComparison is the comparison that a property's name stands for.
func impliedComparison(name string) Comparison {
	name = strings.ToLower(name)
	switch {
	case strings.HasSuffix(name, "-pattern"), name == "only-match":
		return Pattern
	case strings.HasPrefix(name, "max-"):
		return AtMost
	case strings.HasPrefix(name, "min-"):
		return AtLeast
	case strings.HasPrefix(name, "only-"):
		return In
	case strings.HasPrefix(name, "any-of-"):
		return Overlap
	}
	return Exact
}

func (l *loader) add(at *ast.AtRule, err error) {
	var d diag.Diagnostic
	switch {
	case err == nil:
	case errors.As(err, &d):
		l.List = append(l.List, d)
	default:
		l.Errorf(diag.BadVocabulary, at.At, "%v", err)
	}
}

func (r *Registry) taxonNames() []string {
	var out []string
	for _, t := range r.taxa {
		out = append(append(out, t.Name), t.Aliases...)
	}
	return out
}

// fields are the declarations of one vocabulary at-rule.
type fields struct {
	*loader
	at     *ast.AtRule
	name   string
	values map[string]*ast.Declaration
}

func (f *fields) read() {
	f.values = map[string]*ast.Declaration{}
	if len(f.at.Prelude.Values) == 1 {
		f.name = partText(f.at.Prelude.Values[0])
	}
	if f.name == "" || strings.ContainsAny(f.name, " \t\n") {
		f.Errorf(diag.BadVocabulary, f.at.At, "@%s needs one name", f.at.Name)
	}
	if f.at.Block == nil {
		f.Errorf(diag.BadVocabulary, f.at.At, "@%s needs a block", f.at.Name)
		return
	}
	for _, item := range f.at.Block.Items {
		switch d := item.(type) {
		case *ast.Comment:
		case *ast.Declaration:
			key := strings.ToLower(d.Property)
			if old := f.values[key]; old != nil {
				dup := f.Errorf(diag.Duplicate, d.At, "%s stands twice", key)
				dup.Related = []diag.Related{{Span: old.At, Message: "first here"}}
			}
			f.values[key] = d
		default:
			f.Errorf(diag.BadVocabulary, item.Span(), "only declarations may stand in @%s", f.at.Name)
		}
	}
}

// only reports fields that the at-rule does not know.
func (f *fields) only(names ...string) {
	for _, item := range f.declarations() {
		if !slices.Contains(names, strings.ToLower(item.Property)) {
			f.Errorf(diag.BadVocabulary, item.PropertyAt, "@%s has no field %s", f.at.Name, item.Property).Hint = diag.DidYouMean(item.Property, names)
		}
	}
}

func (f *fields) declarations() []*ast.Declaration {
	var out []*ast.Declaration
	if f.at.Block != nil {
		for _, item := range f.at.Block.Items {
			if d, ok := item.(*ast.Declaration); ok {
				out = append(out, d)
			}
		}
	}
	return out
}

func (f *fields) has(key string) bool { return f.values[key] != nil }

func (f *fields) text(key string) string {
	d := f.values[key]
	if d == nil {
		return ""
	}
	if len(d.Values) == 1 {
		return partText(d.Values[0])
	}
	return foldSpace(d.Raw)
}

func (f *fields) list(key string) []string {
	d := f.values[key]
	if d == nil {
		return nil
	}
	var out []string
	for _, v := range d.Values {
		out = append(out, partText(v))
	}
	return out
}

func (f *fields) boolean(key string) bool { return f.word(key, "false", "true") == "true" }

// word is the value of a field that takes one of a few words; the first is the default.
func (f *fields) word(key string, words ...string) string { return words[f.index(key, words...)] }

// index is the position of the field's word in words; the first is the default.
func (f *fields) index(key string, words ...string) int {
	if !f.has(key) {
		return 0
	}
	i := slices.Index(words, strings.ToLower(f.text(key)))
	if i < 0 {
		f.Errorf(diag.BadVocabulary, f.values[key].ValueAt, "%s is one of %s", key, joinWords(words)).Hint = diag.DidYouMean(f.text(key), words)
		return 0
	}
	return i
}

func (f *fields) integer(key string, otherwise int) int {
	if !f.has(key) {
		return otherwise
	}
	n, err := strconv.Atoi(f.text(key))
	if err != nil {
		f.Errorf(diag.BadVocabulary, f.values[key].ValueAt, "%s is a whole number", key)
	}
	return n
}

func (f *fields) number(key string, otherwise float64) float64 {
	if !f.has(key) {
		return otherwise
	}
	n, err := strconv.ParseFloat(f.text(key), 64)
	if err != nil {
		f.Errorf(diag.BadVocabulary, f.values[key].ValueAt, "%s is a number", key)
	}
	return n
}

// member takes "type.name" (or "taxon|type.name") apart.
func (f *fields) member() (t *EntityType, name string, ok bool) {
	typ, name, found := strings.Cut(f.name, ".")
	if !found || name == "" {
		f.Errorf(diag.BadVocabulary, f.at.Prelude.At, "@%s is named type.name", f.at.Name)
		return nil, "", false
	}
	t, problem := f.reg.typeNamed(typ, nil)
	if problem != nil {
		problem.Span, problem.Severity = f.at.Prelude.At, diag.Error
		f.List = append(f.List, *problem)
		return nil, "", false
	}
	return t, name, true
}

// typeNamed finds the type that a name stands for, as "type" or "taxon|type"; within is
// the taxon of an enclosing block, tried first. The problem has no span.
func (r *Registry) typeNamed(name string, within *Taxon) (*EntityType, *diag.Diagnostic) {
	taxon, typ, qualified := strings.Cut(name, "|")
	if !qualified {
		typ = name
	} else if within = r.Taxon(taxon); within == nil {
		return nil, &diag.Diagnostic{
			Severity: diag.Warning, Code: diag.UnknownTaxon, Message: "no taxon " + taxon + " is registered",
			Hint: diag.DidYouMean(taxon, r.taxonNames()),
		}
	}
	found := r.TypesNamed(typ)
	for _, t := range found {
		if t.Taxon == within {
			return t, nil
		}
	}
	switch {
	case len(found) == 0 || qualified:
		return nil, &diag.Diagnostic{
			Severity: diag.Warning, Code: diag.UnknownType, Message: "no entity type " + name + " is registered",
			Hint: diag.DidYouMean(typ, r.typeNames()),
		}
	case len(found) > 1:
		var candidates []string
		for _, t := range found {
			candidates = append(candidates, t.Taxon.Name+"|"+t.Name)
		}
		return nil, &diag.Diagnostic{
			Severity: diag.Error, Code: diag.AmbiguousType, Message: fmt.Sprintf("%s is registered by %d taxa", typ, len(found)),
			Hint: "write " + joinWords(candidates),
		}
	}
	return found[0], nil
}

func (r *Registry) typeNames() []string {
	var out []string
	for _, t := range r.types {
		out = append(out, t.Name)
	}
	return out
}

// valueType reads the type and range fields.
func (f *fields) valueType() ValueType {
	d := f.values["type"]
	if d == nil {
		if strings.EqualFold(f.at.Name, "property") {
			f.Errorf(diag.BadVocabulary, f.at.At, "property %s needs a type", f.name)
		}
		return ValueType{Kind: Text}
	}
	t, ok := parseType(foldSpace(d.Raw))
	if !ok {
		f.Errorf(diag.BadVocabulary, d.ValueAt, "%s is no value type", diag.Quote(d.Raw)).Hint =
			"types are boolean, integer, number, string, size, duration, path, glob, identifier, enum(a, b), command, list of T and set of T"
		return ValueType{Kind: Text}
	}
	if r := f.values["range"]; r != nil {
		f.rangeOf(&t, r)
	}
	return t
}

func (f *fields) rangeOf(t *ValueType, d *ast.Declaration) {
	ends := strings.Fields(d.Raw)
	one := *t
	one.Shape = One
	if len(ends) == 2 {
		low, problem := f.reg.typeNumber(one, ends[0])
		if problem == "" {
			var high *Value
			if high, problem = f.reg.typeNumber(one, ends[1]); problem == "" && low.Num <= high.Num {
				t.Min, t.Max, t.HasRange = low.Num, high.Num, true
				return
			}
		}
	}
	f.Errorf(diag.BadVocabulary, d.ValueAt, "a range is the lowest and the highest number")
}

// parseType reads a value type as a vocabulary writes it.
func parseType(s string) (t ValueType, ok bool) {
	lower := strings.ToLower(s)
	for prefix, shape := range map[string]Shape{"list of ": List, "set of ": Set} {
		if strings.HasPrefix(lower, prefix) {
			t, ok = parseType(s[len(prefix):])
			ok = ok && t.Shape == One
			t.Shape = shape
			return t, ok
		}
	}
	if strings.HasPrefix(lower, "enum(") && strings.HasSuffix(s, ")") {
		for _, w := range strings.Split(s[len("enum("):len(s)-1], ",") {
			w = strings.Trim(strings.TrimSpace(w), `"'`)
			if w == "" || slices.Contains(t.Enum, w) {
				return t, false
			}
			t.Enum = append(t.Enum, w)
		}
		t.Kind = Enum
		return t, true
	}
	for k := Boolean; k <= Command; k++ {
		if k != Enum && lower == k.String() {
			return ValueType{Kind: k}, true
		}
	}
	return t, false
}
