package vfs

import (
	"strconv"
	"strings"

	"umwelt/diag"
	"umwelt/simulation/roster"
	"umwelt/world"
)

// text is the text of an attribute, "" where the entity has none.
func text(e *world.Entity, name string) string {
	s, _ := e.Attr(name)
	return s
}

// optional is the text of an attribute, nil where the entity has none.
func optional(e *world.Entity, name string) *string {
	if s, ok := e.Attr(name); ok {
		return &s
	}
	return nil
}

// members are the members of a list attribute; ok is false where the entity has none.
func members(e *world.Entity, name string) (list []string, ok bool) {
	a := e.Attribute(name)
	switch {
	case a == nil:
		return nil, false
	case a.List != nil:
		return a.List, true
	}
	return []string{a.Text}, true
}

// facts reads what the world says of a variable. It reports what it cannot read.
func facts(e *world.Entity, list *diag.List) (d roster.Declaration, ok bool) {
	d = roster.Declaration{
		ID:           e.ID,
		Scope:        text(e, "scope"),
		Type:         text(e, "type"),
		Lifetime:     text(e, "lifetime"),
		SemanticType: text(e, "semantic-type"),
		Profile:      text(e, "profile"),
		InitialMode:  text(e, "initial-mode"),
		Expression:   optional(e, "expression"),
		Description:  optional(e, "description"),
		At:           roster.Places{All: e.Provenance.At, Key: map[string]diag.Span{}},
	}
	if id, given := e.Attr("id"); given {
		d.ID = id
	}
	ok = true
	bad := func(format string, args ...any) {
		ok = false
		r := list.Errorf(diag.BadValue, e.Provenance.At, format, args...)
		r.Message = "variable " + diag.Quote(d.ID) + ": " + r.Message
	}
	if s, given := e.Attr("dims"); given {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			bad("dims is an integer, not %s", diag.Quote(s))
		}
		d.Dims = &n
	}
	if axes, given := members(e, "shape"); given {
		d.Shape = []int64{}
		for _, s := range axes {
			n, err := strconv.ParseInt(s, 10, 64)
			if err != nil {
				bad("an axis of the shape is an integer, not %s", diag.Quote(s))
			}
			d.Shape = append(d.Shape, n)
		}
	}
	if values, given := members(e, "initial"); given {
		l, err := initial(values, d.Type)
		if err != nil {
			bad("the initial value %s is no literal: %v", diag.Quote(strings.Join(values, ", ")), err)
		}
		d.Initial = &l
	}
	if params, given := members(e, "initial-params"); given {
		d.InitialParams = []roster.Param{}
		for _, p := range params {
			name, value, _ := strings.Cut(strings.TrimSpace(p), " ")
			l, err := roster.ParseLiteral(value)
			if err != nil {
				bad("the initial parameter %s is not a name and a number", diag.Quote(p))
			}
			d.InitialParams = append(d.InitialParams, roster.Param{Name: name, Value: l})
		}
	}
	return d, ok
}

// initial makes a literal of the members of the attribute. A world file may write a list
// as a list or as one text; a list of one member and that member alone look the same here,
// so a vector or tensor of one element takes either.
func initial(values []string, typ string) (roster.Literal, error) {
	if len(values) == 1 {
		l, err := roster.ParseLiteral(values[0])
		if err != nil || l.Kind == roster.List || !roster.TakesList(typ) {
			return l, err
		}
		return roster.Literal{Kind: roster.List, List: []roster.Literal{l}}, nil
	}
	out := roster.Literal{Kind: roster.List, List: []roster.Literal{}}
	for _, v := range values {
		l, err := roster.ParseLiteral(v)
		if err != nil {
			return roster.Literal{}, err
		}
		out.List = append(out.List, l)
	}
	return out, nil
}
