package jsontarget

import (
	"bytes"
	"encoding/json"
	"testing"

	"umwelt/cascade"
	"umwelt/compilers"
	"umwelt/registry"
	"umwelt/world"
)

// TestCompile checks the document's frame; package report tests what is in it.
func TestCompile(t *testing.T) {
	reg := registry.New()
	w, err := world.New(reg, "empty \xff", "/project", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, list := cascade.New(w, reg.Bind(registry.Options{})).Resolve(nil)
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	c := Compiler()
	in := compilers.Input{Resolution: r, Version: "1.0"}
	out := c.Compile(in)
	if err := out.Diagnostics.Err(); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Schema, Version string
		World           struct {
			Name, Root, Digest string
			Bytes              []byte `json:"name-bytes"`
		}
		Entities, Rules, Diagnostics []any
	}
	d := json.NewDecoder(bytes.NewReader(out.Text))
	if err := d.Decode(&doc); err != nil {
		t.Fatalf("%v in %s", err, out.Text)
	}
	if doc.Schema != "umwelt.policy/1" || doc.Version != "1.0" || string(doc.World.Bytes) != w.Name || doc.World.Root != "/project" || doc.World.Digest != w.Digest() {
		t.Errorf("got %+v", doc)
	}
	if doc.Entities == nil || doc.Rules == nil || doc.Diagnostics == nil {
		t.Errorf("a list is missing in %s", out.Text)
	}
	if again := c.Compile(in); !bytes.Equal(again.Text, out.Text) {
		t.Error("a second run gives other bytes")
	}
}
