package container

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/compilers/shell"
	"umwelt/diag"
)

// container is what every form says, each in its own syntax.
type container struct {
	tool        Tool
	image, user string
	workdir     string
	network     string // a network's name, "none", or "" for the tool's default
	runtime     string
	mounts      []mount
	pass, set   []string // names of variables
	path        string   // PATH inside
	limits      confine.Limits
	wall        time.Duration // 0 for no limit
	maxFDs      string        // where no rule limits them; "" for the tool's default
	covered     bool          // some mount is a cover
	cover       string        // what covers a file
	madeCover   bool          // the script makes it
	out         compilers.Output
}

// mount is one mount of the container. Paths are absolute and in UTF-8.
type mount struct {
	kind           kind
	source, target string
	readOnly       bool
	size           int64  // of a tmpfs in bytes; 0 for no limit
	mode           string // of a tmpfs: octal digits
}

type kind uint8

const (
	bind kind = iota
	cover
	tmpfs
)

// hostPath is where programs are looked up where no rule sets a search path.
const hostPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// read puts everything together that is the same in every form.
func (t Tool) read(info compilers.Info, c *confine.Confinement, in compilers.Input) *container {
	r := &container{tool: t, limits: c.Limits, path: c.SearchPath, cover: "/dev/null"}
	r.out.Notes = append(r.out.Notes, c.Notes...)
	r.options(info, c, in)
	open, notes := c.Network.AllOrNothing()
	r.out.Notes = append(r.out.Notes, notes...)
	if !open {
		r.network = "none"
	}
	if r.path == "" {
		r.path = hostPath
	}
	if problem := unsayable(r.path); problem != "" {
		r.out.Diagnostics.Errorf(diag.Invalid, diag.Span{}, "the search path %s", problem)
	}
	if l := c.Limits.WallTime; l != nil {
		r.wall = max(time.Millisecond, time.Duration(*l).Truncate(time.Millisecond))
	}
	if !r.out.Diagnostics.HasErrors() {
		r.readMounts(c)
	}
	r.readEnv(c.Env, in.Option(info, "form"))
	return r
}

// options reads and checks the target's options.
func (r *container) options(info compilers.Info, c *confine.Confinement, in compilers.Input) {
	var problem string
	if r.workdir, problem = c.Workdir(in.Option(info, "workdir")); problem != "" {
		r.out.Diagnostics.Errorf(diag.BadOption, diag.Span{}, "%s", problem)
	}
	r.image, r.user, r.network = in.Option(info, "image"), in.Option(info, "user"), in.Option(info, "network")
	if r.image == "" {
		r.out.Diagnostics.Errorf(diag.BadOption, diag.Span{}, "image names none")
	}
	if r.tool.Runtime {
		r.runtime, r.maxFDs = in.Option(info, "runtime"), in.Option(info, "max-fds")
		if _, err := strconv.ParseUint(r.maxFDs, 10, 31); r.maxFDs != "" && err != nil {
			r.out.Diagnostics.Errorf(diag.BadOption, diag.Span{}, "max-fds takes a number, not %s", diag.Quote(r.maxFDs))
		}
	}
	for _, key := range []string{"image", "user", "network", "runtime"} {
		if v := in.Option(info, key); !word(v) {
			r.out.Diagnostics.Errorf(diag.BadOption, diag.Span{}, "%s takes a plain word, not %s", key, diag.Quote(v))
		}
	}
	if !r.tool.NoDev {
		if v := in.Option(info, "cover"); v != "" {
			r.cover = v
			if !path.IsAbs(v) || path.Clean(v) != v || unsayable(v) != "" {
				r.out.Diagnostics.Errorf(diag.BadOption, diag.Span{}, "cover takes an absolute path without . and .. in it, not %s", diag.Quote(v))
			}
		} else {
			r.madeCover = in.Option(info, "form") == "sh"
			if r.madeCover {
				r.cover = madeHere
			}
		}
	}
}

// word reports whether s can be taken for nothing but an operand.
func word(s string) bool {
	return !strings.HasPrefix(s, "-") && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:/@+") == ""
}

