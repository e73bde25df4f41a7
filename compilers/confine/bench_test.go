package confine_test

import (
	"fmt"
	"strings"
	"testing"

	. "umwelt/compilers/confine"
	"umwelt/compilers/confine/confinetest"
	"umwelt/registry"
	"umwelt/world"
)

// From over 100,000 files, of which one directory is writable. The naive form
// asks for every file and mounts it by itself.
func BenchmarkFrom(b *testing.B) {
	res := confinetest.ResolveFound(b, `file { visible: true } file[path^="d0500/"] { editable: true }`, "/project", func(reg *registry.Registry) []world.Entity {
		entity := func(typ, path string, parent int32) world.Entity {
			t := reg.Type(typ)
			attrs := []world.Attribute{{Name: "path", Text: path}, {Name: "name", Text: path[strings.LastIndexByte(path, '/')+1:]}}
			return world.Entity{Type: t, ID: path, Attributes: world.Complete(t, path, attrs), Parent: parent}
		}
		var out []world.Entity
		for i := range 1000 {
			dir := fmt.Sprintf("d%04d", i)
			at := int32(len(out))
			out = append(out, entity("dir", dir, world.NoParent))
			out[at].Listed = true
			for j := range 100 {
				out = append(out, entity("file", fmt.Sprintf("%s/f%02d", dir, j), at))
			}
		}
		return out
	})
	b.Run("plan", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c, problems := From(res)
			if problems.HasErrors() || len(c.Plan) != 2 {
				b.Fatal(len(c.Plan), problems.Err())
			}
		}
	})
	b.Run("mount-per-file", func(b *testing.B) {
		b.ReportAllocs()
		file := res.Registry().Type("file")
		visible, editable := file.Property("visible"), file.Property("editable")
		for b.Loop() {
			var entries []Entry
			for i := range res.World().Entities {
				e := &res.World().Entities[i]
				if e.Type == file && res.Get(i, visible).Value.Bool() {
					m := ReadOnly
					if res.Get(i, editable).Value.Bool() {
						m = ReadWrite
					}
					entries = append(entries, Entry{Path: e.Path(), Mode: m})
				}
			}
			if len(entries) != 100_000 {
				b.Fatal(len(entries))
			}
		}
	})
}
