package bwrap

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"umwelt/cascade"
	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/compilers/confine/confinetest"
	"umwelt/world"
)

const discovered = "name: w\ndiscover:\n  - { matcher: filesystem, root: \".\" }\n"

// cssString is a string of the view language for any text in UTF-8.
func cssString(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r >= 'a' && r <= 'z' || r == '/' || r == '.' {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\%x `, r)
		}
	}
	return `"` + b.String() + `"`
}

// drawView makes rules about the paths of a tree and about names that do not exist.
func drawView(t *rapid.T, tree *confine.Node) string {
	targets := []string{"", "new", "n"}
	confinetest.Walk(tree, func(path string, n *confine.Node) {
		if path != "." && utf8.ValidString(path) {
			targets = append(targets, path, path+"/", path[:len(path)/2+1])
		}
	})
	var b strings.Builder
	for range rapid.IntRange(0, 6).Draw(t, "rules") {
		target := rapid.SampledFrom(targets).Draw(t, "target")
		if !utf8.ValidString(target) || slices.Contains(strings.Split(target, "/"), "..") {
			continue // no rule can say it, or may
		}
		quoted := cssString(target)
		dir := strings.TrimSuffix(target, "/")
		selector := rapid.SampledFrom([]string{
			`file`, `file`, `file[path^=` + quoted + `]`, `file[path^=` + quoted + `]`, `file[path=` + cssString(dir) + `]`, `file[path$=` + quoted + `]`,
			`file[name=` + cssString(filepath.Base(dir)) + `]`, `dir[path=` + cssString(dir) + `] file`, `dir[path=` + cssString(dir) + `] > file`, `dir[path=` + cssString(dir) + `]`,
			`file[kind="symlink"]`, `file:not([path^=` + quoted + `])`, `dir`, `*`,
		}).Draw(t, "selector")
		property := rapid.SampledFrom([]string{"editable", "editable", "visible"}).Draw(t, "property")
		value := rapid.Bool().Draw(t, "value")
		flag := rapid.SampledFrom([]string{"", "", "", " !important"}).Draw(t, "flag")
		fmt.Fprintf(&b, "%s { %s: %v%s }\n", selector, property, value, flag)
	}
	return b.String()
}

// truth is what the rules alone say of a file, in a resolution's own answers.
func truth(visible, editable bool) confine.Mode {
	switch {
	case !visible:
		return confine.Hidden
	case editable:
		return confine.ReadWrite
	}
	return confine.ReadOnly
}

// Real directories, a real view, a real kernel: every file can do exactly what the
// resolution says, and nothing can be created that it would not allow.
func TestRandomPoliciesForReal(t *testing.T) {
	needBwrap(t)
	base := t.TempDir()
	mounts := system(t)
	count := 0
	rapid.Check(t, func(rt *rapid.T) {
		count++
		root := filepath.Join(base, fmt.Sprint(count))
		tree := confinetest.Draw(rt, confinetest.Odd, 10)
		confinetest.Plant(t, root, tree)
		view := drawView(rt, tree)
		res := confinetest.Resolve(t, view, discovered, root)
		c, problems := confine.From(res)
		if problems.HasErrors() {
			t.Fatal(problems.Err())
		}
		c.System = mounts
		before := listing(t, root)
		want := policyExpectations(root, res)
		s := sandbox{t: t, c: c, form: rapid.SampledFrom([]string{"json", "nul", "sh"}).Draw(rt, "form")}
		check(t, s, want)
		if after := listing(t, root); after != before {
			t.Fatalf("the tree changed:\n%s\nwas\n%s\nview\n%s", after, before, view)
		}
	})
}

func policyExpectations(root string, res *cascade.Resolution) []expectation {
	w := res.World()
	files, dirs := res.Registry().Type("file"), res.Registry().Type("dir")
	visible, editable := files.Property("visible"), files.Property("editable")
	var out []expectation
	add := func(well bool, do, path, data string) {
		out = append(out, expectation{op: op{Do: do, Path: []byte(root + "/" + path)}, well: well, data: data, why: fmt.Sprintf("the policy says so of %q", path)})
	}
	// What may be created in each directory follows from asking about a file that is not
	// there. The plan may be tighter where names decide, and then it has a note.
	inDir := func(i int, dir string) {
		for _, name := range []string{"new", "n", "a.new", "new-dir/new"} {
			ent := world.Entity{Type: files, ID: confinetest.Join(dir, name), Parent: int32(i),
				Attributes: []world.Attribute{{Name: "path", Text: confinetest.Join(dir, name)}, {Name: "name", Text: filepath.Base(name)}}}
			answer := res.ResolveEntity(&ent)
			if truth(answer[visible.Index].Value.Bool(), answer[editable.Index].Value.Bool()) == confine.ReadWrite {
				continue
			}
			if strings.Contains(name, "/") {
				add(false, "mkdir-create", confinetest.Join(dir, name), "")
			} else {
				add(false, "create", confinetest.Join(dir, name), "")
			}
		}
	}
	for i := range w.Entities {
		e := &w.Entities[i]
		switch e.Type {
		case dirs:
			inDir(i, e.Path())
		case files:
			m := truth(res.Get(i, visible).Value.Bool(), res.Get(i, editable).Value.Bool())
			kind, _ := e.Attr("kind")
			switch kind {
			case "symlink":
				target, _ := e.Attr("target")
				add(m != confine.Hidden && !e.HasClass("escapes"), "readlink", e.Path(), target)
			case "fifo":
				add(m == confine.ReadWrite, "fifo", e.Path(), "")
			default:
				add(m != confine.Hidden, "read", e.Path(), "content of "+e.Path())
				add(m == confine.ReadWrite, "write", e.Path(), "")
			}
			if m != confine.ReadWrite {
				for p := e.Path(); p != "."; p = confinetest.Parent(p) {
					add(false, "remove", p, "")
					out = append(out, expectation{op: op{Do: "rename", Path: []byte(root + "/" + p), New: []byte(root + "/" + p + "-moved")}, why: fmt.Sprintf("%q is %s", e.Path(), m)})
				}
			}
		default:
			if e.Type.Root {
				inDir(i, ".")
			}
		}
	}
	return out
}

// Nothing that a world leaves out can be read, changed or listed, in a real sandbox.
func TestNothingOutsideTheWorldForReal(t *testing.T) {
	needBwrap(t)
	base := t.TempDir()
	mounts := system(t)
	count, outsiders, insiders := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		count++
		tree := confinetest.DrawLarge(rt, confinetest.Names, 12)
		root := filepath.Join(base, fmt.Sprint(count))
		confinetest.Plant(t, root, tree)
		git := rapid.IntRange(0, 4).Draw(rt, "repository") == 0 && confinetest.Commit(rt, root, tree)
		file := confinetest.DrawWorld(rt, tree, git)
		view := rapid.SampledFrom(confinetest.Views).Draw(rt, "view")
		res := confinetest.Resolve(t, view, file, root)
		c, problems := confine.FromWith(res, confine.Options{Usual: rapid.Bool().Draw(rt, "usual")})
		if problems.HasErrors() {
			t.Fatal(problems.Err())
		}
		c.System = mounts
		out := confinetest.Outside(res.World(), tree)
		var ops []op
		confinetest.Walk(tree, func(path string, n *confine.Node) {
			at := []byte(root + "/" + path)
			switch {
			case !out[path]:
				if n.Kind == confine.File {
					insiders++
				}
				return
			case n.Kind == confine.Dir && confinetest.Leads(path, out):
				ops = append(ops, op{Do: "create", Path: append(at, "/new"...)})
			case n.Kind == confine.Dir:
				ops = append(ops, op{Do: "list", Path: at}, op{Do: "create", Path: append(at, "/new"...)}, op{Do: "remove", Path: at})
			case n.Kind == confine.Symlink:
				ops = append(ops, op{Do: "readlink", Path: at})
			default:
				ops = append(ops, op{Do: "read", Path: at}, op{Do: "append", Path: at}, op{Do: "truncate", Path: at}, op{Do: "remove", Path: at},
					op{Do: "rename", Path: at, New: []byte("/tmp/moved")}, op{Do: "link", Path: at, New: []byte("/tmp/linked")})
			}
			outsiders++
		})
		before := listing(t, root)
		s := sandbox{t: t, c: c, form: rapid.SampledFrom([]string{"json", "nul", "sh"}).Draw(rt, "form")}
		for i, r := range s.run(ops) {
			if r.Error == "" && len(r.Names) == 0 && ops[i].Do == "list" {
				continue // it is covered by an empty directory
			}
			if r.Error == "" {
				t.Fatalf("%s %q went well: %q %q\n%s\n%s\n%s", ops[i].Do, ops[i].Path, r.Data, r.Names, view, file, s.compile())
			}
		}
		if after := listing(t, root); after != before {
			t.Fatalf("the tree changed:\n%s\nwas\n%s\n%s\n%s", after, before, view, file)
		}
	})
	if outsiders < count || insiders < count {
		t.Errorf("in %d cases, %d paths are not in the world and %d files are: that proves little", count, outsiders, insiders)
	}
}

// A directory that every new file may be written in takes new files.
func TestNewFilesForReal(t *testing.T) {
	needBwrap(t)
	root := t.TempDir()
	confinetest.Plant(t, root, smallTree())
	res := confinetest.Resolve(t, `file { visible: true } file[path^="src/"] { editable: true } file[path="src/deep/lock"] { editable: false } file[path=".env"] { visible: false }`, discovered, root)
	c, problems := confine.From(res)
	if problems.HasErrors() {
		t.Fatal(problems.Err())
	}
	c.System = system(t)
	r := sandbox{t: t, c: c, form: "sh"}.run([]op{
		{Do: "create", Path: []byte(root + "/src/new")}, {Do: "mkdir", Path: []byte(root + "/src/deep/new")}, {Do: "create", Path: []byte(root + "/new")},
		{Do: "create", Path: []byte(root + "/docs/new")}, {Do: "rename", Path: []byte(root + "/src/a.py"), New: []byte(root + "/src/deep/lock")},
	})
	for i, well := range []bool{true, true, false, false, false} {
		if (r[i].Error == "") != well {
			t.Errorf("%d: %q", i, r[i].Error)
		}
	}
}

// Each view in sugar and the same in rules compile to the same bytes in every form.
func TestPairsCompileAlike(t *testing.T) {
	pairs, err := filepath.Glob("../../examples/*/*.rules.umw")
	if err != nil || len(pairs) < 5 {
		t.Fatalf("%d pairs, %v", len(pairs), err)
	}
	for _, rules := range pairs {
		sugar := strings.TrimSuffix(rules, ".rules.umw") + ".umw"
		root, err := filepath.Abs(filepath.Join(filepath.Dir(rules), "project"))
		if err != nil {
			t.Fatal(err)
		}
		world := discovered + "tools: [Bash, Read, Edit]\nenv: [CI, LANG]\n"
		if strings.Contains(rules, "named") {
			world += "entities:\n  - { type: source, id: auth, attributes: { root: src/auth } }\n"
		}
		for _, form := range []string{"json", "lines", "nul", "sh"} {
			var texts []string
			for _, path := range []string{sugar, rules} {
				view, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				out := Compiler.Compile(compilers.Input{Resolution: confinetest.Resolve(t, string(view), world, root), Set: map[string]string{"form": form}})
				if out.Diagnostics.HasErrors() {
					t.Fatal(out.Diagnostics.Err())
				}
				texts = append(texts, string(out.Text))
			}
			if texts[0] != texts[1] {
				t.Errorf("%s, %s:\n%s\n%s", rules, form, texts[0], texts[1])
			}
		}
	}
}
