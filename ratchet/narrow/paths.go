package narrow

import (
	"path"
	"strings"
)

// relative is a path as the project has it, "." for the project itself, or an absolute path
// and true where it lies outside.
func (o *Options) relative(id string) (string, bool) {
	if !strings.HasPrefix(id, "/") {
		id = path.Clean(id)
		return id, id == ".." || strings.HasPrefix(id, "../")
	}
	id = path.Clean(id)
	for _, root := range []string{o.Root, o.RecordedRoot} {
		root = strings.TrimSuffix(root, "/")
		switch {
		case root == "":
		case id == root:
			return ".", false
		case strings.HasPrefix(id, root+"/"):
			return id[len(root)+1:], false
		}
	}
	return id, true
}

// Group is a named place outside the project.
type Group string

// The groups, and what a view or a world file can do about each.
const (
	SystemPrograms      Group = "system programs"
	SystemConfiguration Group = "system configuration"
	Temporary           Group = "temporary files"
	Devices             Group = "devices"
	ProcessInformation  Group = "process information"
	Caches              Group = "caches in a home directory"
	Other               Group = "other places"
)

// groups is the written table: the first prefix that fits decides.
var groups = []struct {
	prefix string
	group  Group
}{
	{"/usr/local/etc/", SystemConfiguration},
	{"/usr/", SystemPrograms}, {"/bin/", SystemPrograms}, {"/sbin/", SystemPrograms}, {"/lib/", SystemPrograms}, {"/lib32/", SystemPrograms},
	{"/lib64/", SystemPrograms}, {"/libx32/", SystemPrograms}, {"/opt/", SystemPrograms}, {"/nix/", SystemPrograms}, {"/snap/", SystemPrograms},
	{"/etc/", SystemConfiguration}, {"/var/lib/", SystemConfiguration}, {"/run/", SystemConfiguration}, {"/var/run/", SystemConfiguration},
	{"/tmp/", Temporary}, {"/var/tmp/", Temporary}, {"/dev/shm/", Temporary},
	{"/dev/", Devices},
	{"/proc/", ProcessInformation}, {"/sys/", ProcessInformation},
}

// groupOf is the group of an absolute path.
func groupOf(id string) Group {
	at := strings.TrimSuffix(id, "/") + "/"
	for _, g := range groups {
		if strings.HasPrefix(at, g.prefix) {
			return g.group
		}
	}
	for _, home := range []string{"/home/", "/Users/", "/root/"} {
		rest, ok := strings.CutPrefix(at, home)
		if !ok {
			continue
		}
		if home != "/root/" {
			_, rest, _ = strings.Cut(rest, "/")
		}
		for _, cache := range []string{".cache/", ".npm/", ".cargo/", ".rustup/", "go/pkg/", ".gradle/", ".m2/", ".local/share/", "Library/Caches/"} {
			if strings.HasPrefix(rest, cache) {
				return Caches
			}
		}
	}
	return Other
}

// advice says what the author may do about what was done in a group.
func advice(g Group, wrote bool) string {
	switch {
	case g == SystemPrograms && !wrote, g == SystemConfiguration && !wrote:
		return "the system mounts of the world give it for reading; no rule is needed"
	case g == Temporary:
		return "every sandbox has an empty directory for temporary files; a mount in the world keeps them"
	case g == Devices, g == ProcessInformation:
		return "every sandbox has its own; no rule is needed"
	case wrote:
		return "no rule about files can grant a change outside the project; a mount of the world that is not read-only can"
	}
	return "no rule about files reaches outside the project; a mount of the world can"
}

// dirOf is the directory that a path of the project lies in, "" for the project itself.
func dirOf(p string) string {
	if i := strings.LastIndexByte(p, '/'); i >= 0 {
		return p[:i]
	}
	return ""
}

func baseOf(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

// below reports whether a path lies below a directory, "" for the project itself.
func below(p, dir string) bool {
	return dir == "" || len(p) > len(dir) && p[len(dir)] == '/' && p[:len(dir)] == dir
}

// ending is the part of a name from its last dot on, "" where it has none.
func ending(p string) string {
	name := baseOf(p)
	if i := strings.LastIndexByte(name, '.'); i > 0 && i < len(name)-1 {
		return name[i:]
	}
	return ""
}

// tailOf is what a glob such as "*.go" looks for at the end of a name: unlike ending, it is
// the whole of a name that begins with its only dot.
func tailOf(p string) string {
	name := baseOf(p)
	if i := strings.LastIndexByte(name, '.'); i >= 0 && i < len(name)-1 {
		return name[i:]
	}
	return ""
}

// ancestors yields the directories above a path, nearest first, "" last.
func ancestors(p string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for {
			p = dirOf(p)
			if !yield(p) || p == "" {
				return
			}
		}
	}
}
