package parser

import (
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"umwelt/ast"

	"github.com/alecthomas/participle/v2"
	reflex "github.com/alecthomas/participle/v2/lexer"
	"pgregory.net/rapid"
)

// This file is a second parser, written from the grammar of the language alone: a table
// of regular expressions for the tokens and participle struct tags for the shape. It is
// slow and knows nothing of recovery; what it accepts, and the tree it makes, is what the
// parser is held to. White space is a token ("S"), since it joins compounds and words.

// refTokens are tried in order at each place.
var refTokens = []struct {
	name string
	re   *regexp.Regexp
}{
	{"S", regexp.MustCompile(`^(?:[ \t\r\n\f]|/\*(?s:.*?)\*/|//[^\n]*)+`)},
	{"String", regexp.MustCompile(`^(?:"(?:[^"\\\n\r\f]|\\(?s:\r\n|.))*"|'(?:[^'\\\n\r\f]|\\(?s:\r\n|.))*')`)},
	{"Open", regexp.MustCompile(`^(?:/\*|["']|\\[\r\n\f]|\\$)`)}, // a comment or string with no end; no rule takes it
	{"URL", regexp.MustCompile(`^(?i:url)\(\s*(?:[^"'()\s\\][^"'()\n\\]*)?\)`)},
	{"At", regexp.MustCompile(`^@` + refIdent)},
	{"Hash", regexp.MustCompile(`^#` + refName + `+`)},
	{"Number", regexp.MustCompile(`^[+-]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?:%|` + refIdent + `)?`)},
	{"Ident", regexp.MustCompile(`^` + refIdent)},
	{"Op", regexp.MustCompile(`^[\^$*~|]=`)},
	{"Sign", regexp.MustCompile(`^(?s:.)`)},
}

const (
	refEscape = `\\(?:[0-9a-fA-F]{1,6}(?:\r\n|[ \t\r\n\f])?|[^0-9a-fA-F\r\n\f])`
	refName   = `(?:[-_0-9A-Za-z\x{80}-\x{10ffff}]|` + refEscape + `)`
	refIdent  = `(?:--|-?(?:[_A-Za-z\x{80}-\x{10ffff}]|` + refEscape + `))` + refName + `*`
)

type refLexer struct{}

func (refLexer) Symbols() map[string]reflex.TokenType {
	out := map[string]reflex.TokenType{"EOF": reflex.EOF}
	for i, x := range refTokens {
		out[x.name] = reflex.TokenType(-2 - i)
	}
	return out
}

var refHashComment = regexp.MustCompile(`^#(?:[ \t!][^\n]*|\r?\n|$)`)

func (refLexer) Lex(name string, r io.Reader) (reflex.Lexer, error) {
	b, err := io.ReadAll(r)
	return &refScanner{text: string(b), at: reflex.Position{Filename: name, Line: 1, Column: 1}}, err
}

type refScanner struct {
	text string
	at   reflex.Position
}

func (s *refScanner) Next() (reflex.Token, error) {
	start, from := s.at, s.at.Offset
	space := false
	for {
		rest := s.text[s.at.Offset:]
		line := s.text[strings.LastIndexByte(s.text[:s.at.Offset], '\n')+1 : s.at.Offset]
		m := refTokens[0].re.FindString(rest)
		if m == "" && strings.Trim(line, " \t") == "" {
			m = refHashComment.FindString(rest)
		}
		if m == "" {
			break
		}
		// A comment may end where a line with a # comment begins, so line by line.
		if i := strings.IndexByte(m, '\n'); i >= 0 && !strings.Contains(m, "/*") {
			m = m[:i+1]
		}
		s.at.Advance(m)
		space = true
	}
	if space {
		return reflex.Token{Type: -2, Value: s.text[from:s.at.Offset], Pos: start}, nil
	}
	rest := s.text[s.at.Offset:]
	if rest == "" {
		return reflex.EOFToken(s.at), nil
	}
	for i, x := range refTokens[1:] {
		if m := x.re.FindString(rest); m != "" {
			s.at.Advance(m)
			return reflex.Token{Type: reflex.TokenType(-3 - i), Value: m, Pos: start}, nil
		}
	}
	panic("the last token matches everything")
}

