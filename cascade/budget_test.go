package cascade_test

import (
	"fmt"
	"strings"
	"testing"

	"umwelt/cascade"
	"umwelt/diag"
)

// TestTooMuchTogether resolves views that are small and ask for as much as rules and
// entities have pairs: they are refused before the work is done.
func TestTooMuchTogether(t *testing.T) {
	reg := sandboxRegistry(t)
	each := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	world := loadWorld(t, reg, "tools: ["+each(6000, "t%d, ")+"]\n")
	for _, tt := range []struct {
		name, view string
		refused    bool
	}{
		{"many rules for one entity each", each(6000, "tool#t%d { allow: true; }\n"), false},
		{"many rules for all", each(6000, "tool.x%[1]d, tool { allow: true; }\n"), false},
		{"both", each(6000, "tool { allow: true; }\ntool#t%d { visible: true; }\n"), true},
		{"long lists", "tool { allow-pattern: a" + each(15000, ", b%d") + "; }\n" + each(6000, "tool#t%d { visible: true; }\n"), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, list := cascade.New(world, bind(t, reg, tt.view)).Resolve(nil)
			if refused := list.HasErrors(); refused != tt.refused || refused != (r == nil) {
				t.Fatalf("refused %v: %v", refused, list.Err())
			}
			if tt.refused && list[0].Code != diag.TooLarge {
				t.Errorf("got %v", list.Err())
			}
		})
	}
}

// TestManyLocks resolves thousands of locks of one property, which bind one another.
func TestManyLocks(t *testing.T) {
	reg := sandboxRegistry(t)
	view := "@layer a {" + strings.Repeat("tool { allow: false !locked; }\n", 2000) + strings.Repeat("tool { allow: true !locked; }\n", 2000) + "}" + strings.Repeat("tool { allow: true; }\n", 50000)
	r, list := cascade.New(loadWorld(t, reg, "tools: [t]\n"), bind(t, reg, view)).Resolve(nil)
	if list.HasErrors() {
		t.Fatal(list.Err())
	}
	tool := reg.Type("tool")
	if got := r.Get(r.World().Find(tool, "t"), tool.Property("allow")); got.Value.Bool() {
		t.Error("the lock does not bind")
	}
}
