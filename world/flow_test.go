package world

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"umwelt/diag"
)

// strictly reads text by way of the YAML library alone.
func strictly(src *diag.Source) (*node, diag.List) {
	var l diag.List
	if !checkText(src, &l) {
		return nil, l
	}
	root := decode(src, &l)
	if root == nil || len(root.Content) == 0 {
		return nil, l
	}
	r := reader{src: src, list: &l, lines: lineStarts(src.Text), made: map[*yaml.Node]*node{}, templates: true}
	return r.read(root.Content[0], 0), l
}

// sameNode says where two trees differ, or "".
func sameNode(a, b *node, at string) string {
	if a == nil || b == nil || a.kind != b.kind || a.text != b.text || a.null != b.null || a.size != b.size || a.plain != b.plain && a.kind == scalarNode ||
		a.at.Start != b.at.Start || a.kind == scalarNode && a.at.End != b.at.End || len(a.items) != len(b.items) || len(a.pairs) != len(b.pairs) {
		return at
	}
	for i := range a.items {
		if d := sameNode(a.items[i], b.items[i], at+"[]"); d != "" {
			return d
		}
	}
	for i := range a.pairs {
		x, y := a.pairs[i], b.pairs[i]
		if x.key != y.key || x.keyAt.Start != y.keyAt.Start || x.keyAt.End != y.keyAt.End {
			return at + "." + x.key + " (key)"
		}
		if d := sameNode(x.value, y.value, at+"."+x.key); d != "" {
			return d
		}
	}
	return ""
}

// agree checks that what the quick reader accepts means the same to the YAML reader, and
// reports whether it accepted.
func agree(t *testing.T, text []byte) bool {
	t.Helper()
	src := &diag.Source{Name: "s", Text: text}
	var l diag.List
	if !checkText(src, &l) {
		return false
	}
	quick := readWritten(src, &l)
	if quick == nil {
		if len(l) > 0 {
			t.Fatalf("it is not accepted, and something is reported: %v", l)
		}
		return false
	}
	strict, more := strictly(src)
	if strict == nil {
		t.Fatalf("it is accepted, and the YAML reader says %v\n%q", more, text)
	}
	if d := sameNode(strict, quick, "root"); d != "" {
		t.Fatalf("they differ at %s\n%q", d, text)
	}
	if !reflect.DeepEqual(l, more) {
		t.Fatalf("reported %v, want %v\n%q", l, more, text)
	}
	return true
}

func TestReadWritten(t *testing.T) {
	for _, name := range []string{"snapshot-full.yml", "snapshot-full.json", "snapshot-outline.yml", "snapshot-outline.json", "snapshot-summary.yml", "snapshot-summary.json"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if !agree(t, text) {
			t.Errorf("%s is not read the quick way", name)
		}
		// Every text that differs from it by one byte is refused or read alike.
		for i := range text {
			for _, c := range []byte("\n :\"'-,{}[]#&*!|>\\a1~\t\r") {
				if changed := append(bytes.Clone(text[:i]), append([]byte{c}, text[i+1:]...)...); len(text) < 3000 && i%7 == int(c)%7 {
					agree(t, changed)
				}
			}
		}
	}
	for _, text := range []string{
		"meta:\n", "meta: {a: b", "meta: {a: b}x\n", "meta: a\n  b\n", "meta: a\n\n", "meta: a # b\n", "meta: a\nmeta: b\n", "meta: 'a'\n", "a: \"\\x00\"\n", "a: \"\\ud83d\\ude00\"\n",
		"a: \"b\n  c\"\n", "a: {b:c}\n", "a: [b,]\n", "a: [,b]\n", "a: {b: , c: d}\n", "---\na: b\n", "a: b\n...\n", "a: &x b\n", "a: *x\n", "a: !!str b\n", "a: |\n  b\n", "- a: b\n",
		"a:\n- b: c\n   d: e\n", "a:\n- b: c\n  d: e\n f: g\n", "a:\n  b: c\n  d\n", "a: {b: {c: d}}\n", "{\"a\": b, \"c\":\n[d,\ne]}", "{\"a\": 1} x", "{a: b}\n\n\n", "a: b\u2028\n", "\ufeffa: b\n",
		"a: " + strings.Repeat("[", 70) + strings.Repeat("]", 70) + "\n", strings.Repeat("k", 1025) + ": b\n", "a: é\n", "a: \"é\" \n", "a: b: c\n", "a: {\"b\": \"${X}\"}\n",
	} {
		agree(t, []byte(text))
	}
}

func FuzzReadWritten(f *testing.F) {
	for _, name := range []string{"snapshot-full.yml", "snapshot-full.json", "snapshot-summary.yml"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("a: [b, \"c\\u0041\", {d: e}]\nf:\n- g: h\n  i: []\nj:\n  k: {}\n"))
	f.Fuzz(func(t *testing.T, text []byte) { agree(t, text) })
}
