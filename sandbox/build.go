package sandbox

import (
	"umwelt/ast"
	"umwelt/diag"
)

// compound makes a compound selector of a type and tests.
func compound(at diag.Span, typ string, tests ...ast.Simple) *ast.Compound {
	return &ast.Compound{At: at, Type: typ, TypeAt: at, Simples: tests}
}

// attr is an attribute test.
func attr(at diag.Span, name, op, value string) ast.Simple {
	return ast.Simple{At: at, Kind: ast.Attribute, Name: name, Op: op, Value: value}
}

// chain joins compounds as descendants.
func chain(at diag.Span, parts ...*ast.Compound) *ast.Selector {
	s := &ast.Selector{At: at, Compounds: parts, Combinators: make([]ast.Combinator, len(parts))}
	for i := range parts[1:] {
		s.Combinators[i+1] = ast.Descendant
	}
	return s
}

// rule makes a rule of one selector and declarations.
func rule(at diag.Span, sel *ast.Selector, items ...ast.Node) *ast.Rule {
	return &ast.Rule{At: at, Selectors: []*ast.Selector{sel}, Block: &ast.Block{At: at, Items: items}}
}

// set makes "property: value;" that stands where from does.
func set(from *ast.Declaration, property, value string) *ast.Declaration {
	return &ast.Declaration{
		At: from.At, Property: property, PropertyAt: from.PropertyAt, Raw: value, ValueAt: from.ValueAt,
		Values: []ast.Value{{At: from.ValueAt, Kind: ast.String, Text: value, Raw: value}}, Flag: from.Flag, FlagAt: from.FlagAt,
	}
}

// text is what one part of a value says, a string decoded and anything else as written.
func text(v ast.Value) string {
	if v.Kind == ast.String || v.Kind == ast.Words {
		return v.Text
	}
	return v.Raw
}
