package landlock

import (
	"slices"
	"strings"

	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/diag"
)

// outside is what the mounts of the world come to.
type outside struct {
	rules   []Rule
	private []Private
}

// everywhere is the access to a directory that may be changed.
const everywhere = readFiles | writeFiles | readDir | changeDirs

// mounts turns the world's mounts into rules. Landlock moves nothing, so that a mount
// counts only at its own path. The second result is the paths of the project that are
// something else inside.
func mounts(c *confine.Confinement) (outside, []string, []compilers.Note) {
	var o outside
	var inside []string
	var notes []compilers.Note
	lose := func(m confine.Mount, why string) {
		notes = append(notes, compilers.Note{Level: compilers.Partial, Why: "the mount " + diag.Quote(m.Path) + " " + why})
	}
	system := basics(c)
	for i, m := range system {
		if rest, ok := strings.CutPrefix(m.Path, c.Root+"/"); ok {
			inside = append(inside, rest)
		}
		switch {
		case m.Path == c.Root:
			// The project itself stands here.
		case m.Type == "symlink":
			// Landlock lets links be followed where they lead. One that the host has not
			// is not made; one that it has needs no rule.
		case m.Type == "tmpfs" && strings.HasPrefix(c.Root, m.Path+"/"):
			lose(m, "is left out: the project lies in it, and what may be done there could then be done to the project as well")
		case m.Type == "tmpfs":
			access := uint64(everywhere)
			if m.ReadOnly {
				access = readDir
			}
			o.private = append(o.private, Private{Path: Text(m.Path), Type: "tmpfs", Size: m.Size, Access: names(access)})
		case m.Type == "proc":
			if m.Path != "/proc" {
				lose(m, "is left out: the process table can stand only at /proc")
				continue
			}
			// Writing there changes the process itself at most, which tools expect.
			o.private = append(o.private, Private{Path: "/proc", Type: "proc", Access: names(readFiles | readDir | writeFile)})
		case m.Type == "dev":
			if m.Path != "/dev" {
				lose(m, "is left out: devices can stand only at /dev")
				continue
			}
			o.devices(c.Limits.Tmpfs)
		case slices.ContainsFunc(system, func(n confine.Mount) bool { return n.Type != "bind" && strings.HasPrefix(m.Path, n.Path+"/") }):
			lose(m, "is left out: it lies in a directory of the sandbox's own, and what may be done there could then be done to it as well")
		case m.Source != m.Path:
			lose(m, "is left out: Landlock shows a directory only at its own path, which is "+diag.Quote(m.Source))
		case strings.HasPrefix(c.Root, strings.TrimSuffix(m.Source, "/")+"/"):
			lose(m, "is left out: the project lies in it, and Landlock could then not protect anything there")
		default:
			access := uint64(readFiles | readDir)
			if !m.ReadOnly {
				access = everywhere
			}
			// What is mounted more tightly below would be opened from above.
			if narrower := tighter(system[i+1:], m); narrower != "" {
				lose(m, "is read-only or left out: "+diag.Quote(narrower)+" lies in it and may do less")
				if access &= readFiles | readDir; hidesBelow(system[i+1:], m) {
					continue
				}
			}
			o.rules = append(o.rules, Rule{Path: Text(m.Path), Access: names(access)})
		}
	}
	return o, inside, notes
}

// basics is the world's mounts, parents first, and the basic ones that it lacks.
func basics(c *confine.Confinement) []confine.Mount {
	out := slices.Clone(c.System)
	for _, basic := range []confine.Mount{{Path: "/dev", Type: "dev"}, {Path: "/proc", Type: "proc"}, {Path: "/tmp", Type: "tmpfs"}} {
		if !slices.ContainsFunc(out, func(m confine.Mount) bool { return m.Path == basic.Path }) {
			out = append(out, basic)
		}
	}
	for i := range out {
		if limit := c.Limits.Tmpfs; limit != nil && out[i].Type == "tmpfs" && (out[i].Size == 0 || out[i].Size > *limit) {
			out[i].Size = max(1, *limit)
		}
	}
	slices.SortStableFunc(out, func(a, b confine.Mount) int { return confine.ComparePaths(a.Path, b.Path) })
	return out
}

// tighter is the first mount below m that allows less than m does, or "".
func tighter(rest []confine.Mount, m confine.Mount) string {
	for _, n := range rest {
		if strings.HasPrefix(n.Path, m.Path+"/") && (n.Type == "bind" && n.Source != n.Path || n.ReadOnly && !m.ReadOnly) {
			return n.Path
		}
	}
	return ""
}

// hidesBelow reports whether a mount below m stands in front of something that m would
// open.
func hidesBelow(rest []confine.Mount, m confine.Mount) bool {
	return slices.ContainsFunc(rest, func(n confine.Mount) bool {
		return strings.HasPrefix(n.Path, m.Path+"/") && n.Type == "bind" && n.Source != n.Path
	})
}

// devices are those that programs expect and that give nothing away.
func (o *outside) devices(size *int64) {
	for _, name := range []string{"full", "null", "random", "urandom", "zero"} {
		o.rules = append(o.rules, Rule{Path: Text("/dev/" + name), Access: names(readFile | writeFile | truncate), Optional: true})
	}
	o.rules = append(o.rules, Rule{Path: "/dev/tty", Access: names(readFile | writeFile | ioctlDev), Optional: true})
	shm := Private{Path: "/dev/shm", Type: "tmpfs", Access: names(everywhere)}
	if size != nil {
		shm.Size = max(1, *size)
	}
	o.private = append(o.private, shm)
}