// readMounts turns the layout into mounts. The tools make them parents first, whatever
// their order in the text.
func (r *container) readMounts(c *confine.Confinement) {
	var links []string
	for _, s := range c.Layout(r.workdir) {
		m := mount{source: s.Source, target: s.Path, readOnly: s.ReadOnly}
		switch s.Kind {
		case confine.Bind:
		case confine.Cover:
			m.kind, m.source, r.covered = cover, r.cover, true
		case confine.Tmpfs:
			m.kind, m.size, m.mode = tmpfs, s.Size, s.Perms
			if m.mode == "" {
				m.mode = "1777"
			}
		case confine.Proc, confine.Dev:
			// Every container has its own at the usual place.
			if s.Path != "/proc" && s.Path != "/dev" {
				r.remark("the target has /proc and /dev at their own places only, so " + diag.Quote(s.Path) + " is not made")
			}
			continue
		case confine.Link:
			if s.Path == r.workdir || strings.HasPrefix(s.Path, r.workdir+"/") {
				r.noLink(c, strings.TrimPrefix(s.Path, r.workdir+"/"))
			} else {
				links = append(links, s.Path)
			}
			continue
		}
		for _, p := range []string{m.source, m.target} {
			if problem := unsayable(p); problem != "" {
				r.out.Diagnostics.Errorf(diag.BadPath, diag.Span{}, "the path %s %s", diag.Quote(p), problem).
					Hint = "compile for bwrap, which takes any name"
			}
		}
		r.mounts = append(r.mounts, m)
	}
	if links != nil {
		r.remark("the target cannot make symbolic links, so the image's own stand at " + diag.Escape(strings.Join(links, ", ")))
	}
	if r.covered && !r.tool.NoDev && r.cover == "/dev/null" {
		r.remark("hidden files are covered by /dev/null, which takes what is written and forgets it; name an unreadable empty file with cover, or use the form sh")
	}
}

// noLink notes that a link of the project, in a directory that is made anew, is left out.
func (r *container) noLink(c *confine.Confinement, path string) {
	l := confine.Lowering{Path: path, Kind: confine.Symlink, Why: "the target cannot make symbolic links, so it does not appear"}
	n := c.Tree
	for name := range strings.SplitSeq(path, "/") {
		var in *confine.Node
		if n != nil {
			for _, child := range n.Children {
				if child.Name == name {
					in = child
				}
			}
		}
		n = in
	}
	if n != nil {
		l.By, l.From = n.By, n.Mode
	}
	r.out.Notes = append(r.out.Notes, confine.LoweringNotes([]confine.Lowering{l})...)
}

// unsayable says why no container tool could be told a path, or "".
func unsayable(p string) string {
	switch {
	case !utf8.ValidString(p):
		return "is not UTF-8, and the tool would mount another one"
	case strings.Contains(p, "\r\n"):
		return "holds a carriage return before a newline, which the tool would drop"
	}
	return ""
}

// readEnv sorts the variables into those that pass and those that are supplied.
func (r *container) readEnv(env []confine.Env, form string) {
	for _, e := range env {
		note := func(why string) {
			r.out.Notes = append(r.out.Notes, compilers.Note{Rule: e.By.Rule, Declaration: e.By.Declaration, Level: compilers.Dropped, Why: why})
		}
		switch {
		case !shell.IsName(e.Name):
			note("its name is not one that a shell can pass on")
		case e.Set && heeded(e.Name):
			note("the tool itself obeys a variable of this name, so a fixed value cannot be handed through it")
		case e.Set && form != "json" && form != "sh":
			// The value from outside would stand for the fixed one.
			note("this form cannot supply a fixed value, so it is not set; the forms json and sh do")
		case e.Set:
			r.set = append(r.set, e.Name)
		default:
			r.pass = append(r.pass, e.Name)
		}
	}
}

// heeded reports whether the tool, its loader or the shell that starts it reads a variable.
func heeded(name string) bool {
	for _, prefix := range []string{"DOCKER_", "COMPOSE_", "PODMAN_", "CONTAINER", "XDG_", "LD_", "SSH_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	whole := []string{"PATH", "HOME", "IFS", "ENV", "TMPDIR", "GODEBUG", "GOGC", "GOMAXPROCS", "GOMEMLIMIT", "GOTRACEBACK"}
	return slices.Contains(whole, name) || strings.HasSuffix(strings.ToLower(name), "_proxy")
}

func (r *container) remark(why string) {
	r.out.Notes = append(r.out.Notes, compilers.Note{Level: compilers.Partial, Why: why})
}

// rlimit is one limit of every process, soft and hard alike.
type rlimit struct {
	name  string
	value int64
}

// rlimits are the limits that go by process.
func (r *container) rlimits() []rlimit {
	var out []rlimit
	if l := r.limits.MaxFDs; l != nil {
		out = append(out, rlimit{"nofile", *l})
	} else if r.maxFDs != "" {
		n, _ := strconv.ParseInt(r.maxFDs, 10, 64) // checked with the options
		out = append(out, rlimit{"nofile", n})
	}
	if l := r.limits.CPUTime; l != nil {
		out = append(out, rlimit{"cpu", max(1, *l/int64(time.Second))})
	}
	if l := r.limits.Disk; l != nil {
		out = append(out, rlimit{"fsize", *l})
	}
	return out
}
