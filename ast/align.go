package ast

import (
	"slices"
	"strings"
)

// Lines that reach further than this before the column keep out of an alignment.
const (
	maxBrace = 60
	maxNote  = 100
)

// kindOf says which one-line blocks look alike: rules, at-rules that are a name alone, and
// at-rules of one name that take something.
func kindOf(n Node) string {
	a, ok := n.(*AtRule)
	switch {
	case !ok:
		return "rule"
	case a.Prelude.Raw == "" && len(a.Prelude.Values) == 0:
		return "@"
	}
	return "@" + strings.ToLower(a.Name)
}

// align puts the braces of neighbouring one-line blocks below each other, and then the
// comments behind neighbouring lines.
func (l *layout) align() {
	runs(l.lines, func(x *line) string { return x.kind }, func(run []line) {
		cells := make([]cell, len(run))
		for i := range run {
			cells[i] = cell{2*run[i].indent + width(run[i].text), &run[i].pad}
		}
		level(cells, maxBrace)
	})
	noted := func(x *line) string {
		if len(x.notes) == 0 || slices.ContainsFunc(x.notes, func(s string) bool { return strings.Contains(s, "\n") }) {
			return ""
		}
		return "noted"
	}
	runs(l.lines, noted, func(run []line) {
		cells := make([]cell, len(run))
		for i := range run {
			cells[i] = cell{run[i].width(), &run[i].push}
		}
		level(cells, maxNote)
	})
}

// runs calls fn for every run of at least two neighbouring lines of one kind and indent.
// Lines of kind "" are in none.
func runs(lines []line, kind func(*line) string, fn func([]line)) {
	for i := 0; i < len(lines); {
		k, end := kind(&lines[i]), i+1
		for k != "" && end < len(lines) && kind(&lines[end]) == k && !lines[end].blank && lines[end].indent == lines[i].indent {
			end++
		}
		if end-i > 1 {
			fn(lines[i:end])
		}
		i = end
	}
}

// cell is how far what stands left of a column of a line reaches, and where to put how
// many blanks come in between.
type cell struct {
	left int
	pad  *int
}

// level brings the cells to one column, but for those that reach beyond the limit.
func level(cells []cell, limit int) {
	column := 0
	for _, c := range cells {
		if c.left <= limit {
			column = max(column, c.left)
		}
	}
	for _, c := range cells {
		*c.pad = max(0, column-c.left)
	}
}
