package discover

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"umwelt/diag"
	"umwelt/world"
)

// git finds the files that a repository tracks, or all but those that it ignores. It reads
// the repository's own files; no git program runs.
func git(req world.Request) world.Result {
	var res world.Result
	r := req.Recipe
	p, ok := placeOf(&req, &res)
	ignored := r.Bool("ignored", true)
	tracked := r.Bool("tracked", !r.Has("ignored"))
	if !ok || r.Diagnostics.HasErrors() {
		return res
	}
	repo, err := findRepository(p)
	if err != nil {
		res.Diagnostics.Errorf(diag.Matcher, r.Where("root"), "%s", reason(err))
		return res
	}
	f := gitFilter{only: tracked, respect: !ignored, repo: repo, place: p, skip: req.Skip}
	if err := f.readIndex(); err != nil {
		res.Diagnostics.Errorf(diag.Matcher, r.Where("root"), "the index of the repository cannot be used: %s", reason(err))
		return res
	}
	if f.respect && !f.only {
		t, err := openTree(repo.top)
		if err != nil {
			res.Diagnostics.Errorf(diag.Matcher, r.Where("root"), "the repository cannot be read: %s", reason(err))
			return res
		}
		defer t.close()
		f.ignores = newIgnores(t, filepath.Join(repo.common, "info", "exclude"))
	}
	scan(&req, &res, p, f.judge, 0)
	if f.ignores != nil {
		for _, dir := range f.ignores.failed() {
			res.Diagnostics.Errorf(diag.Unreadable, r.At, "%s cannot be read, so what it ignores is unknown", diag.Quote(path.Join(dir, ".gitignore")))
		}
	}
	return res
}

// repository is where a working tree and its metadata lie.
type repository struct {
	top    string // absolute directory of the working tree
	inside string // the recipe's root below top, "" for top itself
	dir    string // metadata: where the index lies
	common string // metadata shared between working trees
}

var errNoRepository = errors.New("there is no git repository here")

// findRepository looks from the recipe's root upwards, but not above the project root: what
// lies there is not the project's.
func findRepository(p place) (repository, error) {
	for inside := p.inside; ; inside = path.Dir(inside) {
		top := filepath.Join(p.base, filepath.FromSlash(inside))
		dir, err := gitDir(top)
		if err == nil {
			rel, err := filepath.Rel(top, filepath.Join(p.base, filepath.FromSlash(p.inside)))
			if err != nil {
				return repository{}, err
			}
			if rel == "." {
				rel = ""
			}
			return repository{top: top, inside: filepath.ToSlash(rel), dir: dir, common: commonDir(dir)}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return repository{}, err
		}
		if inside == "." {
			return repository{}, errNoRepository
		}
	}
}

// gitDir is the metadata of a working tree: the directory .git, or what a file .git names
// in a linked working tree or submodule.
func gitDir(top string) (string, error) {
	dot := filepath.Join(top, ".git")
	info, err := os.Stat(dot)
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		return dot, nil
	}
	text, err := readSmall(dot, 4096)
	if err != nil {
		return "", err
	}
	dir, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
	if !ok {
		return "", errors.New(".git names no directory")
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(top, dir)
	}
	return dir, nil
}

func commonDir(dir string) string {
	text, err := readSmall(filepath.Join(dir, "commondir"), 4096)
	if err != nil {
		return dir // not a linked working tree
	}
	common := strings.TrimRight(string(text), "\r\n")
	if filepath.IsAbs(common) {
		return common
	}
	return filepath.Join(dir, common)
}

// gitFilter decides what a git recipe lets in.
type gitFilter struct {
	only    bool // tracked files only
	respect bool // leave out what is ignored and not tracked
	repo    repository
	place   place
	skip    []string
	tracked map[string]bool // entity paths
	dirs    map[string]bool // directories that hold one
	ignores *ignores
}

// readIndex fills tracked and dirs with what lies below the recipe's root.
func (f *gitFilter) readIndex() error {
	names, err := readIndex(f.repo)
	if err != nil {
		return err
	}
	f.tracked, f.dirs = make(map[string]bool, len(names)), map[string]bool{}
	below := ""
	if f.repo.inside != "" {
		below = f.repo.inside + "/"
	}
	for _, name := range names {
		rel, ok := strings.CutPrefix(name, below)
		if !ok {
			continue
		}
		full := f.place.prefix + rel
		f.tracked[full] = true
		for dir := path.Dir(full); dir != "." && dir != "/" && !f.dirs[dir]; dir = path.Dir(dir) {
			f.dirs[dir] = true
		}
	}
	return nil
}

func (f *gitFilter) judge(full, name string, k kind, _ int) verdict {
	if k == directory && contains(f.skip, full) {
		return verdict{known: true}
	}
	if name == ".git" {
		return verdict{}
	}
	tracked, holds := f.tracked[full], k == directory && f.dirs[full]
	if f.only {
		return verdict{keep: tracked, read: holds}
	}
	keep := tracked || !f.respect || !f.ignores.ignored(f.inRepository(full), k == directory)
	return verdict{keep: keep, read: k == directory && (keep || holds)}
}

// inRepository is an entity path relative to the top of the working tree.
func (f *gitFilter) inRepository(full string) string {
	return path.Join(f.repo.inside, strings.TrimPrefix(full, f.place.prefix))
}
