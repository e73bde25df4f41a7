package registry

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"umwelt/ast"
	"umwelt/diag"
)

// String is the type as a vocabulary writes it, with its range.
func (t ValueType) String() string {
	s := t.Kind.String()
	if t.Kind == Enum {
		s = "enum(" + strings.Join(t.Enum, ", ") + ")"
	}
	switch t.Shape {
	case List:
		s = "list of " + s
	case Set:
		s = "set of " + s
	}
	if t.HasRange {
		s += " from " + t.scalar(t.Min) + " to " + t.scalar(t.Max)
	}
	return s
}

func (t ValueType) scalar(n float64) string {
	switch t.Kind {
	case Size:
		return formatSize(n)
	case Duration:
		return formatDuration(n)
	}
	return formatNumber(n)
}

// TypeText types one text, such as an attribute's value in a world file. problem says in
// a few words why it does not fit, and is "" where it fits. For a list or set, text is
// its only member; use TypeList for several.
func (r *Registry) TypeText(t ValueType, text string) (v *Value, problem string) {
	if t.Shape != One {
		return r.TypeList(t, []string{text})
	}
	return r.typeOne(t, text)
}

// maxMembers bounds a list or set: what combines lists compares them member by member.
const maxMembers = 1 << 14

// TypeList types the members of a list or set. A single value is not a list.
func (r *Registry) TypeList(t ValueType, members []string) (v *Value, problem string) {
	if t.Shape == One {
		return nil, "a list does not fit " + t.String()
	}
	if len(members) > maxMembers {
		return nil, fmt.Sprintf("%d members are too many; %d are the most", len(members), maxMembers)
	}
	one := t
	one.Shape = One
	list := make([]string, 0, len(members))
	for _, m := range members {
		v, problem := r.typeOne(one, m)
		if problem != "" {
			return nil, problem
		}
		list = append(list, v.Text)
	}
	return NewList(t.Shape, list), ""
}

// NewList makes a list or set value of canonical member texts.
func NewList(shape Shape, list []string) *Value {
	if shape == Set {
		list = slices.Clone(list)
		slices.Sort(list)
		list = slices.Compact(list)
	}
	if list == nil {
		list = []string{}
	}
	return &Value{Text: strings.Join(list, ", "), List: list}
}

func (r *Registry) typeOne(t ValueType, text string) (*Value, string) {
	if strings.ContainsRune(text, 0) {
		return nil, "a NUL byte cannot stand in a value"
	}
	switch t.Kind {
	case Boolean:
		switch strings.ToLower(text) {
		case "true":
			return &Value{Text: "true", Num: 1}, ""
		case "false":
			return &Value{Text: "false"}, ""
		}
	case Integer, Number, Size, Duration:
		return r.typeNumber(t, text)
	case Enum:
		if slices.Contains(t.Enum, text) {
			return &Value{Text: text}, ""
		}
		if near := diag.Suggest(text, t.Enum); near != "" {
			return nil, fmt.Sprintf("%s is not %s; did you mean %s?", diag.Quote(text), t, near)
		}
	case Path:
		return typePath(text)
	case Glob:
		clean := strings.TrimPrefix(text, "./")
		if clean == "" || !doublestar.ValidatePattern(clean) {
			return nil, diag.Quote(text) + " is not a valid glob"
		}
		if hasDotDot(clean) {
			return nil, diag.Quote(text) + " has a .. in it"
		}
		return &Value{Text: clean}, ""
	case Identifier:
		if text != "" && !strings.ContainsAny(text, " \t\r\n\f") {
			return &Value{Text: text}, ""
		}
	case Text, Command:
		return &Value{Text: text}, ""
	}
	return nil, fmt.Sprintf("%s is not %s", diag.Quote(text), t)
}

// typePath refuses a path that climbs, and writes it without a final "/".
func typePath(text string) (*Value, string) {
	clean := cleanPath(text)
	if len(clean) > 1 {
		clean = strings.TrimSuffix(clean, "/")
	}
	switch {
	case clean == "":
		return nil, "an empty text is not a path"
	case hasDotDot(clean):
		return nil, diag.Quote(text) + " has a .. in it"
	}
	return &Value{Text: clean}, ""
}