type refView struct {
	Statements []*refItem `parser:"( S | ';' | @@ )*"`
}

type refItem struct {
	At   *refAt   `parser:"( @@"`
	Decl *refDecl `parser:"| @@"`
	Rule *refRule `parser:"| @@ )"`
}

type refBody struct {
	Items []*refItem `parser:"( S | ';' | @@ )*"`
}

type refAt struct {
	Name    string     `parser:"@At S?"`
	Prelude []*refPart `parser:"( @@ ( ',' S? @@ )* )?"`
	Block   *refBody   `parser:"( ';' | '{' @@ '}' )"`
}

type refRule struct {
	Selectors *refList `parser:"@@"`
	Block     *refBody `parser:"'{' @@ '}'"`
}

type refDecl struct {
	Property string     `parser:"@Ident S? ':' S?"`
	Values   []*refPart `parser:"@@ ( ',' S? @@ )*"`
	Flag     string     `parser:"( '!' S? @Ident S? )?"`
	End      string     `parser:"(?= ';' | '}' ) @';'?"`
}

// refPart is one part of a value with the white space behind it.
type refPart struct {
	Pos    reflex.Position
	Pieces []*refPiece `parser:"@@+"`
	EndPos reflex.Position
}

type refPiece struct {
	String string    `parser:"@String"`
	Number string    `parser:"| @Number"`
	URL    string    `parser:"| @URL"`
	Func   *refFunc  `parser:"| @@"`
	Square *refGroup `parser:"| '[' @@ ']'"`
	Space  string    `parser:"| @S"`
	Bang   string    `parser:"| @'!' (?! S? Ident S? ( ';' | '}' ) )"`
	Word   string    `parser:"| @( Ident | At | Hash | Op | (?! ';' | ',' | '!' | '{' | '}' | '(' | ')' | '[' | ']' ) Sign )"`
}

type refFunc struct {
	Name string    `parser:"@Ident? '(' S?"`
	Args []*refArg `parser:"( @@ ( ',' S? @@ )* )? ')'"`
}

type refArg struct {
	Key   string        `parser:"( @Ident S? '=' S? (?! '=' | ',' | ')' ) )?"`
	Value *refInnerPart `parser:"@@"`
}

type refInnerPart struct {
	Pos    reflex.Position
	Pieces []*refInner `parser:"@@+"`
	EndPos reflex.Position
}

// refInner is a piece inside brackets, where the signs that end a declaration are words.
type refInner struct {
	Piece *refPiece `parser:"@@"`
	Word  string    `parser:"| @( ';' | '!' )"`
}

// refGroup is bracketed text whose parts mean nothing of their own.
type refGroup struct {
	Pieces []*refLoose `parser:"@@*"`
}

type refLoose struct {
	Piece *refPiece `parser:"@@"`
	Word  string    `parser:"| @( ';' | '!' | ',' )"`
}

type refList struct {
	Selectors []*refComplex `parser:"S? @@ ( ',' S? @@ )* S?"`
}

type refComplex struct {
	Lead  string       `parser:"( @( '>' | '+' | '~' ) S? )?"`
	First *refCompound `parser:"@@"`
	Rest  []*refNext   `parser:"@@* S?"`
}

type refNext struct {
	Comb     string       `parser:"( S? @( '>' | '+' | '~' ) S? | @S )"`
	Compound *refCompound `parser:"@@"`
}

type refCompound struct {
	Parent  string       `parser:"(?= '&' | '*' | Ident | Hash | '#' | '.' | '[' | ':' ) @'&'?"`
	Taxon   string       `parser:"( (?= Ident '|' ( Ident | '*' ) ) @Ident '|' )?"`
	Type    string       `parser:"@( Ident | '*' )?"`
	Simples []*refSimple `parser:"@@*"`
}

type refSimple struct {
	ID     string     `parser:"@Hash"`
	Quoted string     `parser:"| '#' @String"`
	Class  string     `parser:"| '.' @Ident"`
	Attr   *refAttr   `parser:"| '[' S? @@ ']'"`
	Pseudo *refPseudo `parser:"| ':' @@"`
	Parent bool       `parser:"| @'&'"`
}

