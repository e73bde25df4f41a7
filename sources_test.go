package umwelt_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"umwelt"
)

// Every file that a policy was read from is among its sources, once, also one of which
// nothing but an order of layers or an inclusion is taken.
func TestSources(t *testing.T) {
	t.Chdir(t.TempDir())
	files := map[string]string{
		"v.umw":              "@import \"lib/order.umw\";\n@import \"lib/order.umw\";\nfile { visible: true }\n",
		"lib/order.umw":      "@layer base, top;\n",
		"more.umw":           "@import \"lib/order.umw\";\nfile { editable: true }\n",
		"words.umw":          "@layer words;\n",
		"w.yml":              "name: w\ninclude: [parts/a.yml]\n",
		"parts/a.yml":        "include: [deeper/b.yml]\n",
		"parts/deeper/b.yml": "env: [CI]\n",
		"apart.umw":          "@layer apart;\n",
	}
	write(t, files)
	p := umwelt.Load(umwelt.Options{World: "w.yml", Vocabularies: []string{"words.umw"}}, "v.umw", "more.umw")
	if err := p.Err(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, src := range p.Sources {
		got = append(got, src.Name)
		if string(src.Text) != files[src.Name] {
			t.Errorf("%s has the text %q", src.Name, src.Text)
		}
	}
	want := []string{"v.umw", "more.umw", "words.umw", "lib/order.umw", "w.yml", "parts/a.yml", "parts/deeper/b.yml"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	view, w := &umwelt.Source{Name: "v", Text: []byte("@layer base;\n")}, &umwelt.Source{Name: "w", Text: []byte("name: w\n")}
	text := umwelt.LoadText(umwelt.Options{}, umwelt.Texts{Views: []*umwelt.Source{view}, World: w})
	if err := text.Err(); err != nil || len(text.Sources) != 2 || text.Sources[0] != view || text.Sources[1] != w {
		t.Errorf("LoadText has the sources %v (%v)", text.Sources, err)
	}
}
