package parser

import (
	"strconv"
	"strings"

	"umwelt/ast"
	"umwelt/diag"
)

// declaration reads "property: values !flag".
func (p *parser) declaration(base int, it item) {
	from, end := it.from, it.end
	name := p.toks[from]
	colon := from + 1
	ok := true
	switch {
	case name.kind != tIdent:
		p.unexpected(from, "a property name")
		ok = false
	case colon == end || p.toks[colon].kind != ':':
		p.unexpected(colon, `":" behind the property name`)
		ok = false
	}
	if !ok {
		p.dropComments(it)
		return
	}
	d := p.slabs.declarations.new()
	vEnd := end
	if vEnd-2 > colon && p.toks[vEnd-2].kind == '!' && p.toks[vEnd-1].kind == tIdent {
		vEnd -= 2
		flag := p.toks[vEnd+1]
		d.Flag = strings.ToLower(decode(p.text[flag.start:flag.end], false))
	}
	if colon+1 == vEnd {
		p.unexpected(vEnd, "a value")
		p.dropComments(it)
		return
	}
	p.clean(from, end)
	var values []ast.Value
	if values, ok = p.valueList(colon+1, vEnd, false); !ok {
		p.dropComments(it)
		return
	}
	d.At.Source, d.At.Start = p.src, p.lines.pos(name.start)
	d.PropertyAt = diag.Span{Source: p.src, Start: d.At.Start, End: p.lines.pos(name.end)}
	d.Property = decode(p.text[name.start:name.end], false)
	d.Raw = p.raw(colon+1, vEnd)
	d.ValueAt = p.span(p.toks[colon+1].start, p.toks[vEnd-1].end)
	d.Values = values
	if d.Flag != "" {
		d.FlagAt = p.span(p.toks[vEnd].start, p.toks[end-1].end)
	}
	if t := p.toks[end]; t.kind == ';' {
		d.At.End = p.lines.pos(t.end)
	} else {
		d.At.End = p.lines.pos(p.toks[end-1].end)
	}
	d.BlankBefore = p.blankBefore(base, name.start)
	p.nodes = append(p.nodes, d)
	p.tailComments(base, it)
}

// valueList reads the comma-separated parts from token i up to j, which are at least one.
// Parts that are arguments may be keyed: "key=value".
func (p *parser) valueList(i, j int, keyed bool) ([]ast.Value, bool) {
	if k := p.partEnd(i, j); k == j && k > i {
		out := p.slabs.values.take(1)
		return out, p.part(&out[0], i, j, keyed)
	}
	base := len(p.values)
	ok := true
	for i <= j && ok {
		k := p.partEnd(i, j)
		if k == i {
			p.unexpected(k, "a value").Hint = "put a value that holds commas in quotes"
			ok = false
			break
		}
		var v ast.Value
		ok = p.part(&v, i, k, keyed)
		p.values = append(p.values, v)
		i = k + 1
	}
	var out []ast.Value
	if ok {
		out = p.slabs.values.copyOf(p.values[base:])
	}
	p.values = p.values[:base]
	return out, ok
}

// partEnd is the comma that ends the part at token i, or j.
func (p *parser) partEnd(i, j int) int {
	for i < j && p.toks[i].kind != ',' {
		i = p.after(i)
	}
	return i
}

// part reads one part of a list.
func (p *parser) part(v *ast.Value, i, j int, keyed bool) bool {
	if keyed && i+2 < j && p.toks[i].kind == tIdent && p.toks[i+1].kind == '=' && p.toks[i+2].kind != '=' {
		v.Key = decode(p.text[p.toks[i].start:p.toks[i].end], false)
		i += 2
	}
	return p.value(v, i, j)
}

// value reads what a part is, its key aside.
func (p *parser) value(v *ast.Value, i, j int) bool {
	first := p.toks[i]
	v.At, v.Raw = p.span(first.start, p.toks[j-1].end), p.raw(i, j)
	switch {
	case j == i+1 && first.kind == tString:
		v.Kind = ast.String
		v.Text = decode(p.text[first.start+1:first.end-1], true)
	case j == i+1 && first.kind == tNumber:
		return p.number(v, first)
	case j == i+1 && first.kind == tURL:
		v.Kind, v.Text = ast.Function, "url"
		v.Args = p.urlArgs(first)
	case first.kind == '(' && int(first.aux) == j-1:
		v.Kind = ast.Function
		return p.args(v, i+1, j-1)
	case first.kind == tIdent && i+1 < j && p.toks[i+1].kind == '(' && p.glued(i+1) && int(p.toks[i+1].aux) == j-1:
		v.Kind = ast.Function
		v.Text = strings.ToLower(decode(p.text[first.start:first.end], false))
		return p.args(v, i+2, j-1)
	default:
		v.Kind = ast.Words
		v.Text = p.words(i, j)
	}
	return true
}

func (p *parser) number(v *ast.Value, t token) bool {
	v.Kind = ast.Number
	v.Text = p.text[t.start:t.end]
	digits := p.text[t.start:t.aux]
	v.Unit = decode(p.text[t.aux:t.end], false)
	if len(digits) == 1 {
		v.Number = float64(digits[0] - '0')
		return true
	}
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		p.errorf(diag.BadValue, t.start, t.end, "the number is out of range")
		return false
	}
	v.Number = n
	return true
}

// args reads the arguments between the parentheses of a function.
func (p *parser) args(v *ast.Value, i, j int) (ok bool) {
	if i == j {
		return true
	}
	v.Args, ok = p.valueList(i, j, true)
	return ok
}

// urlArgs is the unquoted content of a url token as one argument, or none.
func (p *parser) urlArgs(t token) []ast.Value {
	start, end := t.start+4, t.end-1
	for start < end && is(p.text[start], cSpace) {
		start++
	}
	for start < end && is(p.text[end-1], cSpace) {
		end--
	}
	if start == end {
		return nil
	}
	raw := p.text[start:end]
	return p.slabs.values.copyOf([]ast.Value{{At: p.span(start, end), Kind: ast.Words, Text: decode(raw, false), Raw: raw}})
}

// words is a run of tokens with the white space and comments between them as one blank.
func (p *parser) words(i, j int) string {
	plain := true
	for k := i + 1; k < j && plain; k++ {
		gap := p.toks[k].start - p.toks[k-1].end
		plain = gap == 0 || gap == 1 && p.text[p.toks[k-1].end] == ' '
	}
	if plain {
		return p.raw(i, j)
	}
	var b strings.Builder
	for k := i; k < j; k++ {
		if k > i && !p.glued(k) {
			b.WriteByte(' ')
		}
		b.WriteString(p.raw(k, k+1))
	}
	return b.String()
}