type refAttr struct {
	Name  string `parser:"@Ident S?"`
	Op    string `parser:"( @( '=' | Op ) S?"`
	Value string `parser:"@( String | Ident | Number ) S?"`
	Flag  string `parser:"@( 'i' | 's' | 'I' | 'S' )? S? )?"`
}

type refPseudo struct {
	List *refPseudoList `parser:"(?= ( 'not' | 'is' | 'where' | 'has' ) '(' ) @@"`
	Name string         `parser:"| (?! ( 'not' | 'is' | 'where' | 'has' ) '(' ) @Ident"`
	Arg  *refPseudoArg  `parser:"( '(' @@ ')' )?"`
}

type refPseudoList struct {
	Name string   `parser:"@Ident '('"`
	List *refList `parser:"@@ ')'"`
}

type refPseudoArg struct {
	Pos    reflex.Position
	Pieces []*refLoose `parser:"@@*"`
	EndPos reflex.Position
}

var reference = participle.MustBuild[refView](participle.Lexer(refLexer{}), participle.UseLookahead(participle.MaxLookahead))

// referenceParse is the tree of a text without comments and spans, or an error. What the
// grammar cannot say is checked here: where declarations and leading combinators stand.
func referenceParse(text string) (view *ast.View, ok bool) {
	text = strings.TrimPrefix(text, bom)
	ref, err := reference.ParseString("", text)
	if err != nil {
		return nil, false
	}
	c := refConverter{text: blankComments(text), ok: true}
	view = &ast.View{Statements: c.items(ref.Statements, true, false)}
	return view, c.ok
}

type refConverter struct {
	text string
	ok   bool
}

func (c *refConverter) items(items []*refItem, top, inRule bool) []ast.Node {
	var out []ast.Node
	for _, it := range items {
		switch {
		case it.At != nil:
			a := &ast.AtRule{Name: unescape(it.At.Name[1:])}
			if n := len(it.At.Prelude); n > 0 {
				a.Prelude = ast.Prelude{Raw: c.raw(it.At.Prelude[0].Pos, it.At.Prelude[n-1].EndPos), Values: c.values(it.At.Prelude)}
			}
			if it.At.Block != nil {
				a.Block = &ast.Block{Items: c.items(it.At.Block.Items, false, inRule)}
			}
			out = append(out, a)
		case it.Rule != nil:
			r := &ast.Rule{Selectors: c.selectors(it.Rule.Selectors, inRule)}
			r.Block = &ast.Block{Items: c.items(it.Rule.Block.Items, false, true)}
			out = append(out, r)
		default:
			c.ok = c.ok && !top
			d := it.Decl
			out = append(out, &ast.Declaration{Property: unescape(d.Property), Flag: strings.ToLower(unescape(d.Flag)),
				Raw: c.raw(d.Values[0].Pos, d.Values[len(d.Values)-1].EndPos), Values: c.values(d.Values)})
		}
	}
	return out
}

func (c *refConverter) raw(from, to reflex.Position) string {
	s := strings.ReplaceAll(c.text[from.Offset:to.Offset], "\x00", "")
	return strings.ReplaceAll(strings.Trim(s, " \t\r\n\f"), "\r\n", "\n")
}

// blankComments puts a blank and a filler that raw takes out in the place of comments and
// the white space around them, so that every offset stays.
func blankComments(text string) string {
	out := []byte(text)
	s := &refScanner{text: text}
	for {
		t, _ := s.Next()
		switch {
		case t.EOF():
			return string(out)
		case t.Type == -2 && strings.TrimSpace(t.Value) != "":
			copy(out[t.Pos.Offset:], " "+strings.Repeat("\x00", len(t.Value)-1))
		}
	}
}

func (c *refConverter) values(parts []*refPart) []ast.Value {
	var out []ast.Value
	for _, p := range parts {
		out = append(out, c.value(p.Pieces, p.Pos, p.EndPos))
	}
	return out
}

