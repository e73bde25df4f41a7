package confine

// Access is a set of rights at a path and, for a directory, at everything below it.
type Access uint8

// The rights of an Access.
const (
	Read   Access = 1 << iota // the content of files, and running them
	Write                     // the content of files
	List                      // the names in directories
	Change                    // creating, removing and renaming what directories hold
)

// Grant is one rule of a target that can only allow: from Path down, Access is allowed.
// Path is relative to the root, "." for the root itself.
type Grant struct {
	Path   string
	Kind   Kind
	Access Access
}

// The sentences of the lowerings of Grants.
const (
	whyNoChange = "something below it is protected, and the target cannot protect it in a directory that may be changed, so nothing can be created, removed or renamed directly in"
	whyNoList   = "a directory below it is hidden, and the target cannot hide the names in it, so the names cannot be listed in"
	whyNoLater  = "something below it is less open, and the target can only open what is there, so what appears later stays closed directly in"
	whyShown    = "the target cannot leave hidden names out of a list, so the names cannot be listed in"
)

// Grants is the project for a target that can allow but not deny: where a directory may
// not be granted whole, what lies in it is granted piece by piece. It grants nothing that
// the plan does not, and says what the plan has beyond it. The tree is one that Plan went
// over; what lies at or below a path of except is left out.
func Grants(root *Node, except ...string) ([]Grant, []Lowering) {
	g := &granter{except: map[string]bool{}, whole: map[*Node]Access{}}
	for _, path := range except {
		g.except[path] = true
	}
	g.measure(root, ".")
	g.grant(root, ".", 0)
	return g.grants, g.lowered
}

type granter struct {
	except  map[string]bool
	whole   map[*Node]Access // what may be granted at a directory for all below it
	grants  []Grant
	lowered []Lowering
}

// wanted is what the plan allows at one path, as far as it bears on a grant from above.
// For a directory that is also what it says of files created later.
func wanted(n *Node) Access {
	all := Read | Write | List | Change
	switch {
	case n.Kind == Symlink:
		// A link has no content of its own, and Plan has made its directory keep it.
		return all
	case n.Mode == ReadWrite:
		return all
	case n.Mode == ReadOnly:
		return Read | List
	case n.Kind == Dir:
		return 0
	}
	return List
}

// measure finds what may be granted for everything from a path down.
func (g *granter) measure(n *Node, path string) Access {
	if g.except[path] {
		g.whole[n] = 0
		return 0
	}
	may := wanted(n)
	if n.Kind != Dir {
		return may
	}
	for _, c := range n.Children {
		may &= g.measure(c, join(path, c.Name))
	}
	g.whole[n] = may
	return may
}

// grant adds the grants from a path down, where have is granted from above.
func (g *granter) grant(n *Node, path string, have Access) {
	if g.except[path] || n.Kind == Symlink {
		return
	}
	own := wanted(n)
	if n.Kind != Dir {
		if own &= Read | Write; own&^have != 0 {
			g.grants = append(g.grants, Grant{path, n.Kind, own})
		}
		return
	}
	may := g.whole[n]
	if may&^have != 0 {
		g.grants = append(g.grants, Grant{path, Dir, may})
	}
	g.lose(n, path, own&^(may|have))
	for _, c := range n.Children {
		g.grant(c, join(path, c.Name), have|may)
	}
}

// lose says which rights a directory has in the plan and not here.
func (g *granter) lose(n *Node, path string, lost Access) {
	say := func(to Mode, why string) {
		g.lowered = append(g.lowered, Lowering{Path: path, Kind: Dir, From: n.Mode, To: to, By: n.By, Why: why})
	}
	if lost&Change != 0 {
		say(ReadOnly, whyNoChange)
	}
	if lost&List != 0 {
		say(Hidden, whyNoList)
	}
	if lost&Read != 0 {
		say(Hidden, whyNoLater)
	}
	if n.Mode == Hidden && (n.Shown || path == "." || open(n)) {
		say(Hidden, whyShown)
	}
}

// open reports whether anything below a directory is not hidden, so that a plan makes the
// directory appear.
func open(n *Node) bool {
	for _, c := range n.Children {
		if c.Mode != Hidden || c.Kind == Dir && open(c) {
			return true
		}
	}
	return false
}
