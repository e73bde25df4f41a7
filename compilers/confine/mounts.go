package confine

import (
	"path"
	"strings"

	"umwelt/cascade"
	"umwelt/diag"
)

// readMounts is the mounts that the world names. A rule may take from them (make one
// read-only, smaller, or an empty tmpfs); what the host offers only the world can say.
func (r *reader) readMounts(tree *Node) []Mount {
	t := r.typ("mount")
	if t == nil {
		return nil
	}
	var out []Mount
	seen := map[string]bool{}
	for _, i := range r.of(t) {
		e := &r.world.Entities[i]
		at := e.Provenance.At
		m := Mount{Type: "bind"}
		m.Path, _ = e.Attr("path")
		m.Source, _ = e.Attr("source")
		if text, ok := e.Attr("type"); ok {
			m.Type = text
		}
		if v := r.property(i, t, "type"); v.Value != nil && v.Value.Text != m.Type {
			if v.Origin == cascade.Fixed || v.Value.Text == "tmpfs" {
				m.Type = v.Value.Text
			} else {
				r.note(by(v), dropped, "a rule cannot mount what the world does not offer")
			}
		}
		if v := r.property(i, t, "source"); v.Value != nil && v.Value.Text != m.Source {
			if v.Origin == cascade.Fixed {
				m.Source = v.Value.Text
			} else {
				r.note(by(v), dropped, "a rule cannot mount what the world does not offer")
			}
		}
		// Where no rule speaks, the world does; where the world says read-only, no rule
		// takes that back.
		fact, known := e.Attr("readonly")
		readonly := r.property(i, t, "readonly")
		m.ReadOnly = readonly.Value == nil || readonly.Value.Bool()
		switch {
		case fact == "true":
			m.ReadOnly = true
		case known && !set(readonly):
			m.ReadOnly = false
		case !known && !set(readonly) && m.Type == "tmpfs":
			m.ReadOnly = false // an empty directory that nobody can fill serves nobody
		}
		if real := r.world.Real[m.Source]; m.Type == "bind" && real != "" {
			m.Source = real // it may lead to what holds the project
		}
		if m.Type == "tmpfs" {
			m.Source = ""
			m.Size = r.mountSize(i, e.Attr)
		}
		if why := unusable(m); why != "" {
			r.problems.Errorf(diag.BadPath, at, "the mount %s %s", diag.Quote(m.Path), why)
			continue
		}
		if seen[m.Path] {
			r.problems.Errorf(diag.Duplicate, at, "two mounts stand at %s", diag.Quote(m.Path))
			continue
		}
		seen[m.Path] = true
		root := strings.TrimSuffix(r.world.Root, "/")
		if below(m.Path, root) && !hasPoint(tree, m.Path[len(root)+1:]) {
			r.problems.Errorf(diag.BadPath, at, "nothing stands at %s, so mounting there would leave a new file in the project", diag.Quote(m.Path)).
				Hint = "make an empty directory there first, or mount it outside the project"
		}
		if below(m.Path, root) {
			r.note(Source{}, partial, "the mount "+diag.Quote(m.Path)+" stands over a part of the project, where no rule about files holds")
		}
		if m.Type == "bind" && (m.Source == root || below(m.Source, root)) {
			r.note(Source{}, partial, "the mount "+diag.Quote(m.Path)+" shows a part of the project, where no rule about files holds")
		}
		out = append(out, m)
	}
	return out
}

// mountSize is the tighter one of what the world and the rules say of a tmpfs.
func (r *reader) mountSize(i int, attr func(string) (string, bool)) int64 {
	size := int64(0)
	t := r.world.Entities[i].Type
	if text, ok := attr("size"); ok {
		if v, problem := r.world.Registry.TypeText(t.Attribute("size").Type, text); problem == "" {
			size = max(1, whole(v.Num))
		}
	}
	if v := r.property(i, t, "size"); v.Value != nil {
		if n := max(1, whole(v.Value.Num)); size == 0 || n < size {
			size = n
		}
	}
	return size
}

// unusable says what keeps a mount from being made, or "".
func unusable(m Mount) string {
	switch {
	case !path.IsAbs(m.Path) || path.Clean(m.Path) != m.Path || m.Path == "/":
		return "is no absolute path below / without . and .. in it"
	case strings.ContainsRune(m.Path+m.Source, 0):
		return "holds a NUL byte"
	case m.Type == "symlink" && m.Source == "":
		return "is a symlink without a text"
	case m.Type == "bind" && (!path.IsAbs(m.Source) || path.Clean(m.Source) != m.Source):
		return "has no absolute source without . and .. in it"
	}
	return ""
}

// hasPoint reports whether a mount can be made at a path of the project without making
// something there first: it exists, or it lies in an empty directory of the sandbox's own.
func hasPoint(tree *Node, at string) bool {
	n := tree
	for name := range strings.SplitSeq(at, "/") {
		i := n.index(name)
		if i < 0 {
			return n.Mode == Hidden
		}
		n = n.Children[i]
	}
	return true
}
