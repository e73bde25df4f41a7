package confine

// Node is one path of the project and what the policy says of it, the input of Plan.
//
// Mode is the mode of the path itself. For a directory it is what a file created later
// below it may be, outside the directories that stand among Children. Children lie in
// one directory, so their names differ; they come in byte order of their names.
type Node struct {
	Name    string
	Kind    Kind
	Mode    Mode
	Shown   bool // a directory that may be seen though nothing in it may
	Escapes bool // a symlink that leads out of the root
	Left    bool // the world leaves it out, so it is Hidden

	whole  bool // a directory of which the world has everything that it holds, whatever that is
	broken bool // what the world says of it contradicts itself, so nothing in it may show

	Target   string // the text of a symlink
	By       Source // what decided the mode
	Children []*Node
}

// why is what decided the mode, for people.
func (n *Node) why() string {
	if n.Left {
		return whyLeft
	}
	return n.By.String()
}

// Lowering is one mode that mounts cannot give, and the tighter one that stands for it.
type Lowering struct {
	Path     string // relative to the root
	Kind     Kind
	From, To Mode
	By       Source // what decided the mode that cannot be given
	Why      string // a plain sentence about every path with the same one, no final stop
}

// The sentences of Lowering.Why.
const (
	whyHiddenLink    = "a hidden symbolic link cannot be covered by a mount, so its directory is rebuilt from its visible entries and no file can be added to it"
	whyProtectedLink = "a protected symbolic link cannot be mounted over, so its directory is not writable and only the writable entries in it are"
	whyEscapes       = "the symbolic link leads out of the root, so it does not appear"
	whySpecial       = "a read-only mount does not stop writes to a FIFO, socket or device, so it is hidden"
	whyRebuiltLink   = "the symbolic link stands in a directory that is not writable, so it can be followed but not replaced"
)

// Plan is the least list of entries that gives every path of the tree exactly its mode,
// parents before children. Where mounts cannot give a mode, the path gets a tighter one
// and a Lowering says so. It changes the modes of the nodes to what the plan gives.
func Plan(root *Node) ([]Entry, []Lowering) {
	p := &planner{}
	p.settle(root, ".")
	p.emit(root, ".", Hidden, true)
	return p.entries, p.lowered
}

type planner struct {
	entries []Entry
	lowered []Lowering
}

// settle lowers the modes that mounts cannot give, from the leaves up.
func (p *planner) settle(dir *Node, path string) {
	want := dir.Mode
	for _, n := range dir.Children {
		switch {
		case n.Kind == Dir:
			p.settle(n, join(path, n.Name))
		case n.Kind == Symlink && n.Escapes:
			// It is said even where the link is hidden by the policy anyway: a path out of
			// the root deserves to be known.
			p.lower(n, join(path, n.Name), Hidden, whyEscapes)
		case n.Kind == Special && n.Mode == ReadOnly:
			p.lower(n, join(path, n.Name), Hidden, whySpecial)
		}
		if n.Kind != Symlink || n.Mode >= dir.Mode {
			continue
		}
		// The link's directory must not let anybody see, or replace, the link.
		dir.Mode = n.Mode
	}
	if dir.Mode != want {
		why := whyProtectedLink
		if dir.Mode == Hidden {
			why = whyHiddenLink
		}
		p.lowered = append(p.lowered, Lowering{Path: path, Kind: Dir, From: want, To: dir.Mode, By: dir.By, Why: why})
		dir.Shown = true
	}
	for _, n := range dir.Children {
		if n.Kind == Symlink && n.Mode == ReadWrite && dir.Mode != ReadWrite {
			p.lower(n, join(path, n.Name), ReadOnly, whyRebuiltLink)
		}
	}
}

func (p *planner) lower(n *Node, path string, to Mode, why string) {
	p.lowered = append(p.lowered, Lowering{Path: path, Kind: n.Kind, From: n.Mode, To: to, By: n.By, Why: why})
	n.Mode = to
}

// emit adds the entries of a directory, which stands in one of mode inherited.
func (p *planner) emit(dir *Node, path string, inherited Mode, root bool) {
	at := len(p.entries)
	own := Entry{Path: path, Mode: dir.Mode, Kind: Dir, Why: dir.why(), Shown: dir.Mode == Hidden && dir.Shown}
	p.entries = append(p.entries, own)
	for _, n := range dir.Children {
		switch {
		case n.Kind == Dir:
			p.emit(n, join(path, n.Name), dir.Mode, false)
		case n.Kind == Symlink && dir.Mode != Hidden:
			// The directory carries the link itself.
		case n.Kind == Special && n.Mode == ReadWrite && dir.Mode == ReadOnly:
			// A read-only mount leaves it writable already.
		case n.Mode != dir.Mode:
			p.entries = append(p.entries, Entry{Path: join(path, n.Name), Mode: n.Mode, Kind: n.Kind, Target: n.Target, Why: n.why()})
		}
	}
	holds := len(p.entries) > at+1
	switch {
	case root || dir.Mode != inherited:
	case dir.Mode == ReadWrite && holds:
		// Something below is protected: without a mount point here, renaming this
		// directory would carry the protection away and free the path.
		p.entries[at].Pin = true
	case own.Shown && !holds:
		// Nothing below makes the directory appear.
	default:
		p.entries = append(p.entries[:at], p.entries[at+1:]...)
	}
}

func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}
