package umwelt

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"umwelt/ast"
	"umwelt/cascade"
	"umwelt/compilers"
	"umwelt/database"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/policydiff"
	"umwelt/registry"
)

// Save writes the policy to a file, whole or not at all, as a SQLite database that answers
// in SQL and that Open opens again without anything else. Values of properties that are
// never printed are not in it.
func (p *Policy) Save(path string) error {
	c, err := p.Compile("sqlite", nil)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".umwelt-*")
	if err != nil {
		return err
	}
	_, err = f.Write(c.Text)
	for _, step := range []func() error{func() error { return f.Chmod(0o644) }, f.Sync, f.Close, func() error { return os.Rename(f.Name(), path) }} {
		if err == nil {
			err = step()
		}
	}
	if err != nil {
		f.Close()
		os.Remove(f.Name())
	}
	return err
}

// Open opens a policy that was saved as a database. It answers as the policy did that was
// saved, in the context that stands in the database's table active_context, or in the given
// one. Like Load it returns a policy in every case; its Err says whether it may be used.
func Open(path string, context ...cascade.Ref) *Policy {
	return OpenWith(nil, path, context...)
}

// OpenWith is Open for a policy that is to be compared with what reg binds: where the saved
// vocabulary means the same, reg is the Registry of the policy.
func OpenWith(reg *registry.Registry, path string, context ...cascade.Ref) *Policy {
	p := &Policy{}
	p.reopen(Options{Context: context}, reg, path)
	return p
}

func (p *Policy) reopen(o Options, shared *registry.Registry, path string) {
	for _, given := range []struct {
		what string
		is   bool
	}{
		{"vocabularies", len(o.Vocabularies) > 0}, {"a world", o.World != ""}, {"a root", o.Root != ""},
		{"an environment", o.Env != ""}, {"what a world file may include", o.AllowOutside},
	} {
		if given.is {
			p.Diagnostics.Errorf(diag.BadOption, diag.Span{}, "%s is a saved policy, which has %s of its own", diag.Escape(path), given.what)
		}
	}
	if p.Diagnostics.HasErrors() {
		return
	}
	f, err := database.Open(path)
	if err != nil {
		p.Diagnostics.Errorf(diag.Unreadable, diag.Span{}, "%v", err)
		return
	}
	defer f.Close()
	saved, err := f.Saved()
	if err != nil {
		p.Diagnostics.Errorf(diag.Unreadable, diag.Span{}, "%v", err)
		return
	}
	p.bindSaved(path, saved, shared)
	if p.Diagnostics.HasErrors() {
		return
	}
	w, err := f.World(p.Registry)
	if err != nil {
		p.Diagnostics.Errorf(diag.Unreadable, diag.Span{}, "%v", err)
		return
	}
	w.Diagnostics = saved.Found
	context := o.Context
	if context == nil {
		context = saved.Context
	}
	p.resolve(context, w, saved.Found)
}

// bindSaved parses and binds the texts of a saved policy, which import one another and
// nothing else.
func (p *Policy) bindSaved(path string, saved *database.Saved, shared *registry.Registry) {
	hides := secretsOf(nil).hides
	imports := map[string]*diag.Source{}
	for _, s := range saved.Sources {
		src := &diag.Source{Name: s.Name, Text: s.Text, Private: hides}
		switch s.Kind {
		case compilers.Vocabulary:
			p.words = append(p.words, src)
		case compilers.View:
			v, list := parser.Parse(src)
			p.Views = append(p.Views, v)
			p.Diagnostics = append(p.Diagnostics, list...)
		}
		imports[s.Name] = src
		if !slices.ContainsFunc(shipped(), func(own *diag.Source) bool { return own.Name == s.Name }) {
			p.record(src)
		}
	}
	if p.words == nil {
		p.Diagnostics.Errorf(diag.Unreadable, diag.Span{}, "%s was written without the texts of its policy, so it cannot be opened as one", diag.Escape(path))
		return
	}
	p.rest = len(p.Sources)
	in := func(from *diag.Source, name string) (*ast.View, diag.List, error) {
		src := imports[importName(from, name)]
		if src == nil {
			return nil, nil, fmt.Errorf("the saved policy does not hold it")
		}
		v, list := parser.Parse(src)
		return v, list, nil
	}
	reg, list := vocabulary(p.words, in, p.Views)
	if shared != nil && !list.HasErrors() && policydiff.SameVocabulary(shared, reg) {
		reg = shared
	}
	p.bind(reg, list, in)
}

// importName is what a file is called that another one imports; see Importer.
func importName(from *diag.Source, name string) string {
	if path.IsAbs(name) {
		return name
	}
	return filepath.ToSlash(filepath.Join(filepath.Dir(from.Name), name))
}

