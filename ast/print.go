package ast

import (
	"io"
	"strings"
	"unicode/utf8"
)

// maxColumns is how wide a line may be before a one-line block or selector list is laid
// out over several.
const maxColumns = 100

// Print writes the view in its canonical layout. Comments and blank lines between items
// are kept. What was written on one line, declarations side by side or a block of nothing
// but declarations, stays there while it fits. Values and preludes are written as they
// were read, since white space in them can mean something.
//
// Reading what Print wrote gives the same tree, and printing that the same text, for
// every view that was read without an error.
func Print(w io.Writer, v *View) error {
	var p printer
	p.items(v.Statements, 0, true)
	if p.b.Len() > 0 {
		p.b.WriteByte('\n')
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

type printer struct{ b strings.Builder }

func (p *printer) items(items []Node, indent int, top bool) {
	for i, n := range items {
		var before Node
		if i > 0 {
			before = items[i-1]
		}
		text := p.node(n, indent)
		switch {
		case p.sameLine(before, n, text, top):
			p.b.WriteByte(' ')
		default:
			if i > 0 || !top {
				p.b.WriteByte('\n')
			}
			if i > 0 && blankBefore(n) {
				p.b.WriteByte('\n')
			}
			p.indent(indent)
		}
		p.b.WriteString(text)
		if b := BlockOf(n); b != nil && !p.oneLine(n, b, text, indent) {
			p.b.WriteString(" {")
			p.items(b.Items, indent+1, false)
			p.b.WriteByte('\n')
			p.indent(indent)
			p.b.WriteByte('}')
		}
	}
}

func (p *printer) indent(n int) {
	for range n {
		p.b.WriteString("  ")
	}
}

// sameLine reports whether n follows the node before it, or the brace of its block, on
// the same line.
func (p *printer) sameLine(before, n Node, text string, top bool) bool {
	switch n := n.(type) {
	case *Comment:
		if c, ok := before.(*Comment); ok && !strings.HasPrefix(c.Text, "/*") {
			return false
		}
		return n.Trailing && (before != nil || !top)
	case *Declaration:
		d, ok := before.(*Declaration)
		if !ok || n.BlankBefore || d.At.End.Line != n.At.Start.Line || n.At.Start.Line == 0 {
			return false
		}
		return !strings.Contains(d.Raw, "\n") && !strings.Contains(text, "\n") && p.column()+1+width(text) <= maxColumns
	}
	return false
}

// column is the width of the line being written.
func (p *printer) column() int {
	s := p.b.String()
	return width(s[strings.LastIndexByte(s, '\n')+1:])
}

func width(s string) int { return utf8.RuneCountInString(s) }

func blankBefore(n Node) bool {
	switch n := n.(type) {
	case *Comment:
		return n.BlankBefore
	case *Rule:
		return n.BlankBefore
	case *AtRule:
		return n.BlankBefore
	case *Declaration:
		return n.BlankBefore
	}
	return false
}

// node is the text of a node without its block.
func (p *printer) node(n Node, indent int) string {
	switch n := n.(type) {
	case *Comment:
		return n.Text
	case *Rule:
		return ruleHead(n, indent)
	case *AtRule:
		return atRuleHead(n)
	case *Declaration:
		return formatDeclaration(n)
	}
	return ""
}

func ruleHead(r *Rule, indent int) string {
	texts := make([]string, len(r.Selectors))
	for i, s := range r.Selectors {
		texts[i] = FormatSelector(s)
	}
	line := strings.Join(texts, ", ")
	if 2*indent+width(line)+len(" {") > maxColumns {
		line = strings.Join(texts, ",\n"+strings.Repeat("  ", indent))
	}
	return line
}

func atRuleHead(a *AtRule) string {
	text := "@" + formatIdent(a.Name, false)
	prelude := a.Prelude.Raw
	if prelude == "" {
		prelude = formatValues(a.Prelude.Values)
	}
	if prelude != "" && prelude[0] != '(' {
		text += " "
	}
	text += prelude
	if a.Block == nil {
		text += ";"
	}
	return text
}

func formatDeclaration(d *Declaration) string {
	value := d.Raw
	if value == "" {
		value = formatValues(d.Values)
	}
	text := formatIdent(d.Property, false) + ": " + value
	if d.Flag != "" {
		text += " !" + formatIdent(d.Flag, false)
	}
	return text + ";"
}

// oneLine writes the block of n, whose head has been written, behind it where the block
// is empty, or stood on one line, holds declarations only and fits.
func (p *printer) oneLine(n Node, b *Block, head string, indent int) bool {
	if len(b.Items) == 0 {
		p.b.WriteString(" {}")
		return true
	}
	if n.Span().Start.Line != b.At.End.Line || strings.Contains(head, "\n") {
		return false
	}
	text := " {"
	for _, item := range b.Items {
		d, ok := item.(*Declaration)
		if !ok {
			return false
		}
		text += " " + formatDeclaration(d)
		if len(text) > 4*maxColumns || strings.Contains(text, "\n") {
			return false
		}
	}
	text += " }"
	if 2*indent+width(head)+width(text) > maxColumns {
		return false
	}
	p.b.WriteString(text)
	return true
}
