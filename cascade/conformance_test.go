package cascade_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"umwelt/cascade"
	"umwelt/registry"
)

// TestConformance runs the cases with right answers that came with the specification.
func TestConformance(t *testing.T) {
	raw, err := os.ReadFile("../testdata/conformance/cascade.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name, World, View string
		Context           map[string]string
		Expect            []struct {
			Type, ID   string
			Properties map[string]any
		}
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	reg := sandboxRegistry(t)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			w := loadWorld(t, reg, c.World)
			var refs []cascade.Ref
			for typ, id := range c.Context {
				refs = append(refs, cascade.Ref{Type: typ, ID: id})
			}
			r := resolve(t, cascade.New(w, bind(t, reg, c.View)), refs...)
			for _, want := range c.Expect {
				typ := reg.Type(want.Type)
				i := w.Find(typ, want.ID)
				if i < 0 {
					t.Fatalf("no %s %s", want.Type, want.ID)
				}
				got := map[string]any{}
				for _, p := range typ.Properties {
					if v := r.Get(i, p).Resolved; v != nil {
						got[p.Name] = jsonValue(p, v)
					}
				}
				for _, v := range want.Properties {
					if list, ok := v.([]any); ok {
						slices.SortFunc(list, func(a, b any) int { return cmpString(a.(string), b.(string)) })
					}
				}
				if diff := cmp.Diff(want.Properties, got); diff != "" {
					t.Errorf("%s %s:\n%s\nview:\n%s", want.Type, want.ID, diff, c.View)
				}
			}
		})
	}
}

func jsonValue(p *registry.Property, v *registry.Value) any {
	if p.Type.Shape == registry.One {
		return v.Text
	}
	list := []any{}
	sorted := slices.Sorted(slices.Values(v.List))
	for _, m := range slices.Compact(sorted) {
		list = append(list, m)
	}
	return list
}

func cmpString(a, b string) int {
	if a < b {
		return -1
	} else if a > b {
		return 1
	}
	return 0
}
