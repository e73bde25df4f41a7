package roster

import (
	"math"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"umwelt/diag"
)

// object is a mapping whose keys are known.
type object struct {
	at     diag.Span
	values map[string]*yaml.Node
	places map[string]diag.Span
}

func (o *object) node(key string) *yaml.Node { return o.values[key] }

// given is the node of an optional key; an explicit null says the same as no key.
func (o *object) given(key string) *yaml.Node {
	if n := o.values[key]; n != nil && !isNull(n) {
		return n
	}
	return nil
}

// mapping reads a node as a mapping of the allowed keys, with all required ones; nil
// where it is none.
func (r *reader) mapping(n *yaml.Node, what string, allowed, required []string) *object {
	if n.Kind != yaml.MappingNode {
		r.list.Errorf(diag.BadValue, r.at(n), "%s must be a mapping", what)
		return nil
	}
	o := &object{at: r.at(n), values: map[string]*yaml.Node{}, places: map[string]diag.Span{}}
	for i := 0; i+1 < len(n.Content) && !r.full(); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		key, ok := r.text(k, "a key")
		switch {
		case !ok:
		case o.values[key] != nil:
			d := r.list.Errorf(diag.Duplicate, r.at(k), "the key %s stands twice in %s", diag.Quote(key), what)
			d.Related = []diag.Related{{Span: o.places[key], Message: "first here"}}
		case allowed != nil && !slices.Contains(allowed, key):
			d := r.list.Errorf(diag.UnknownKey, r.at(k), "%s has no key %s", what, diag.Quote(key))
			d.Hint = diag.DidYouMean(key, allowed)
		default:
			o.values[key] = v
			o.places[key] = r.at(k)
			if v.Kind == yaml.ScalarNode {
				o.places[key] = r.at(v)
			}
		}
	}
	for _, key := range required {
		if o.values[key] == nil {
			r.list.Errorf(diag.BadEntity, o.at, "%s lacks the key %q", what, key)
		}
	}
	return o
}

var rosterKeys = []string{"version", "evaluation_mode", "debug_logging", "extents", "item_profiles", "declarations"}

func (r *reader) roster(n *yaml.Node) *Roster {
	o := r.mapping(n, "variables", rosterKeys, rosterKeys)
	if o == nil {
		return nil
	}
	out := &Roster{At: Places{All: o.at, Key: o.places}}
	r.setText(o, "version", &out.Version)
	r.setText(o, "evaluation_mode", &out.EvaluationMode)
	if n := o.node("debug_logging"); n != nil {
		if l, ok := r.literal(n, 0); ok && l.Kind == Bool {
			out.DebugLogging = l.Bool
		} else if ok {
			r.list.Errorf(diag.BadValue, r.at(n), "debug_logging must be true or false")
		}
	}
	if n := o.node("extents"); n != nil {
		r.extents(n, &out.Extents)
	}
	r.setTexts(o, "item_profiles", &out.ItemProfiles)
	if n := o.node("declarations"); n != nil {
		if n.Kind != yaml.SequenceNode {
			r.list.Errorf(diag.BadValue, r.at(n), "declarations must be a list")
			return out
		}
		for _, item := range n.Content {
			if r.full() {
				break
			}
			out.Declarations = append(out.Declarations, r.declaration(item))
		}
	}
	return out
}

func (r *reader) extents(n *yaml.Node, e *Extents) {
	var keys []string
	for _, x := range extentKeys {
		keys = append(keys, x.key)
	}
	o := r.mapping(n, "extents", keys, nil)
	if o == nil {
		return
	}
	for _, x := range extentKeys {
		if n := o.given(x.key); n != nil {
			count, ok := r.integer(n, x.key)
			if ok && count < 1 {
				r.list.Errorf(diag.BadValue, r.at(n), "%s must be at least 1", x.key)
			}
			*x.field(e) = count
		}
	}
}

var (
	declarationRequired = []string{"id", "scope", "type", "lifetime", "semantic_type", "readable_by", "writable_by", "exposed_to"}
	declarationKeys     = slices.Concat(declarationRequired, []string{"initial_value", "initial_value_mode",
		"initial_value_params", "dims", "shape", "normalization", "expression", "profile", "description"})
)

func (r *reader) declaration(n *yaml.Node) Declaration {
	o := r.mapping(n, "a declaration", declarationKeys, declarationRequired)
	if o == nil {
		return Declaration{}
	}
	d := Declaration{At: Places{All: o.at, Key: o.places}}
	r.setText(o, "id", &d.ID)
	r.setText(o, "scope", &d.Scope)
	r.setText(o, "type", &d.Type)
	r.setText(o, "lifetime", &d.Lifetime)
	r.setText(o, "semantic_type", &d.SemanticType)
	r.setTexts(o, "readable_by", &d.ReadableBy)
	r.setTexts(o, "writable_by", &d.WritableBy)
	r.setTexts(o, "exposed_to", &d.ExposedTo)
	if n := o.given("profile"); n != nil {
		d.Profile, _ = r.text(n, "profile")
		if d.Profile == "" {
			r.list.Errorf(diag.BadValue, r.at(n), "profile must not be empty")
		}
	}
	if n := o.given("dims"); n != nil {
		if count, ok := r.integer(n, "dims"); ok {
			d.Dims = &count
		}
	}
	if n := o.given("shape"); n != nil {
		d.Shape = r.integers(n, "shape")
	}
	if n := o.node("initial_value"); n != nil {
		if l, ok := r.literal(n, 0); ok {
			d.Initial = &l
		}
	}
	if n := o.given("initial_value_mode"); n != nil {
		d.InitialMode, _ = r.text(n, "initial_value_mode")
		if d.InitialMode == "" {
			r.list.Errorf(diag.BadValue, r.at(n), "initial_value_mode must not be empty")
		}
	}
	if n := o.given("initial_value_params"); n != nil {
		d.InitialParams = r.params(n, "initial_value_params", "")
	}
	if n := o.given("expression"); n != nil {
		if s, ok := r.text(n, "expression"); ok {
			d.Expression = &s
		}
	}
	if n := o.given("normalization"); n != nil {
		d.Normalization = r.normalization(n)
	}
	if n := o.given("description"); n != nil {
		if s, ok := r.text(n, "description"); ok {
			d.Description = &s
		}
	}
	return d
}