// savedSources are the texts that the policy was made of, without secrets. What views
// define and import is among them; of the world there is nothing, since a database has that
// as it became.
func (p *Policy) savedSources() ([]compilers.Source, error) {
	b := newBlanker(p)
	var out []compilers.Source
	add := func(kind string, src *diag.Source) {
		out = append(out, compilers.Source{Kind: kind, Name: src.Name, Text: b.blank(src)})
	}
	for _, src := range p.words {
		add(compilers.Vocabulary, src)
	}
	for _, v := range p.Views {
		add(compilers.View, v.Source)
	}
	for _, src := range p.Sources[:p.rest] {
		isView := slices.ContainsFunc(p.Views, func(v *ast.View) bool { return v.Source == src })
		if !isView && !slices.Contains(p.words, src) {
			add(compilers.Import, src)
		}
	}
	return out, b.err
}

// blanker takes secrets out of texts, so that everything else stays where it stands.
type blanker struct {
	names map[string]bool // of properties that are never printed, lower case
	kept  map[placed]bool // declarations that were bound and are no secret
	found map[placed]bool // declarations of secrets
	hides func([]byte, int, int) bool
	err   error
}

// placed is where a declaration begins: in which text, by its name and length, and where.
type placed struct {
	name string
	size int
	at   int32
}

func placeOf(src *diag.Source, at int32) placed { return placed{src.Name, len(src.Text), at} }

func newBlanker(p *Policy) *blanker {
	b := &blanker{names: map[string]bool{}, kept: map[placed]bool{}, found: map[placed]bool{}, hides: secretsOf(p.Registry).hides}
	for _, t := range p.Registry.Types() {
		for _, prop := range t.Properties {
			if !prop.Secret {
				continue
			}
			b.names[strings.ToLower(prop.Name)] = true
			switch prop.Type.Kind {
			case registry.Text, registry.Command, registry.Identifier:
			default:
				b.err = fmt.Errorf("the value of %s.%s is never printed, and no other %s can stand in its place", t.Name, prop.Name, prop.Type)
			}
		}
	}
	for _, rule := range p.Bound.Rules {
		for _, d := range rule.Declarations {
			if d.At.Source == nil {
				continue
			}
			at := placeOf(d.At.Source, d.At.Start.Offset)
			if slices.ContainsFunc(d.Typed, func(v registry.TypedValue) bool { return v.Property.Secret }) {
				b.found[at] = true
			} else {
				b.kept[at] = true
			}
		}
	}
	return b
}

// blank is a text with every value that is never printed, and every comment that may hold
// one, written over.
func (b *blanker) blank(src *diag.Source) []byte {
	if len(b.names) == 0 {
		return src.Text
	}
	view, _ := parser.Parse(&diag.Source{Name: src.Name, Text: src.Text})
	var gone []diag.Span
	ast.Walk(view, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Declaration:
			at := placeOf(src, n.At.Start.Offset)
			word := strings.ToLower(n.Property)
			if b.found[at] || !b.kept[at] && (b.names[word] || strings.HasPrefix(word, "set-")) {
				gone = append(gone, n.ValueAt)
			}
		case *ast.Comment:
			from := bytes.LastIndexByte(src.Text[:n.At.Start.Offset], '\n') + 1
			to := len(src.Text)
			if i := bytes.IndexByte(src.Text[n.At.End.Offset:], '\n'); i >= 0 {
				to = int(n.At.End.Offset) + i
			}
			if b.hides(src.Text, from, to) {
				gone = append(gone, n.At)
			}
		}
		return true
	})
	slices.SortFunc(gone, func(x, y diag.Span) int { return int(x.Start.Offset - y.Start.Offset) })
	var out []byte
	end := int32(0)
	for _, at := range gone {
		if at.Start.Offset >= end {
			out = append(append(out, src.Text[end:at.Start.Offset]...), overwritten(at.Text())...)
			end = at.End.Offset
		}
	}
	return append(out, src.Text[end:]...)
}

// overwritten is a text of as many lines, columns and bytes that reads as a value, or as a
// comment where the text is one.
func overwritten(text string) string {
	comment := strings.HasPrefix(text, "/") || strings.HasPrefix(text, "#")
	last := len(text) - 1
	quoted := !comment && last > 0 && !strings.ContainsAny(text, "\r\n") && text[0] < utf8.RuneSelf && text[last] < utf8.RuneSelf
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == '\n' || r == '\r':
			b.WriteRune(r)
		case quoted && (i == 0 || i == last):
			b.WriteByte('"')
		case comment && (i < 2 || i > last-2 && strings.HasPrefix(text, "/*")):
			b.WriteRune(r)
		default:
			b.WriteString([...]string{1: "x", 2: "\u00d7", 3: "\u2573", 4: "\U0001d465"}[utf8.RuneLen(r)])
		}
	}
	return b.String()
}
