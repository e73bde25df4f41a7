package umwelt_test

import (
	"os"
	"path/filepath"
	"testing"

	"umwelt"
	"umwelt/cascade"
)

// TestAViewDoesNotMeetItsOwnCondition holds that a mode which exists only because the
// view names it is not active until the caller says so.
func TestAViewDoesNotMeetItsOwnCondition(t *testing.T) {
	dir := t.TempDir()
	view := filepath.Join(dir, "v.umw")
	if err := os.WriteFile(view, []byte(`mode#review tool#Bash { allow: true; }`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		context []cascade.Ref
		want    bool
	}{
		{nil, false},
		{[]cascade.Ref{{Type: "mode", ID: "review"}}, true},
	} {
		p := umwelt.Load(umwelt.Options{Root: dir, Context: c.context}, view)
		if err := p.Err(); err != nil {
			t.Fatal(err)
		}
		tool := p.Registry.Type("tool")
		got := p.Resolution.Get(p.World.Find(tool, "Bash"), tool.Property("allow")).Value.Bool()
		if got != c.want {
			t.Errorf("context %v: allow is %v", c.context, got)
		}
	}
}
