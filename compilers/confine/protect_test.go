package confine_test

import (
	"fmt"
	"testing"

	"umwelt/compilers/confine"
)

func TestProtect(t *testing.T) {
	tree := &confine.Node{Kind: confine.Dir, Mode: confine.ReadWrite, Children: []*confine.Node{
		{Name: "hidden", Mode: confine.Hidden},
		{Name: "src", Kind: confine.Dir, Mode: confine.ReadWrite, Children: []*confine.Node{{Name: "a", Mode: confine.ReadWrite}}},
		{Name: "v.umw", Mode: confine.ReadWrite},
	}}
	c := &confine.Confinement{Root: "/p", Tree: tree}
	c.Plan, _ = confine.Plan(tree)
	got := c.Protect("v.umw", "hidden", "src/unknown/w.yml", "src/a/b")
	if want := "[v.umw src/unknown/w.yml]"; fmt.Sprint(got) != want {
		t.Errorf("protected %v, want %s", got, want)
	}
	var plan []string
	for _, e := range c.Plan {
		plan = append(plan, e.Path+"="+e.Mode.String())
	}
	if want := "[.=rw hidden=hidden src=rw src/unknown=rw src/unknown/w.yml=ro v.umw=ro]"; fmt.Sprint(plan) != want {
		t.Errorf("the plan is %v, want %s", plan, want)
	}
	if c.Protect("v.umw") != nil {
		t.Error("what is protected already counts as changed")
	}
}
