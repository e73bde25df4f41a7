// Package parser reads the text of a view or vocabulary file into its tree.
//
// It never panics and always returns a tree. A broken rule or declaration is reported
// and left out, and reading goes on behind it as CSS does, so that one run reports every
// error. Time is linear in the text and memory is bounded whatever the text is.
package parser

import (
	"fmt"
	"slices"

	"umwelt/ast"
	"umwelt/diag"
)

// The bounds on what is read. Each gives an error at the place where it is crossed.
const (
	MaxBytes         = 16 << 20 // the size of a file
	MaxDepth         = 64       // braces, parentheses, brackets and functions together
	MaxSelectors     = 4096     // selectors in one list
	MaxSelectorParts = 4096     // compounds in one selector, and likewise simple selectors in it
	MaxDiagnostics   = 1000     // one more says that reading stopped
	MaxTokens        = 1 << 22  // tokens in a file, a comment counting as two, which bounds the tree's memory
)

// Parse reads a whole file. The tree holds everything that could be read; whoever gives
// it a meaning must first see that the list has no errors. The list is in the order of
// the text.
func Parse(src *diag.Source) (*ast.View, diag.List) {
	p := newParser(src)
	view := &ast.View{Source: p.src}
	view.Statements = p.items(scope{top: true})
	return view, p.finish()
}

// ParseSelectors reads a text that is one selector list and nothing else, such as a key
// of a world file or a command's argument. With any error it returns no selector.
func ParseSelectors(src *diag.Source) ([]*ast.Selector, diag.List) {
	p := newParser(src)
	it := p.scan()
	var sels []*ast.Selector
	switch {
	case it.bad || p.cut:
	case p.toks[it.end].kind != tEOF:
		p.unexpected(it.end, "the end of the selector")
	default:
		sels = p.selectorList(it.from, it.end, false)
	}
	p.checkComments(it)
	diags := p.finish()
	if diags.HasErrors() {
		return nil, diags
	}
	return sels, diags
}

// parser reads one source. Tokens are read into a window that holds one item at a time:
// the text up to the first ";", "{" or "}" outside brackets decides what the item is,
// and no text is read twice.
type parser struct {
	src   *diag.Source
	text  string
	lines lineIndex
	diags diag.List

	lexer
	next  int     // the first token of the window not yet used
	open  []int32 // the brackets open at the token being scanned
	depth int     // the blocks open
	// looseUntil is where an unclosed bracket was found to be unclosed. Before it a ";"
	// ends an item even inside brackets, since nothing says which bracket is at fault.
	looseUntil int32
	parts      partCount
	cleaned    cleaned

	prev int32 // the end of the item or brace before

	nodes  []ast.Node // the items of the blocks being read, innermost last
	values []ast.Value
	sels   []*ast.Selector
	comps  []*ast.Compound
	combs  []ast.Combinator
	slabs  slabs
}

func newParser(src *diag.Source) *parser {
	if src == nil {
		src = &diag.Source{}
	}
	p := &parser{src: src}
	p.start()
	return p
}

// finish gives the diagnostics in the order of the text.
func (p *parser) finish() diag.List {
	slices.SortStableFunc(p.diags, func(a, b diag.Diagnostic) int {
		return int(a.Span.Start.Offset) - int(b.Span.Start.Offset)
	})
	return p.diags
}

func (p *parser) span(start, end int32) diag.Span {
	return diag.Span{Source: p.src, Start: p.lines.pos(start), End: p.lines.pos(end)}
}

// errorf reports an error. The diagnostic it returns takes hints and related places, and
// is a spare one where the bound on diagnostics is reached.
func (p *parser) errorf(code diag.Code, start, end int32, format string, args ...any) *diag.Diagnostic {
	return p.report(diag.Error, code, start, end, format, args)
}

func (p *parser) report(s diag.Severity, code diag.Code, start, end int32, format string, args []any) *diag.Diagnostic {
	if len(p.diags) < MaxDiagnostics {
		p.diags = append(p.diags, diag.Diagnostic{Severity: s, Code: code, Span: p.span(start, end), Message: fmt.Sprintf(format, args...)})
		return &p.diags[len(p.diags)-1]
	}
	if len(p.diags) == MaxDiagnostics {
		p.diags = append(p.diags, diag.Diagnostic{Severity: diag.Error, Code: diag.TooLarge, Span: p.span(start, end),
			Message: fmt.Sprintf("more than %d faults; the rest of the file is not read", MaxDiagnostics)})
		p.stop()
	}
	return &diag.Diagnostic{}
}

// stop ends the text here: what is read from now on is the end of the file, and nothing
// is reported as still open.
func (p *parser) stop() {
	p.cut = true
	p.off = len(p.text)
}

// unexpected reports that something else was wanted where token i stands.
func (p *parser) unexpected(i int, wanted string) *diag.Diagnostic {
	t := p.toks[i]
	if t.kind == tEOF {
		return p.errorf(diag.Syntax, t.start, t.end, "expected %s, found the end of the text", wanted)
	}
	found := p.text[t.start:t.end]
	if len(found) > 40 {
		cut := 40
		for cut > 0 && found[cut]&0xC0 == 0x80 {
			cut--
		}
		found = found[:cut] + "…"
	}
	return p.errorf(diag.Syntax, t.start, t.end, "expected %s, found %s", wanted, diag.Quote(found))
}
