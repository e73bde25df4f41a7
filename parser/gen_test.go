package parser

import (
	"strings"

	"pgregory.net/rapid"
)

// gen writes random views that have no fault.
type gen struct {
	t *rapid.T
	b strings.Builder
	// inner lets comments and odd but legal spellings stand inside items too.
	inner bool
}

func (g *gen) pick(options ...string) string { return rapid.SampledFrom(options).Draw(g.t, "pick") }

func (g *gen) n(min, max int) int { return rapid.IntRange(min, max).Draw(g.t, "n") }

func (g *gen) w(parts ...string) {
	for _, s := range parts {
		g.b.WriteString(s)
	}
}

// space writes optional white space, blank needed white space.
func (g *gen) space() { g.w(g.pick("", "", " ", "  ", "\n", "\t")); g.remark() }
func (g *gen) blank() { g.w(g.pick(" ", " ", "  ", "\n  ", "\r\n")); g.remark() }

func (g *gen) remark() {
	if g.inner && g.n(0, 9) == 0 {
		g.w(g.pick(" /* in */ ", " // in\n", "\n# in\n", "\n\n/* in\n  side */"))
	}
}

func (g *gen) between() {
	if strings.HasSuffix(g.b.String(), "/") {
		g.w(" ") // a comment right behind a slash would begin with both
	}
	for range g.n(0, 2) {
		g.w(g.pick("", "\n", "\n\n", " ", "\n\n\n", "\r\n"))
		switch g.n(0, 5) {
		case 0:
			g.w(g.pick("/* c */", "/**/", "/* two\n lines */"))
		case 1:
			g.w(g.pick("// line\n", "//\n", "// tail  \r\n"))
		case 2:
			g.w("\n", g.pick("# hash\n", "#\n", "#!x\n"))
		}
	}
}

func (g *gen) view() string {
	g.between()
	for range g.n(0, 4) {
		g.statement(3)
		g.between()
	}
	return g.b.String()
}

func (g *gen) statement(depth int) {
	if g.n(0, 3) == 0 {
		g.atRule(depth)
		return
	}
	g.selectorList(2, false)
	g.block(depth, true)
}

func (g *gen) atRule(depth int) {
	g.w("@", g.pick("layer", "import", "x-y", "Source"))
	switch g.n(0, 3) {
	case 0:
		g.w(" ", g.pick("a", "a.b", `"x" layer(y)`, "a, b", "a.b-c"))
	case 1:
		g.w(`(`, g.pick(`"src/**"`, `name="auth", path="src"`, "2"), ")")
	}
	if g.n(0, 1) == 0 {
		g.space()
		g.w(";")
		return
	}
	g.block(depth, false)
}

func (g *gen) block(depth int, inRule bool) {
	g.space()
	g.w("{")
	g.between()
	open := false // a declaration without its semicolon
	for range g.n(0, 3) {
		if open {
			g.w(";")
			open = false
		}
		g.between()
		switch k := g.n(0, 5); {
		case k == 0 && depth > 0:
			g.selectorList(1, inRule)
			g.block(depth-1, true)
		case k == 1 && depth > 0:
			g.atRule(depth - 1)
		default:
			g.declaration()
			open = true
		}
		g.between()
	}
	if open && g.n(0, 2) > 0 {
		g.w(";")
	}
	g.between()
	g.w("}")
}

func (g *gen) declaration() {
	g.w(g.pick("editable", "max-level", "x_1", `a\:b`, "é", "--v", "run"))
	g.space()
	g.w(":")
	g.space()
	g.value(2)
	for range g.n(0, 2) {
		g.space()
		g.w(",")
		g.space()
		g.value(2)
	}
	g.space()
	if g.n(0, 3) == 0 {
		g.w(g.pick("!important", "! locked", "!Other"))
	}
	g.space()
}

func (g *gen) value(depth int) {
	switch k := g.n(0, 6); {
	case k == 0:
		g.w(g.str())
	case k == 1:
		g.w(g.number())
	case k == 2 && depth > 0:
		g.w(g.pick("f", "enum", "URLS", ""), "(")
		g.space()
		for i := range g.n(0, 3) {
			if i > 0 {
				g.w(",")
				g.space()
			}
			if g.n(0, 3) == 0 {
				g.w("key=")
			}
			g.value(depth - 1)
			g.space()
		}
		g.w(")")
	case k == 3:
		g.w("[a, ", g.str(), "]")
	case k == 4:
		g.w(g.pick("url(http://x/y)", "url( a;b )", `url("q")`, "url()"))
	default:
		for i := range g.n(1, 4) {
			if i > 0 {
				g.w(g.pick(" ", " ", "  "))
			}
			g.w(g.pick("true", "a", "tests/auth/", "-x", "<=", "*", "&&", "$HOME", "a.b", "@host", "--k=v", "1.2.3", "|", "x(y z)", "é", "%d", "2>", g.str()))
		}
	}
}

func (g *gen) number() string {
	return g.pick("0", "4", "512MB", "1.5h", "50%", "-1", "+2", ".5", "1e3", "007", "12KiB")
}

func (g *gen) str() string {
	return g.pick(`""`, `"a"`, `'b c'`, `"\""`, `"\41 x"`, `'\n\t'`, `"é"`, `"a;b{c}"`, `"// no"`, "\"x\\\ny\"", `"\\"`)
}

func (g *gen) selectorList(depth int, relative bool) {
	for i := range g.n(1, 3) {
		if i > 0 {
			g.space()
			g.w(",")
			g.space()
		}
		if relative && g.n(0, 3) == 0 {
			g.w(g.pick(">", "+ ", "~"))
			g.space()
		}
		g.complex(depth)
	}
}

func (g *gen) complex(depth int) {
	for i := range g.n(1, 3) {
		if i > 0 {
			if g.n(0, 1) == 0 {
				g.blank()
			} else {
				g.space()
				g.w(g.pick(">", "+", "~"))
				g.space()
			}
		}
		g.compound(depth)
	}
}

func (g *gen) compound(depth int) {
	head := g.pick("", "file", "*", "tax|node", "tax|*", "&", "&file", `\66 x`)
	g.w(head)
	least := 0
	if head == "" {
		least = 1
	}
	for range g.n(least, 3) {
		switch k := g.n(0, 5); {
		case k == 0:
			g.w("#", g.pick("a", "123", "README", `a\.b`, `"any text"`, `"é\""`))
		case k == 1:
			g.w(".", g.pick("b", "fn", "-x", `\31 z`))
		case k == 2:
			g.w("[", g.pick("a", "path"))
			if g.n(0, 2) > 0 {
				g.w(g.pick("=", "^=", "$=", "*=", "~=", "|=", " = "), g.pick("b", "2", "true", g.str()), g.pick("", " i", " s"))
			}
			g.w("]")
		case k == 3 && depth > 0:
			name := g.pick("not", "is", "where", "has")
			g.w(":", name, "(")
			g.selectorList(depth-1, name == "has")
			g.w(")")
		case k == 4:
			g.w(":", g.pick(`glob("src/**/*.py")`, "p(2 n)", "q", `r("")`, "s()"))
		default:
			g.w(".c")
		}
	}
}
