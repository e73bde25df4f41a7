package runner

import (
	"os"
	"path"
	"strings"

	"umwelt/compilers/confine"
)

// findInside reports a command that the sandbox does not have. Without it, a helper
// program would report the failure as if it were the command's own.
func findInside(s *Spec) error {
	_, err := locate(s)
	return err
}

// locate is where the command stands in the sandbox.
func locate(s *Spec) (string, error) {
	name := s.Command[0]
	layout := s.Confinement.Layout(s.at())
	if strings.Contains(name, "/") {
		if !path.IsAbs(name) {
			name = s.at() + "/" + name
		}
		if inside(layout, name) {
			return name, nil
		}
		return "", &startError{ExitNotFound, "the command was not found in the sandbox"}
	}
	for dir := range strings.SplitSeq(searchPath(s.Confinement), ":") {
		if path.IsAbs(dir) && inside(layout, path.Join(dir, name)) {
			return path.Join(dir, name), nil
		}
	}
	return "", &startError{ExitNotFound, "the command was not found on the search path of the sandbox"}
}

// maxLinks is how many links are followed, as in the kernel.
const maxLinks = 40

// inside reports whether a file stands at a path of the sandbox, as far as the host can
// tell. It errs on the side of yes.
func inside(layout []confine.Step, at string) bool {
	for range maxLinks {
		at = path.Clean(at)
		var holds *confine.Step
		for i, s := range layout {
			if lies(at, s.Path) && (holds == nil || len(s.Path) >= len(holds.Path)) {
				holds = &layout[i]
			}
		}
		if holds == nil {
			return false
		}
		rest := strings.TrimPrefix(at[len(holds.Path):], "/")
		switch holds.Kind {
		case confine.Link:
			target := holds.Source
			if !path.IsAbs(target) {
				target = path.Join(path.Dir(holds.Path), target)
			}
			at = path.Join(target, rest)
			continue
		case confine.Bind:
		default:
			return false
		}
		host := path.Join(holds.Source, rest)
		target, err := os.Readlink(host)
		if err != nil {
			info, err := os.Stat(host)
			return err == nil && !info.IsDir()
		}
		if !path.IsAbs(target) {
			target = path.Join(path.Dir(at), target)
		}
		at = target
	}
	return false
}

// lies reports whether a path is a directory or lies below it.
func lies(at, dir string) bool {
	return at == dir || strings.HasPrefix(at, strings.TrimSuffix(dir, "/")+"/")
}
