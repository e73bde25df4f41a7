package narrow

import (
	"strings"
	"testing"

	"umwelt/ast"
	"umwelt/diag"
	"umwelt/parser"
)

// What is imported counts, is said to be wide where it is, and is not rewritten.
func TestImportsAreNotRewritten(t *testing.T) {
	importer := func(*diag.Source, string) (*ast.View, diag.List, error) {
		v, list := parser.Parse(&diag.Source{Name: "base.umw", Text: []byte(`file[path^="src/"] { visible: true; }`)})
		return v, list, nil
	}
	view := "@import \"base.umw\";\n\nfile[path=\"README\"] { visible: true; }\nfile[path=\"LICENSE\"] { visible: true; }"
	in := Input{World: loadWorld(t, snapshot([]string{"src/a", "src/b", "README", "LICENSE"})), View: parseView(t, view), Import: importer}
	p := propose(t, in, seen(t, "read file src/a\nread file README"))
	if got, want := bodyOf(p), "@import \"base.umw\";\nfile[path=\"README\"] { visible: true; }"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if k := p.Report.Kept; len(k) == 0 || !strings.Contains(k[0].Why, "imported") {
		t.Errorf("%+v", k)
	}
	if r := p.Report.Removed; len(r) != 1 || !strings.Contains(r[0].Text, "LICENSE") || r[0].At != "v.umw:4:24" {
		t.Errorf("%+v", r)
	}
}

// What the current view does not allow is not granted, and is reported.
func TestNeverWider(t *testing.T) {
	in := Input{World: loadWorld(t, snapshot([]string{"a", "b", "c"}, "{ type: tool, id: Read, attributes: { level: 1 } }")), Options: Options{Headroom: 0.2},
		View: parseView(t, "file { visible: true; }\nfile[path=\"a\"] { visible: false; }\nresource { memory: 1MB; }")}
	p := propose(t, in, seen(t, "read file a\nread file b\nwrite file b\ncall tool Read call=x\nconnect network x.org:443\nmeasure resource memory value=2097152\ncreate file new"))
	var got []string
	for _, x := range p.Report.NotAllowed {
		got = append(got, x.Type+" "+x.ID)
	}
	if s := strings.Join(got, ", "); s != "file a, file b, file new, dir ., tool Read, network x.org:443, resource memory" {
		t.Errorf("not allowed: %s", s)
	}
	if body := bodyOf(p); !strings.Contains(body, `file[path="b"] { visible: true; }`) || strings.Contains(body, "editable") || strings.Contains(body, "x.org") || strings.Contains(body, "Read") || !strings.Contains(body, "memory: 1MB") {
		t.Errorf("%s", p.Text)
	}
	if len(p.Report.Table) == 0 || p.Report.Table[0].Before != "2" {
		t.Errorf("%+v", p.Report.Table)
	}
}
