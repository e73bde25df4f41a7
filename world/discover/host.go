package discover

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"umwelt/diag"
	"umwelt/world"
)

// defaultSearchPath is where programs are looked up where a recipe does not say.
const defaultSearchPath = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"

// executables looks names up on a search path. A name that is nowhere is reported and is no
// entity.
func (h Host) executables(req world.Request) world.Result {
	var res world.Result
	t := typeOf(&req, &res, execType)
	names := req.Recipe.Texts("names")
	search := req.Recipe.Text("search-path", defaultSearchPath)
	if t == nil || req.Recipe.Diagnostics.HasErrors() {
		return res
	}
	if len(names) == 0 {
		res.Diagnostics.Errorf(diag.Matcher, req.Recipe.At, "the matcher executables needs the key names")
	}
	for _, dir := range strings.Split(search, ":") {
		if !filepath.IsAbs(dir) || strings.Contains(dir+"/", "/../") {
			res.Diagnostics.Errorf(diag.BadPath, req.Recipe.Where("search-path"), "%s in the search path is not absolute", diag.Quote(dir))
			return res
		}
	}
	for _, name := range names {
		if strings.Contains(name, "/") || name == "." || name == ".." {
			res.Diagnostics.Errorf(diag.BadPath, req.Recipe.Where("names"), "%s is a path, not the name of a program", diag.Quote(name))
			continue
		}
		found := h.lookUp(name, search)
		if found == "" {
			res.Diagnostics.Warnf(diag.Matcher, req.Recipe.Where("names"), "there is no program %s on the search path", diag.Quote(name))
			continue
		}
		a, ok := typed(req.Registry, t, "path", found)
		if !ok {
			continue
		}
		res.Entities = append(res.Entities, made(t, name, attr("name", name), a))
	}
	res.Entities = byID(res.Entities)
	return res
}

func (h Host) lookUp(name, search string) string {
	for _, dir := range strings.Split(search, ":") {
		full := filepath.Join(dir, name)
		info, err := os.Stat(filepath.Join(h.Root, full))
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return filepath.ToSlash(full)
		}
	}
	return ""
}

// env finds environment variables by name, or by glob. It records names and never values.
func (h Host) env(req world.Request) world.Result {
	var res world.Result
	t := typeOf(&req, &res, envType)
	patterns := req.Recipe.Texts("names")
	if t == nil || req.Recipe.Diagnostics.HasErrors() {
		return res
	}
	if !req.Recipe.Has("names") {
		patterns = []string{"*"}
	}
	for _, p := range patterns {
		if !doublestar.ValidatePattern(p) {
			res.Diagnostics.Errorf(diag.Matcher, req.Recipe.Where("names"), "%s is not a valid glob", diag.Quote(p))
			return res
		}
	}
	if h.Environ == nil {
		return res
	}
	for _, pair := range h.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if name != "" && matchesAny(patterns, name) {
			res.Entities = append(res.Entities, made(t, name, attr("name", name)))
		}
	}
	res.Entities = byID(res.Entities)
	return res
}
