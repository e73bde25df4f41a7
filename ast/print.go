package ast

import (
	"io"
	"strings"
	"unicode/utf8"
)

// What was written on one line stays there, unless it is wider than maxColumns. A list of
// selectors stands on one line as long as that is no wider than selectorColumns.
const (
	maxColumns      = 200
	selectorColumns = 100
)

// Print writes the view in its canonical layout. Comments and blank lines between items
// are kept. What was written on one line, declarations side by side or a whole block,
// stays there while it fits. The braces of one-line blocks on neighbouring lines stand
// below each other, and so do the comments behind neighbouring lines; a blank line ends
// such a group. Values and preludes are written as they were read, since white space in
// them can mean something.
//
// Reading what Print wrote gives the same tree, and printing that the same text, for
// every view that was read without an error.
func Print(w io.Writer, v *View) error {
	var l layout
	l.items(v.Statements, 0, true)
	l.align()
	_, err := io.WriteString(w, l.text())
	return err
}

// layout is a view as lines.
type layout struct{ lines []line }

// line is one line of the text; what was read with line ends in it holds several.
type line struct {
	blank  bool // a blank line stands before it
	indent int
	text   string   // of a one-line block, what stands before its brace
	body   string   // a one-line block with its braces; "" for none
	kind   string   // one-line blocks of the same kind are aligned with each other
	notes  []string // the comments behind it
	pad    int      // blanks between text and body beyond the one
	push   int      // blanks before the notes beyond the one
}

func (l *layout) items(items []Node, indent int, top bool) {
	for i, n := range items {
		var before Node
		if i > 0 {
			before = items[i-1]
		}
		blank := i > 0 && blankBefore(n)
		switch n := n.(type) {
		case *Comment:
			if follows(before, n, top) {
				l.last().notes = append(l.last().notes, n.Text)
				continue
			}
			l.add(line{blank: blank, indent: indent, text: n.Text})
		case *Declaration:
			text := formatDeclaration(n)
			if sideBySide(before, n) && !strings.Contains(text, "\n") && l.last().width()+1+width(text) <= maxColumns {
				l.last().text += " " + text
				continue
			}
			l.add(line{blank: blank, indent: indent, text: text})
		default:
			l.block(n, indent, blank)
		}
	}
}

// block lays out a rule or at-rule.
func (l *layout) block(n Node, indent int, blank bool) {
	head, b := headOf(n, indent), BlockOf(n)
	if b == nil {
		l.add(line{blank: blank, indent: indent, text: head})
		return
	}
	one := line{blank: blank, indent: indent, text: head}
	single := !strings.Contains(head, "\n")
	if single {
		one.kind = kindOf(n)
	}
	var ok bool
	if one.body, ok = inline(n, b); ok && (len(b.Items) == 0 || single && one.width() <= maxColumns) {
		l.add(one)
		return
	}
	l.add(line{blank: blank, indent: indent, text: head + " {"})
	l.items(b.Items, indent+1, false)
	l.add(line{indent: indent, text: "}"})
}

func (l *layout) add(x line)  { l.lines = append(l.lines, x) }
func (l *layout) last() *line { return &l.lines[len(l.lines)-1] }

// width is how far the line reaches, its comments left aside.
func (x *line) width() int {
	n := 2*x.indent + width(x.text[strings.LastIndexByte(x.text, '\n')+1:])
	if x.body != "" {
		n += 1 + x.pad + width(x.body)
	}
	return n
}

func (l *layout) text() string {
	var b strings.Builder
	for i := range l.lines {
		x := &l.lines[i]
		if x.blank {
			b.WriteByte('\n')
		}
		blanks(&b, 2*x.indent)
		b.WriteString(x.text)
		if x.body != "" {
			blanks(&b, 1+x.pad)
			b.WriteString(x.body)
		}
		blanks(&b, x.push)
		for _, note := range x.notes {
			b.WriteByte(' ')
			b.WriteString(note)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func blanks(b *strings.Builder, n int) {
	for range n {
		b.WriteByte(' ')
	}
}

// follows reports whether a comment stands on the line of the node before it, or of the
// brace of its block.
func follows(before Node, n *Comment, top bool) bool {
	if c, ok := before.(*Comment); ok && !strings.HasPrefix(c.Text, "/*") {
		return false
	}
	return n.Trailing && (before != nil || !top)
}

// sideBySide reports whether a declaration was written on the line of the one before it.
func sideBySide(before Node, n *Declaration) bool {
	d, ok := before.(*Declaration)
	return ok && !n.BlankBefore && d.At.End.Line == n.At.Start.Line && n.At.Start.Line != 0 && !strings.Contains(d.Raw, "\n")
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

// headOf is the text of a rule or at-rule without its block.
func headOf(n Node, indent int) string {
	switch n := n.(type) {
	case *Rule:
		return ruleHead(n, indent)
	case *AtRule:
		return atRuleHead(n)
	}
	return ""
}

func ruleHead(r *Rule, indent int) string {
	texts := make([]string, len(r.Selectors))
	for i, s := range r.Selectors {
		texts[i] = FormatSelector(s)
	}
	line := strings.Join(texts, ", ")
	if 2*indent+width(line)+len(" {") > selectorColumns {
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

// inline is the block of n on one line, where it is empty, or stood on one line and
// everything in it can stand there again.
func inline(n Node, b *Block) (string, bool) {
	if len(b.Items) == 0 {
		return "{}", true
	}
	if n.Span().Start.Line != b.At.End.Line || b.At.End.Offset-b.At.Start.Offset > 16*maxColumns {
		return "", false
	}
	text := "{"
	for _, item := range b.Items {
		one, ok := inlineItem(item)
		if !ok || strings.Contains(one, "\n") || len(text)+len(one) > 4*maxColumns {
			return "", false
		}
		text += " " + one
	}
	return text + " }", true
}

func inlineItem(n Node) (string, bool) {
	switch n := n.(type) {
	case *Declaration:
		return formatDeclaration(n), true
	case *Comment:
		return n.Text, strings.HasPrefix(n.Text, "/*")
	}
	head, b := headOf(n, 0), BlockOf(n)
	if b == nil {
		return head, true
	}
	body, ok := inline(n, b)
	return head + " " + body, ok
}
