package lint

import (
	"bytes"
	"fmt"
	"strings"

	"umwelt/ast"
	"umwelt/diag"
)

// UnusedIgnore finds comments that silence nothing. Run looks for it itself, once every
// other detector has run.
var UnusedIgnore = Detector{
	Name: "unused-ignore", Severity: diag.Warning,
	Summary: "A lint-ignore comment silences nothing, names no detector or gives no reason.",
}

// ignore is one comment that silences a detector: on its own line, and on the node that it
// belongs to.
type ignore struct {
	at     diag.Span
	name   string
	reason string
	line   int32
	node   diag.Span // not valid where it belongs to none
	used   bool
	shared bool // in a file that other views may read too
}

// parseIgnore reads the text between the delimiters of a comment.
func parseIgnore(text string) (name, reason string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "lint-ignore")
	if !ok || rest != "" && !strings.ContainsAny(rest[:1], " \t\r\n:") {
		return "", "", false
	}
	name, reason, _ = strings.Cut(rest, ":")
	if name = strings.TrimSpace(name); strings.ContainsAny(name, " \t\r\n") {
		name = ""
	}
	return name, strings.Join(strings.Fields(reason), " "), true
}

// silence gives a reason to every finding that a comment silences, and returns what is
// wrong with the comments themselves.
func silence(f *Facts, found []Finding, known, ran map[string]bool) []Finding {
	ignores := f.ignores(found)
	type about struct {
		src  *diag.Source
		name string
	}
	by := map[about][]*ignore{}
	for src, list := range ignores {
		for _, g := range list {
			by[about{src, g.name}] = append(by[about{src, g.name}], g)
		}
	}
	for i := range found {
		x := &found[i]
		for _, g := range by[about{x.Span.Source, string(x.Code)}] {
			if g.reason != "" && g.covers(x.Span) {
				x.Silenced = g.reason
				g.used = true
			}
		}
	}
	var out []Finding
	for _, list := range ignores {
		out = append(out, faults(list, known, ran)...)
	}
	return out
}

func (g *ignore) covers(at diag.Span) bool {
	if at.Start.Line == g.line {
		return true
	}
	return g.node.IsValid() && at.Start.Offset >= g.node.Start.Offset && at.Start.Offset < g.node.End.Offset
}

func faults(list []*ignore, known, ran map[string]bool) []Finding {
	var out []Finding
	for _, g := range list {
		text := ""
		switch {
		case g.name == "":
			text = "lint-ignore names no detector"
		case g.reason == "":
			text = fmt.Sprintf("lint-ignore %s gives no reason, so it silences nothing", g.name)
		case !known[g.name]:
			text = fmt.Sprintf("there is no detector %s", diag.Quote(g.name))
		case ran[g.name] && !g.used && !g.shared:
			text = fmt.Sprintf("lint-ignore %s silences nothing", g.name)
		default:
			continue
		}
		x := finding(diag.Warning, g.at, text, "write /* lint-ignore NAME: reason */ before a rule or behind it, or take the comment out")
		x.Code = diag.Code(UnusedIgnore.Name)
		if ran[g.name] && g.reason != "" && !g.shared {
			x.Fix = []Edit{removal(g.at)}
		}
		out = append(out, x)
	}
	return out
}

// ignores are the comments of every text, and of the world files in which something was
// found.
func (f *Facts) ignores(found []Finding) map[*diag.Source][]*ignore {
	out := map[*diag.Source][]*ignore{}
	for _, text := range f.Texts {
		out[text.Source] = nil
		addIgnores(text.Statements, nil, func(g *ignore) {
			g.shared = !f.own(g.at)
			out[text.Source] = append(out[text.Source], g)
		})
	}
	world := func(src *diag.Source) {
		if _, known := out[src]; src != nil && !known {
			out[src] = worldIgnores(src)
		}
	}
	for i := range f.World.Entities {
		world(f.World.Entities[i].Provenance.At.Source)
	}
	for i := range found {
		world(found[i].Span.Source)
	}
	return out
}

// addIgnores reads the comments among the items of a block. A comment that stands behind
// something belongs to it, or to what encloses it where it stands behind its brace; any
// other belongs to what follows.
func addIgnores(items []ast.Node, parent ast.Node, add func(*ignore)) {
	for i, n := range items {
		if b := ast.BlockOf(n); b != nil {
			addIgnores(b.Items, n, add)
		}
		c, ok := n.(*ast.Comment)
		if !ok {
			continue
		}
		name, reason, ok := parseIgnore(bare(c.Text))
		if !ok {
			continue
		}
		g := &ignore{at: c.At, name: name, reason: reason, line: c.At.Start.Line}
		if c.Trailing {
			before := i - 1
			for before >= 0 && isComment(items[before]) {
				before--
			}
			switch {
			case before >= 0:
				g.node = items[before].Span()
			case parent != nil:
				g.node = parent.Span()
			}
		} else {
			for _, next := range items[i+1:] {
				if !isComment(next) {
					g.node = next.Span()
					break
				}
			}
		}
		add(g)
	}
}

func isComment(n ast.Node) bool {
	_, ok := n.(*ast.Comment)
	return ok
}

// bare is a comment without its delimiters.
func bare(text string) string {
	switch {
	case strings.HasPrefix(text, "/*"):
		return strings.TrimSuffix(text[2:], "*/")
	case strings.HasPrefix(text, "//"):
		return text[2:]
	}
	return strings.TrimPrefix(text, "#")
}

// worldIgnores reads the comments of a world file: one on a line of its own is about the
// next line, too.
func worldIgnores(src *diag.Source) []*ignore {
	var out []*ignore
	if !bytes.Contains(src.Text, []byte("lint-ignore")) {
		return out
	}
	offset, line := 0, int32(0)
	for text := range bytes.Lines(src.Text) {
		line++
		start := offset
		offset += len(text)
		at := bytes.LastIndexByte(text, '#')
		if at < 0 || at > 0 && text[at-1] != ' ' && text[at-1] != '\t' {
			continue
		}
		name, reason, ok := parseIgnore(string(text[at+1:]))
		if !ok {
			continue
		}
		g := &ignore{name: name, reason: reason, line: line, shared: true}
		column := int32(len([]rune(string(text[:at])))) + 1
		end := len(bytes.TrimRight(text, "\r\n"))
		g.at = diag.Span{
			Source: src,
			Start:  diag.Pos{Offset: int32(start + at), Line: line, Column: column},
			End:    diag.Pos{Offset: int32(start + end), Line: line, Column: column + int32(len([]rune(string(text[at:end]))))},
		}
		if len(bytes.TrimSpace(text[:at])) == 0 {
			g.node = diag.Span{Source: src, Start: diag.Pos{Offset: int32(offset), Line: line + 1, Column: 1}, End: diag.Pos{Offset: int32(lineEnd(src.Text, offset)), Line: line + 1, Column: 1}}
		}
		out = append(out, g)
	}
	return out
}

func lineEnd(text []byte, from int) int {
	if i := bytes.IndexByte(text[from:], '\n'); i >= 0 {
		return from + i + 1
	}
	return len(text)
}