func (c *refConverter) value(pieces []*refPiece, from, to reflex.Position) ast.Value {
	v := ast.Value{Raw: c.raw(from, to)}
	for len(pieces) > 0 && pieces[len(pieces)-1].Space != "" {
		pieces = pieces[:len(pieces)-1]
	}
	if len(pieces) == 0 {
		c.ok = false
		return v
	}
	if len(pieces) == 1 {
		switch x := pieces[0]; {
		case x.String != "":
			v.Kind, v.Text = ast.String, unescapeString(x.String)
			return v
		case x.Number != "":
			v.Kind, v.Text = ast.Number, x.Number
			digits := regexp.MustCompile(`^[+-]?[0-9]*(\.[0-9]+)?([eE][+-]?[0-9]+)?`).FindString(x.Number)
			v.Number, _ = strconv.ParseFloat(digits, 64)
			v.Unit = unescape(x.Number[len(digits):])
			return v
		case x.URL != "":
			v.Kind, v.Text = ast.Function, "url"
			if s := strings.TrimSpace(x.URL[4 : len(x.URL)-1]); s != "" {
				v.Args = []ast.Value{{Text: s, Raw: s}}
			}
			return v
		case x.Func != nil:
			v.Kind, v.Text = ast.Function, strings.ToLower(unescape(x.Func.Name))
			for _, a := range x.Func.Args {
				var inner []*refPiece
				for _, p := range a.Value.Pieces {
					if p.Piece == nil {
						p.Piece = &refPiece{Word: p.Word}
					}
					inner = append(inner, p.Piece)
				}
				arg := c.value(inner, a.Value.Pos, a.Value.EndPos)
				arg.Key = unescape(a.Key)
				v.Args = append(v.Args, arg)
			}
			return v
		}
	}
	v.Text = foldSpace(v.Raw)
	return v
}

// foldSpace makes one blank of every run of white space outside quotes.
func foldSpace(s string) string {
	return regexp.MustCompile(`"(?:[^"\\]|\\(?s:.))*"|'(?:[^'\\]|\\(?s:.))*'|\s+`).ReplaceAllStringFunc(s, func(m string) string {
		if m[0] == '"' || m[0] == '\'' {
			return m
		}
		return " "
	})
}

func (c *refConverter) selectors(list *refList, relative bool) []*ast.Selector {
	var out []*ast.Selector
	for _, x := range list.Selectors {
		s := &ast.Selector{Compounds: []*ast.Compound{c.compound(x.First)}, Combinators: []ast.Combinator{ast.None}}
		if x.Lead != "" {
			c.ok = c.ok && relative
			s.Combinators[0] = ast.Combinator(x.Lead[0])
		}
		for _, n := range x.Rest {
			comb := ast.Descendant
			if strings.Contains(">+~", n.Comb[:1]) {
				comb = ast.Combinator(n.Comb[0])
			}
			s.Compounds = append(s.Compounds, c.compound(n.Compound))
			s.Combinators = append(s.Combinators, comb)
		}
		out = append(out, s)
	}
	return out
}

func (c *refConverter) compound(x *refCompound) *ast.Compound {
	out := &ast.Compound{Parent: x.Parent != "", Taxon: unescape(x.Taxon), Type: unescape(x.Type)}
	for _, s := range x.Simples {
		var y ast.Simple
		switch {
		case s.Parent:
			c.ok = c.ok && !out.Parent
			out.Parent = true
			continue
		case s.ID != "":
			y = ast.Simple{Kind: ast.ID, Name: unescape(s.ID[1:])}
		case s.Quoted != "":
			y = ast.Simple{Kind: ast.ID, Name: unescapeString(s.Quoted), Quoted: true}
		case s.Class != "":
			y = ast.Simple{Kind: ast.Class, Name: unescape(s.Class)}
		case s.Attr != nil:
			y = ast.Simple{Kind: ast.Attribute, Name: unescape(s.Attr.Name), Op: s.Attr.Op}
			if y.Value = unescape(s.Attr.Value); y.Value != "" && strings.Contains(`"'`, s.Attr.Value[:1]) {
				y.Value = unescapeString(s.Attr.Value)
			}
			if s.Attr.Flag != "" {
				y.Flag = strings.ToLower(s.Attr.Flag)[0]
			}
		case s.Pseudo.List != nil:
			name := s.Pseudo.List.Name
			y = ast.Simple{Kind: ast.Pseudo, Name: name, HasArg: true, Selectors: c.selectors(s.Pseudo.List.List, name == "has")}
		default:
			y = ast.Simple{Kind: ast.Pseudo, Name: strings.ToLower(unescape(s.Pseudo.Name))}
			if arg := s.Pseudo.Arg; arg != nil {
				y.HasArg, y.Arg = true, c.raw(arg.Pos, arg.EndPos)
				if len(arg.Pieces) == 1 && arg.Pieces[0].Piece != nil && arg.Pieces[0].Piece.String != "" {
					y.Arg = unescapeString(arg.Pieces[0].Piece.String)
				}
			}
		}
		out.Simples = append(out.Simples, y)
	}
	return out
}

