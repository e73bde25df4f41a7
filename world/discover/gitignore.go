package discover

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"
)

// maxIgnoreFile bounds one .gitignore.
const maxIgnoreFile = 4 << 20

// ignores answers whether a repository ignores a path. It reads a directory's .gitignore
// once, and may be asked by several goroutines.
type ignores struct {
	tree *tree
	base []ignoreRule // of info/exclude

	mu   sync.Mutex
	dirs map[string]*ignoreDir
	bad  []string
}

// ignoreDir is what is known of one directory.
type ignoreDir struct {
	parent  *ignoreDir
	path    string // "" for the top
	rules   []ignoreRule
	ignored bool // it, or a directory around it, is ignored
}

// ignoreRule is one line of a .gitignore.
type ignoreRule struct {
	glob     string
	anchored bool // tested on the path from the file's directory, else on the name alone
	dirOnly  bool
	negated  bool
}

func newIgnores(t *tree, exclude string) *ignores {
	ig := &ignores{tree: t, dirs: map[string]*ignoreDir{}}
	text, err := readSmall(exclude, maxIgnoreFile)
	switch {
	case err == nil:
		ig.base = parseIgnore(string(text))
	case !errors.Is(err, fs.ErrNotExist):
		ig.bad = append(ig.bad, exclude)
	}
	return ig
}

// failed are the directories whose rules could not be read, sorted.
func (ig *ignores) failed() []string {
	slices.Sort(ig.bad)
	return ig.bad
}

// ignored reports whether a path of the working tree is ignored.
func (ig *ignores) ignored(name string, isDir bool) bool {
	ig.mu.Lock()
	defer ig.mu.Unlock()
	return ig.test(name, isDir)
}

func (ig *ignores) test(name string, isDir bool) bool {
	dir := ""
	if cut := strings.LastIndexByte(name, '/'); cut >= 0 {
		dir = name[:cut]
	}
	d := ig.dir(dir)
	if d.ignored {
		return true
	}
	for at := d; at != nil; at = at.parent {
		rel := strings.TrimPrefix(name[len(at.path):], "/")
		if r := lastMatch(at.rules, rel, isDir); r != nil {
			return !r.negated
		}
	}
	r := lastMatch(ig.base, name, isDir)
	return r != nil && !r.negated
}

// dir knows a directory, and those around it first.
func (ig *ignores) dir(name string) *ignoreDir {
	if d := ig.dirs[name]; d != nil {
		return d
	}
	d := &ignoreDir{path: name}
	if name != "" {
		parent := path.Dir(name)
		if parent == "." {
			parent = ""
		}
		d.parent = ig.dir(parent)
		d.ignored = d.parent.ignored || ig.test(name, true)
	}
	if !d.ignored {
		inside := name
		if inside == "" {
			inside = "."
		}
		text, err := ig.tree.readFile(inside, ".gitignore", maxIgnoreFile)
		switch {
		case err == nil:
			d.rules = parseIgnore(string(text))
		case !errors.Is(err, fs.ErrNotExist) && !went(err):
			ig.bad = append(ig.bad, name)
		}
	}
	ig.dirs[name] = d
	return d
}

func lastMatch(rules []ignoreRule, rel string, isDir bool) *ignoreRule {
	name := rel[strings.LastIndexByte(rel, '/')+1:]
	for i := len(rules) - 1; i >= 0; i-- {
		r := &rules[i]
		subject := name
		if r.anchored {
			subject = rel
		}
		if (isDir || !r.dirOnly) && doublestar.MatchUnvalidated(r.glob, subject) {
			return r
		}
	}
	return nil
}

func parseIgnore(text string) []ignoreRule {
	var out []ignoreRule
	for line := range strings.SplitSeq(text, "\n") {
		if r, ok := parseIgnoreLine(strings.TrimPrefix(line, "\ufeff")); ok {
			out = append(out, r)
		}
	}
	return out
}

func parseIgnoreLine(line string) (r ignoreRule, ok bool) {
	line = trimBlanks(strings.TrimSuffix(line, "\r"))
	if line == "" || line[0] == '#' {
		return r, false
	}
	if line[0] == '!' {
		r.negated = true
		line = line[1:]
	}
	if trimmed, is := strings.CutSuffix(line, "/"); is {
		r.dirOnly = true
		line = trimmed
	}
	r.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return r, false
	}
	if line == "**" || strings.HasSuffix(line, "/**") {
		line += "/*" // what is inside, and not the directory itself
	}
	r.glob = asDoublestar(line)
	return r, doublestar.ValidatePattern(r.glob)
}

// trimBlanks drops blanks at the end that no backslash protects.
func trimBlanks(line string) string {
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	return line
}

var posixClasses = strings.NewReplacer(
	"[:alnum:]", "a-zA-Z0-9", "[:alpha:]", "a-zA-Z", "[:digit:]", "0-9", "[:lower:]", "a-z",
	"[:upper:]", "A-Z", "[:xdigit:]", "0-9a-fA-F", "[:space:]", " \t\n\r\f\v", "[:blank:]", " \t",
)

// asDoublestar escapes what the glob library knows and git does not: braces.
func asDoublestar(glob string) string {
	glob = posixClasses.Replace(glob)
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; {
		case c == '\\' && i+1 < len(glob):
			b.WriteByte(c)
			i++
			b.WriteByte(glob[i])
			continue
		case c == '{' || c == '}':
			b.WriteByte('\\')
		}
		b.WriteByte(glob[i])
	}
	return b.String()
}
