package confine

import (
	"fmt"
	"path"
	"strings"

	"umwelt/compilers"
	"umwelt/diag"
)

// Workdir is where the project stands inside: option, or its path on the host where
// option is empty. The second result says what is wrong with it, or "".
func (c *Confinement) Workdir(option string) (string, string) {
	dir := option
	if dir == "" {
		dir = c.Root
	}
	switch {
	case dir == "":
		return "", "the world has no project root"
	case strings.ContainsRune(dir, 0):
		return "", "workdir holds a NUL byte"
	case !path.IsAbs(dir) || path.Clean(dir) != dir:
		return "", diag.Quote(dir) + " is no absolute path without . and .. in it"
	case dir == "/":
		return "", "the project cannot stand at /, where it would hide the system"
	case dir != c.Root && systemDirectory(dir):
		return "", "the project cannot stand at " + diag.Quote(dir) + ", where it would hide the system or lie in it"
	}
	for _, m := range c.System {
		switch {
		case m.Path == dir:
			return "", "the world mounts something at " + diag.Quote(dir) + ", where the project is to stand"
		case below(dir, m.Path) && (m.Type == "symlink" || m.Type == "bind" && m.Source != m.Path):
			return "", "the project is to stand at " + diag.Quote(dir) + ", which lies in the mount " + diag.Quote(m.Path) + " of something else"
		}
	}
	return dir, ""
}

// systemDirectory reports whether a directory is one that programs are found in or depend
// on, holds one or lies in one.
func systemDirectory(dir string) bool {
	for _, system := range []string{
		"/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/run", "/sbin", "/sys",
		"/usr/bin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/sbin", "/usr/share", "/var/lib", "/var/run",
	} {
		if strings.HasPrefix(dir+"/", system+"/") || strings.HasPrefix(system, dir+"/") {
			return true
		}
	}
	return false
}

// AllOrNothing is the network for a target that can only open it whole or close it. It
// stays closed where rules open a part of it, or deny a part of it, and the notes say so.
func (n Network) AllOrNothing() (bool, []compilers.Note) {
	var notes []compilers.Note
	if n.Open && !n.Whole() {
		return false, []compilers.Note{n.By.note(compilers.Partial, "the target cannot keep single hosts out, so the whole network stays closed")}
	}
	if !n.Open {
		for _, e := range n.Allow {
			notes = append(notes, e.By.note(compilers.Partial, "the target cannot open single endpoints, so this one stays closed"))
		}
	}
	return n.Open, notes
}

func (s Source) note(level compilers.Level, why string) compilers.Note {
	return compilers.Note{Rule: s.Rule, Declaration: s.Declaration, Level: level, Why: why}
}

// Bare notes that no program can be run, for a target that offers nothing but what the
// world mounts.
func (c *Confinement) Bare() []compilers.Note {
	for _, m := range c.System {
		if m.Type == "bind" {
			return nil
		}
	}
	return []compilers.Note{{Level: compilers.Partial, Why: "the world mounts nothing of the system, so there is no program to run; the matcher system finds it"}}
}

// String is where the declaration stands, as "file:line", or "no rule".
func (s Source) String() string {
	if s.Declaration == nil {
		return "no rule"
	}
	return fmt.Sprintf("%s:%d", diag.Escape(s.Declaration.At.File()), s.Declaration.At.Start.Line)
}
