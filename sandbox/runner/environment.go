package runner

import (
	"strings"

	"umwelt/cascade"
	"umwelt/compilers/confine"
)

// defaultPath is where programs are looked up where no rule sets a search path.
const defaultPath = "/usr/local/bin:/usr/bin:/bin"

func searchPath(c *confine.Confinement) string {
	if c.SearchPath != "" {
		return c.SearchPath
	}
	return defaultPath
}

// at is where the project stands inside, for a target that can move it.
func (s *Spec) at() string {
	if s.At != "" {
		return s.At
	}
	return s.Confinement.Root
}

// environment is the variables of the command: the search path, the working directory and
// what the policy lets pass or fixes. A fixed value that is not given leaves its variable
// out: the one from outside must not stand for it.
func environment(s *Spec, dir string) []string {
	out := []string{"PATH=" + searchPath(s.Confinement), "PWD=" + dir}
	given := map[string]string{}
	for _, v := range s.Environ {
		if name, value, ok := strings.Cut(v, "="); ok {
			given[name] = value
		}
	}
	for _, e := range s.Confinement.Env {
		if e.Name == "PATH" || e.Name == "PWD" {
			continue
		}
		values := given
		if e.Set {
			values = s.Values
		}
		if value, ok := values[e.Name]; ok && !strings.ContainsRune(value, 0) {
			out = append(out, e.Name+"="+value)
		}
	}
	return out
}

// Values are the values that a policy fixes for variables, by name. They are secrets: they
// go to the command, and nowhere else.
func Values(res *cascade.Resolution) map[string]string {
	out := map[string]string{}
	w := res.World()
	for i := range w.Entities {
		e := &w.Entities[i]
		if e.Type.Name != "env" {
			continue
		}
		name, ok := e.Attr("name")
		if !ok {
			name = e.ID
		}
		if p := e.Type.Property("value"); p != nil {
			if v := res.Get(i, p); v.Value != nil {
				out[name] = v.Value.Text
			}
		}
	}
	return out
}
