package world

import (
	"strings"
	"testing"
	"time"
)

func TestGlob(t *testing.T) {
	cases := []struct {
		pattern, path string
		want          bool
	}{
		{"*.py", "a.py", true},
		{"*.py", "src/a.py", false},
		{"./*.py", "a.py", true},
		{"src/*.py", "src/a.py", true},
		{"src/*.py", "src/x/a.py", false},
		{"**/*.py", "a.py", true},
		{"**/*.py", "x/y/a.py", true},
		{"src/**", "src/a/b", true},
		{"src/**", "src", true},
		{"src/**", "srcs/a", false},
		{"src/**/a", "src/a", true},
		{"src/**/a", "src/b/c/a", true},
		{"**/**/x", "x/y", false},
		{"**/**/x", "y/z/x", true},
		{"a/**/**", "a/b/c", true},
		{"**/a/**/b", "x/a/b", true},
		{"**/a/**/b", "x/a/b/c", false},
		{"a?c", "abc", true},
		{"a?c", "a/c", false},
		{"a[b-d]c", "acc", true},
		{"a[!b]c", "a/c", false},
		{"a[!b]c", "axc", true},
		{"{a,b/c}/x", "b/c/x", true},
		{"{a,b{1,2}}.go", "b2.go", true},
		{"{a,b}.go", "c.go", false},
		{"node_modules/", "node_modules", true},
		{`a\*b`, "a*b", true},
		{`a\*b`, "axb", false},
		{"project[[]1]", "project[1]", true},
		{"*", ".hidden", true},
		{"**", "a/b/c", true},
		{"a**b", "axxb", true},
		{"a**b", "a/b", false},
		{"*a*b*", "xaxbx", true},
		{"\uFFFD", "\xff", false},
		{"\uFFFD*?", "\xffab", false},
		{"*", "\xff\xfe", true},
		{"?", "\xff", true},
		{"[", "[", false},
		{"{a", "{a", false},
		{"", "", false},
	}
	for _, c := range cases {
		if got := CompileGlob(c.pattern).Match(c.path); got != c.want {
			t.Errorf("%q on %q: %v, want %v", c.pattern, c.path, got, c.want)
		}
	}
}

// TestGlobLiterals checks that what the index is to look for stands in every path that
// fits.
func TestGlobLiterals(t *testing.T) {
	cases := []struct {
		pattern string
		want    GlobLiterals
	}{
		{"src/**/*.py", GlobLiterals{Prefix: "src", Suffix: ".py", Inside: "src"}},
		{"src/*.py", GlobLiterals{Prefix: "src/", Suffix: ".py", Inside: "src"}},
		{"src/a.py", GlobLiterals{Prefix: "src/a.py", Suffix: "a.py", Inside: "a.py", Whole: true}},
		{"**/node_modules/**", GlobLiterals{Inside: "node_modules"}},
		{"**/test_*_x", GlobLiterals{Suffix: "_x", Inside: "test_"}},
		{`a\[b*`, GlobLiterals{Prefix: "a"}},
		{"**", GlobLiterals{}},
	}
	for _, c := range cases {
		if got := CompileGlob(c.pattern).Literals()[0]; got != c.want {
			t.Errorf("%q: %+v, want %+v", c.pattern, got, c.want)
		}
	}
}

func TestGlobIsBounded(t *testing.T) {
	begin := time.Now()
	for _, pattern := range []string{
		strings.Repeat("{a,b}", 40), strings.Repeat("{", 100000), strings.Repeat("**/", 100000) + "x",
		strings.Repeat("*a", 5000), strings.Repeat("{a,{b,", 200),
	} {
		CompileGlob(pattern).Match(strings.Repeat("a", 5000) + "/" + strings.Repeat("b/", 2000))
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}

func FuzzGlob(f *testing.F) {
	for _, s := range [][2]string{{"src/**/*.py", "src/a/b.py"}, {"{a,b}[c-d]?", "ac\xff"}, {`\`, "/"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		g := CompileGlob(pattern)
		if !g.Match(path) {
			return
		}
		ok := false
		for _, l := range g.Literals() {
			ok = ok || strings.HasPrefix(path, l.Prefix) && strings.HasSuffix(path, l.Suffix) &&
				strings.Contains(path, l.Inside) && (!l.Whole || path == l.Prefix)
		}
		if !ok {
			t.Errorf("%q fits %q, which lacks its literals %+v", pattern, path, g.Literals())
		}
	})
}
