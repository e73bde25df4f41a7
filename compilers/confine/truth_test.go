package confine_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"umwelt/compilers/confine"
	"umwelt/compilers/confine/confinetest"
)

func outline(tree *confine.Node) string {
	var out []string
	confinetest.Walk(tree, func(path string, n *confine.Node) {
		if n.Kind == confine.Dir {
			path += "/"
		}
		out = append(out, fmt.Sprint(n.Mode, " ", path))
	})
	return strings.Join(out, ", ")
}

// TestTree: the modes are those of the policy, also where mounts cannot give them.
func TestTree(t *testing.T) {
	root := t.TempDir()
	for _, err := range []error{
		os.Mkdir(root+"/src", 0o755), os.WriteFile(root+"/src/a", nil, 0o644), os.Symlink("a", root+"/src/l"), os.Symlink("../../x", root+"/src/out"), os.WriteFile(root+"/top", nil, 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	const world = "name: w\ndiscover: [{ matcher: filesystem, root: \".\" }]\n"
	res := confinetest.Resolve(t, `file[path^="src/"] { editable: true; } file[path="src/l"] { editable: false; visible: true; }`, world, root)
	tree, problems := confine.Tree(res)
	if problems.HasErrors() {
		t.Fatal(problems.Err())
	}
	if got, want := outline(tree), "hidden ./, rw src/, rw src/a, ro src/l, rw src/out, hidden top"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if _, problems := confine.Tree(confinetest.Resolve(t, ``, "name: w\n", "")); !problems.HasErrors() {
		t.Error("a world without a root has a tree")
	}
}

func TestCap(t *testing.T) {
	for _, tt := range []struct {
		path string
		more bool
		want string
	}{
		{"src/a", true, "hidden ./, rw src/, ro src/a, rw src/b"},
		{"./src/a", true, "hidden ./, rw src/, ro src/a, rw src/b"},
		{"src/new", true, "hidden ./, rw src/, rw src/a, rw src/b, ro src/new"},
		{"src/0/new", true, "hidden ./, rw src/, rw src/0/, ro src/0/new, rw src/a, rw src/b"},
		{"top", false, "hidden ./, rw src/, rw src/a, rw src/b, hidden top"},
		{"src", false, "hidden ./, rw src/, rw src/a, rw src/b"},
		{"src/a/x", false, "hidden ./, rw src/, rw src/a, rw src/b"},
		{"../x", false, "hidden ./, rw src/, rw src/a, rw src/b"},
		{"/x", false, "hidden ./, rw src/, rw src/a, rw src/b"},
	} {
		tree := &confine.Node{Kind: confine.Dir, Children: []*confine.Node{{Name: "src", Kind: confine.Dir, Mode: confine.ReadWrite, Children: []*confine.Node{
			{Name: "a", Mode: confine.ReadWrite}, {Name: "b", Mode: confine.ReadWrite}}}}}
		if more := tree.Cap(tt.path, confine.ReadOnly); more != tt.more || outline(tree) != tt.want {
			t.Errorf("%s: %v %s", tt.path, more, outline(tree))
		}
	}
}
