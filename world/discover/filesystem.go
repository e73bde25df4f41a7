package discover

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"umwelt/diag"
	"umwelt/world"
)

// filesystem finds the directories and files below a root.
func filesystem(req world.Request) world.Result {
	var res world.Result
	r := req.Recipe
	p, ok := placeOf(&req, &res)
	f := filter{
		include: globs(&req, &res, "include"),
		exclude: globs(&req, &res, "exclude"),
		deepest: r.Count("max-depth", 0),
		hidden:  r.Bool("hidden", true),
		skip:    req.Skip,
		prefix:  p.prefix,
	}
	if r.Has("max-depth") && f.deepest == 0 && !r.Diagnostics.HasErrors() {
		res.Diagnostics.Errorf(diag.BadValue, r.Where("max-depth"), "max-depth is a whole number from 1")
	}
	if r.Bool("follow", false) {
		res.Diagnostics.Errorf(diag.BadValue, r.Where("follow"), "symbolic links are recorded and never followed: follow can only be false")
	}
	if !ok || r.Diagnostics.HasErrors() || res.Diagnostics.HasErrors() {
		return res
	}
	f.starts()
	scan(&req, &res, p, f.judge, 0)
	return res
}

func globs(req *world.Request, res *world.Result, key string) []string {
	var out []string
	for _, g := range req.Recipe.Texts(key) {
		g = strings.TrimPrefix(g, "./")
		if !doublestar.ValidatePattern(g) {
			res.Diagnostics.Errorf(diag.Matcher, req.Recipe.Where(key), "%s is not a valid glob", diag.Quote(g))
			continue
		}
		out = append(out, g)
	}
	return out
}

// filter decides what a filesystem recipe lets in. Globs see paths below the recipe's root.
type filter struct {
	include, exclude []string
	bases            []string // the directories that the includes begin with
	deepest          int      // 0 for no bound
	hidden           bool
	skip             []string // sorted
	prefix           string
}

// starts finds the directories in which an include can match at all.
func (f *filter) starts() {
	for _, g := range f.include {
		base, _ := doublestar.SplitPattern(g)
		f.bases = append(f.bases, base)
	}
}

func (f *filter) judge(full, name string, k kind, depth int) verdict {
	if k == directory && contains(f.skip, full) {
		return verdict{known: true}
	}
	if !f.hidden && name[0] == '.' {
		return verdict{}
	}
	enter := k == directory && (f.deepest == 0 || depth < f.deepest)
	if len(f.exclude) == 0 && len(f.include) == 0 {
		return verdict{keep: true, read: enter}
	}
	rel := full[len(f.prefix):]
	if matchesAny(f.exclude, rel) {
		return verdict{}
	}
	if len(f.include) == 0 {
		return verdict{keep: true, read: enter}
	}
	return verdict{keep: matchesAny(f.include, rel), read: enter && f.mayHold(rel)}
}

// mayHold reports whether an include can match below a directory.
func (f *filter) mayHold(dir string) bool {
	return slices.ContainsFunc(f.bases, func(base string) bool {
		return base == "." || base == dir || strings.HasPrefix(base, dir+"/") || strings.HasPrefix(dir, base+"/")
	})
}

func matchesAny(globs []string, path string) bool {
	return slices.ContainsFunc(globs, func(g string) bool { return doublestar.MatchUnvalidated(g, path) })
}

// scan walks a tree and turns what it finds into entities.
func scan(req *world.Request, res *world.Result, p place, judge func(path, name string, k kind, depth int) verdict, workers int) {
	e := emitter{req: req, res: res, place: p, bounds: boundsOf(p.base)}
	e.dir, e.file = e.shapeOf(dirType), e.shapeOf(fileType)
	if e.dir.typ == nil || e.file.typ == nil {
		return
	}
	t, err := openTree(p.base)
	if err != nil {
		e.rootProblem(err)
		return
	}
	defer t.close()
	w := walker{tree: t, inside: p.inside, prefix: p.prefix, judge: judge, workers: workers}
	top, err := w.walk()
	switch {
	case err != nil:
		res.Diagnostics.Errorf(diag.TooLarge, req.Recipe.At, "the recipe finds more than %d entries", maxEntries)
		return
	case top.err != nil:
		e.rootProblem(top.err)
	}
	e.walker = &w
	e.emit(top)
}

// rootProblem reports that the recipe's root itself cannot be read. That it is not there is
// an error, since a typo would silently make the world empty.
func (e *emitter) rootProblem(err error) {
	shown := diag.Quote(path.Join(e.place.base, e.place.inside))
	at := e.req.Recipe.Where("root")
	if errors.Is(err, fs.ErrNotExist) || went(err) {
		e.res.Diagnostics.Errorf(diag.Matcher, at, "the root %s is no directory, or is reached through a symbolic link", shown)
		return
	}
	e.res.Diagnostics.Warnf(diag.Unreadable, at, "the root %s cannot be read: %s", shown, reason(err))
}

// reason is the cause of a file error, safe to print.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return diag.Escape(err.Error())
}
