package roster

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// Write is the roster as YAML text. Equal rosters give equal bytes. Names, expressions
// and descriptions stand in double quotes with everything but ordinary letters escaped, so
// no text can become YAML syntax or drive a terminal. Role lists are written engine first.
//
// Write does not judge: call Validate before. Bytes that are not UTF-8 become U+FFFD.
func Write(r *Roster) []byte {
	var b bytes.Buffer
	b.WriteString("variables:\n")
	fmt.Fprintf(&b, "  version: %s\n", quote(r.Version))
	fmt.Fprintf(&b, "  evaluation_mode: %s\n", word(r.EvaluationMode))
	fmt.Fprintf(&b, "  debug_logging: %t\n", r.DebugLogging)
	writeExtents(&b, r.Extents)
	fmt.Fprintf(&b, "  item_profiles: %s\n", flow(r.ItemProfiles, quote))
	if len(r.Declarations) == 0 {
		b.WriteString("  declarations: []\n")
		return b.Bytes()
	}
	b.WriteString("  declarations:\n")
	for i := range r.Declarations {
		writeDeclaration(&b, &r.Declarations[i])
	}
	return b.Bytes()
}

func writeExtents(b *bytes.Buffer, e Extents) {
	if e == (Extents{}) {
		b.WriteString("  extents: {}\n")
		return
	}
	b.WriteString("  extents:\n")
	for _, x := range extentKeys {
		if n := *x.field(&e); n != 0 {
			fmt.Fprintf(b, "    %s: %d\n", x.key, n)
		}
	}
}

func writeDeclaration(b *bytes.Buffer, d *Declaration) {
	lead := "    - "
	line := func(key, value string) {
		fmt.Fprintf(b, "%s%s: %s\n", lead, key, value)
		lead = "      "
	}
	line("id", quote(d.ID))
	line("scope", word(d.Scope))
	line("type", word(d.Type))
	line("lifetime", word(d.Lifetime))
	line("semantic_type", word(d.SemanticType))
	line("readable_by", flow(inRoleOrder(d.ReadableBy), word))
	line("writable_by", flow(inRoleOrder(d.WritableBy), word))
	line("exposed_to", flow(inRoleOrder(d.ExposedTo), word))
	if d.Profile != "" {
		line("profile", quote(d.Profile))
	}
	if d.Dims != nil {
		line("dims", strconv.FormatInt(*d.Dims, 10))
	}
	if d.Shape != nil {
		line("shape", flow(d.Shape, func(n int64) string { return strconv.FormatInt(n, 10) }))
	}
	if d.Initial != nil {
		line("initial_value", string(appendLiteral(nil, *d.Initial)))
	}
	if d.InitialMode != "" {
		line("initial_value_mode", word(d.InitialMode))
	}
	if d.InitialParams != nil {
		line("initial_value_params", "{"+params(d.InitialParams)+"}")
	}
	if d.Expression != nil {
		line("expression", quote(*d.Expression))
	}
	if n := d.Normalization; n != nil {
		text := "kind: " + word(n.Kind)
		if len(n.Params) > 0 {
			text += ", " + params(n.Params)
		}
		line("normalization", "{"+text+"}")
	}
	if d.Description != nil {
		line("description", quote(*d.Description))
	}
}

// inRoleOrder is the roles with engine before agent and anything else after them.
func inRoleOrder(roles []string) []string {
	rank := func(r string) int {
		if i := slices.Index(readers, r); i >= 0 {
			return i
		}
		return len(readers)
	}
	out := slices.Clone(roles)
	slices.SortStableFunc(out, func(a, b string) int { return rank(a) - rank(b) })
	return out
}

func params(ps []Param) string {
	var b []byte
	for i, p := range ps {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(b, word(p.Name)+": "...)
		b = appendLiteral(b, p.Value)
	}
	return string(b)
}

func flow[T any](items []T, text func(T) string) string {
	b := []byte("[")
	for i, item := range items {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(b, text(item)...)
	}
	return string(append(b, ']'))
}

// word writes a term of the format without quotes, and anything else as a quoted string.
func word(s string) string {
	if s == "" || len(s) > 64 || ambiguous(s) {
		return quote(s)
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return quote(s)
		}
	}
	return s
}

// quote is s as a double-quoted YAML scalar on one line.
func quote(s string) string {
	b := []byte{'"'}
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r == ' ' || unicode.IsGraphic(r) && !unicode.IsSpace(r):
			b = utf8.AppendRune(b, r)
		case r <= 0xffff:
			b = fmt.Appendf(b, `\u%04X`, r)
		default:
			b = fmt.Appendf(b, `\U%08X`, r)
		}
	}
	return string(append(b, '"'))
}