var (
	reHex   = regexp.MustCompile(`^\\([0-9a-fA-F]{1,6})(?:\r\n|[ \t\r\n\f])?`)
	reOther = regexp.MustCompile(`^\\(?s:\r\n|.)`)
)

func unescape(s string) string { return unescapeWith(s, nil) }

func unescapeString(s string) string {
	return unescapeWith(s[1:len(s)-1], map[string]string{"n": "\n", "t": "\t", "\n": "", "\r\n": "", "\r": "", "\f": ""})
}

func unescapeWith(s string, special map[string]string) string {
	out := ""
	for s != "" {
		if m := reHex.FindStringSubmatch(s); m != nil {
			n, _ := strconv.ParseInt(m[1], 16, 32)
			if n == 0 || n > 0x10ffff {
				n = 0xfffd
			}
			out += string(rune(n))
			s = s[len(m[0]):]
		} else if m := reOther.FindString(s); m != "" {
			if r, ok := special[m[1:]]; ok {
				out += r
			} else {
				out += m[1:]
			}
			s = s[len(m):]
		} else {
			out += s[:1]
			s = s[1:]
		}
	}
	return out
}

// checkAgainstReference fails unless both parsers say the same of a text.
func checkAgainstReference(t tb, text string) {
	t.Helper()
	v, diags := Parse(source(text))
	want, ok := referenceParse(text)
	if ok == diags.HasErrors() {
		t.Fatalf("the reference accepts: %v; the parser: %v\n%q", ok, diags, text)
	}
	if !ok {
		return
	}
	v.Statements, _ = bare(v.Statements)
	if got, want := dump(v), dump(want); got != want {
		t.Fatalf("%q\n--- parser\n%s--- reference\n%s", text, got, want)
	}
}

func TestReferenceAgreesOnRandomViews(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkAgainstReference(t, (&gen{t: t}).view()) })
}

// TestReferenceAgreesOnBrokenViews takes one sign out of a sound view, or puts one in, on
// one line, where the parser has no line end to guess a missing semicolon from.
func TestReferenceAgreesOnBrokenViews(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := (&gen{t: t}).view()
		if strings.Contains(text, "//") || strings.Contains(text, "#") {
			t.Skip("a line comment or id whose meaning hangs on line ends")
		}
		text = strings.NewReplacer("/* c */", " ", "/**/", " ", "/* two\n lines */", " ", "\\\n", "", "\n", " ", "\r", " ").Replace(text)
		if text == "" {
			return
		}
		at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
		if text[at] >= 0x80 {
			return
		}
		put := rapid.SampledFrom([]string{"", ";", "{", "}", ",", ":", ")", "]", "&", ">", "*", " ", "x"}).Draw(t, "put")
		end := at
		if put == "" {
			end++
		}
		checkAgainstReference(t, text[:at]+put+text[end:])
	})
}

func TestReferenceAgreesOnCorpus(t *testing.T) {
	for _, text := range []string{benchText(3000), seeds[0], seeds[1], "@layer a, b;\n#a, .b { c: d }"} {
		checkAgainstReference(t, text)
	}
}