func (r *reader) normalization(n *yaml.Node) *Normalization {
	out := &Normalization{Params: r.params(n, "normalization", "kind")}
	if o := r.mapping(n, "normalization", nil, []string{"kind"}); o != nil {
		r.setText(o, "kind", &out.Kind)
	}
	return out
}

// params reads a mapping of names to literals, in order, without the key except. It
// reports nothing that a mapping read of the same node reports.
func (r *reader) params(n *yaml.Node, what, except string) []Param {
	out := []Param{}
	if n.Kind != yaml.MappingNode {
		if except == "" {
			r.list.Errorf(diag.BadValue, r.at(n), "%s must be a mapping", what)
		}
		return out
	}
	if except == "" {
		r.mapping(n, what, nil, nil)
	}
	for i := 0; i+1 < len(n.Content) && !r.full(); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Value == except && except != "" {
			continue
		}
		if l, ok := r.literal(v, 0); ok {
			out = append(out, Param{Name: k.Value, Value: l})
		}
	}
	return out
}

func (r *reader) setText(o *object, key string, into *string) {
	if n := o.node(key); n != nil {
		*into, _ = r.text(n, key)
	}
}

func (r *reader) setTexts(o *object, key string, into *[]string) {
	n := o.node(key)
	if n == nil {
		return
	}
	if n.Kind != yaml.SequenceNode {
		r.list.Errorf(diag.BadValue, r.at(n), "%s must be a list", key)
		return
	}
	for _, item := range n.Content {
		if r.full() {
			return
		}
		s, _ := r.text(item, key)
		*into = append(*into, s)
	}
}

// text reads a scalar that is text to every reader of YAML.
func (r *reader) text(n *yaml.Node, what string) (string, bool) {
	switch {
	case n.Kind != yaml.ScalarNode:
		r.list.Errorf(diag.BadValue, r.at(n), "%s must be text", what)
		return "", false
	case n.Style == 0 && ambiguous(n.Value):
		d := r.list.Errorf(diag.BadValue, r.at(n), "%s must be text, and %s is not text to every reader of YAML", what, diag.Quote(n.Value))
		d.Hint = "put it in quotes"
		return "", false
	}
	return n.Value, true
}

func (r *reader) integer(n *yaml.Node, what string) (int64, bool) {
	l, ok := r.literal(n, 0)
	if ok && l.Kind != Int {
		r.list.Errorf(diag.BadValue, r.at(n), "%s must be an integer, not %s", what, l.Kind)
		return 0, false
	}
	return l.Int, ok
}

func (r *reader) integers(n *yaml.Node, what string) []int64 {
	out := []int64{}
	if n.Kind != yaml.SequenceNode {
		r.list.Errorf(diag.BadValue, r.at(n), "%s must be a list of integers", what)
		return out
	}
	for _, item := range n.Content {
		if r.full() {
			break
		}
		count, _ := r.integer(item, what)
		out = append(out, count)
	}
	return out
}

// literal reads a node as a literal.
func (r *reader) literal(n *yaml.Node, depth int) (Literal, bool) {
	if n.Kind == yaml.SequenceNode && depth < maxDepth {
		out := Literal{Kind: List, List: []Literal{}}
		for _, item := range n.Content {
			l, ok := r.literal(item, depth+1)
			if !ok {
				return Literal{}, false
			}
			out.List = append(out.List, l)
		}
		return out, true
	}
	if n.Kind != yaml.ScalarNode || n.Style != 0 {
		r.list.Errorf(diag.BadValue, r.at(n), "expected null, true, false, a number or a list of these")
		return Literal{}, false
	}
	l, err := plain(n.Value)
	if err != "" {
		r.list.Errorf(diag.BadValue, r.at(n), "%s: %s", diag.Quote(n.Value), err)
		return Literal{}, false
	}
	return l, true
}

// plain reads a plain scalar as every reader of YAML does.
func plain(s string) (Literal, string) {
	switch s {
	case "", "~", "Null", "NULL":
		return Literal{Kind: Null}, ""
	case "True", "TRUE", "False", "FALSE":
		return Literal{Kind: Bool, Bool: s[0] == 'T'}, ""
	case ".inf", ".Inf", ".INF", "-.inf", "-.Inf", "-.INF":
		sign := 1
		if s[0] == '-' {
			sign = -1
		}
		return Literal{Kind: Float, Float: math.Inf(sign)}, ""
	case ".nan", ".NaN", ".NAN":
		return Literal{Kind: Float, Float: math.NaN()}, ""
	}
	l, err := parseScalar(s)
	if err != nil {
		return l, err.Error()
	}
	if l.Kind == Float && !strings.Contains(s, ".") || unsignedExponent(s) {
		return l, `a number with an exponent needs a point and a sign ("1.0e+3"), or some readers take it for text`
	}
	return l, ""
}

// unsignedExponent reports whether a decimal number has an exponent without a sign.
func unsignedExponent(s string) bool {
	i := strings.IndexAny(s, "eE")
	return i > 0 && numeric.MatchString(s) && s[i+1] != '+' && s[i+1] != '-'
}

func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Style == 0 && slices.Contains([]string{"", "~", "null", "Null", "NULL"}, n.Value)
}