// cleanPath leaves out "." segments and doubled slashes. A leading and a final slash stay,
// so that it serves for prefixes too.
func cleanPath(text string) string {
	for strings.Contains(text, "//") {
		text = strings.ReplaceAll(text, "//", "/")
	}
	for strings.HasPrefix(text, "./") {
		text = text[2:]
	}
	for strings.Contains(text, "/./") {
		text = strings.ReplaceAll(text, "/./", "/")
	}
	return strings.TrimPrefix(strings.TrimSuffix(text, "/."), "./")
}

func hasDotDot(path string) bool {
	return strings.Contains(path, "..") && slices.Contains(strings.Split(path, "/"), "..")
}

func (r *Registry) typeNumber(t ValueType, text string) (*Value, string) {
	n, unit, ok := splitNumber(text)
	if !ok {
		return nil, fmt.Sprintf("%s is not %s", diag.Quote(text), t)
	}
	kind := map[Kind]string{Size: sizeUnit, Duration: durationUnit}[t.Kind]
	switch u := r.unitNamed[strings.ToLower(unit)]; {
	case unit == "" && kind != "" && n != 0:
		return nil, fmt.Sprintf("%s needs a unit: %s", text, joinWords(r.unitNames(kind)))
	case unit == "":
	case u == nil:
		return nil, fmt.Sprintf("%s is not a unit%s", diag.Quote(unit), suggestUnit(unit, r.unitNames(kind)))
	case kind != "" && u.Kind != kind:
		return nil, fmt.Sprintf("%s is not a unit of %s: use %s", unit, kind, joinWords(r.unitNames(kind)))
	case kind == "" && (u.Kind == sizeUnit || u.Kind == durationUnit):
		return nil, fmt.Sprintf("%s is a unit of %s, and %s is wanted", unit, u.Kind, t)
	default:
		n *= u.Factor
	}
	whole := n
	if t.Kind == Duration {
		whole = n / 1e6 // a duration is whole milliseconds
	}
	switch {
	case t.Kind != Number && whole != math.Trunc(whole):
		if t.Kind == Integer {
			return nil, text + " is not a whole number"
		}
		return nil, fmt.Sprintf("%s is no whole number of %s", text, map[Kind]string{Size: "bytes", Duration: "milliseconds"}[t.Kind])
	case math.Abs(whole) >= largest:
		return nil, text + " is too large"
	case (t.Kind == Size || t.Kind == Duration) && n < 0:
		return nil, text + " is negative"
	case t.HasRange && (n < t.Min || n > t.Max):
		return nil, fmt.Sprintf("%s is out of range: %s is wanted", text, t)
	}
	return &Value{Text: t.scalar(n), Num: n}, ""
}

func suggestUnit(unit string, names []string) string {
	if s := diag.Suggest(unit, names); s != "" {
		return "; did you mean " + s + "?"
	}
	if len(names) > 0 {
		return ": use " + joinWords(names)
	}
	return ""
}

// typeDeclaration types the value of a declaration for a property.
func (r *Registry) typeDeclaration(t ValueType, d *ast.Declaration) (*Value, string) {
	if len(d.Values) == 0 {
		return nil, "a value is missing"
	}
	if t.Shape != One {
		if len(d.Values) == 1 && d.Values[0].Kind == ast.Words && strings.EqualFold(d.Values[0].Text, "none") {
			return NewList(t.Shape, nil), ""
		}
		members := make([]string, len(d.Values))
		for i, v := range d.Values {
			members[i] = partText(v)
		}
		return r.TypeList(t, members)
	}
	if len(d.Values) == 1 {
		return r.typeOne(t, partText(d.Values[0]))
	}
	if t.Kind == Command || t.Kind == Text {
		return r.typeOne(t, foldSpace(d.Raw))
	}
	return nil, "one value is wanted, not a list"
}

// partText is what a part of a value says: a string decoded, a number as written, words
// as they are.
func partText(v ast.Value) string {
	switch v.Kind {
	case ast.String, ast.Words:
		return v.Text
	}
	return v.Raw
}

// foldSpace turns every run of white space into one blank.
func foldSpace(s string) string { return strings.Join(strings.Fields(s), " ") }
