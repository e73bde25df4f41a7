package discover

import (
	"strings"

	"umwelt/world"
)

// look says what stands at paths below the root: of each, what it is, and where a link
// leads. Where something on the way is no directory, it says that in its place, since what
// is called by such a path lies somewhere else. It says nothing of what is not there.
func look(req world.Request, paths []string) world.Result {
	var res world.Result
	req.Stat = false
	e := emitter{req: &req, res: &res, place: place{base: req.Root, inside: "."}, bounds: boundsOf(req.Root)}
	e.dir, e.file = e.shapeOf(dirType), e.shapeOf(fileType)
	if e.dir.typ == nil || e.file.typ == nil {
		return world.Result{} // where there are no such types, nobody can declare them
	}
	t, err := openTree(req.Root)
	if err != nil {
		return res
	}
	defer t.close()
	e.walker = &walker{tree: t, inside: "."}
	seen := map[string]bool{}
	for _, p := range paths {
		for at := 0; ; {
			// From the top down to the first that is no directory.
			next := strings.IndexByte(p[at:], '/')
			end := len(p)
			if next >= 0 {
				end = at + next
			}
			x := entry{path: p[:end], name: int32(at)}
			var there bool
			if x.kind, there = t.kindOf(x.path); !there {
				break
			}
			last := end == len(p)
			if (last || x.kind != directory) && !seen[x.path] {
				seen[x.path] = true
				e.sight(x)
			}
			if last || x.kind != directory {
				break
			}
			at = end + 1
		}
	}
	return res
}

// sight adds what is seen of one entry.
func (e *emitter) sight(x entry) {
	dir := ""
	if x.name > 0 {
		dir = x.path[:x.name-1]
	}
	var l looked
	if looks := e.lookCloser(&listing{entries: []entry{x}}, dir); looks != nil {
		l = looks[0]
	}
	ent := e.entity(&x, &l.more)
	ent.Parent = world.NoParent
	if l.escapes {
		ent.Classes = escapesClass
	}
	if x.kind == regular || x.kind == directory {
		ent.Attributes = world.Complete(ent.Type, x.path, []world.Attribute{attr(ent.Type.PathAttr, x.path)})
	}
	e.res.Entities = append(e.res.Entities, ent)
}
