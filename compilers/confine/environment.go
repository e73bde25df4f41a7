package confine

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"umwelt/cascade"
	"umwelt/registry"
)

// readEnv is the variables that may pass, by name. A value that a rule fixes is not read:
// it goes to the runner and nowhere else.
func (r *reader) readEnv() []Env {
	t := r.typ("env")
	if t == nil {
		return nil
	}
	var out []Env
	for _, i := range r.of(t) {
		e := &r.world.Entities[i]
		name, ok := e.Attr("name")
		if !ok {
			name = e.ID
		}
		allow := r.property(i, t, "allow")
		if !allow.Value.Bool() {
			continue
		}
		if name == "" || strings.ContainsAny(name, "=\x00") {
			r.note(by(allow), dropped, "no variable can have this name")
			continue
		}
		value := r.property(i, t, "value")
		out = append(out, Env{Name: name, Set: value.Value != nil, By: by(allow)})
	}
	slices.SortStableFunc(out, func(a, b Env) int { return cmp.Compare(a.Name, b.Name) })
	// Of two entities with one name, a fixed value keeps the one from outside away.
	return slices.CompactFunc(out, func(kept, next Env) bool { return kept.Name == next.Name && (kept.Set || !next.Set) })
}

// readExec is where programs are looked up, and those that rules allow.
func (r *reader) readExec(c *Confinement) {
	t := r.typ("exec")
	if t == nil {
		return
	}
	for _, i := range r.of(t) {
		e := &r.world.Entities[i]
		if v := r.property(i, t, "search-path"); v.Value != nil {
			switch {
			case strings.ContainsRune(v.Value.Text, 0):
				r.note(by(v), dropped, "the search path holds a NUL byte")
			case c.SearchPath == "":
				c.SearchPath = v.Value.Text
			case c.SearchPath != v.Value.Text:
				r.note(by(v), partial, "another program has a different search path, and there is one for all")
			}
		}
		allow := r.property(i, t, "allow")
		if !set(allow) {
			continue
		}
		if c.Allowed == nil {
			c.Allowed = []string{}
		}
		at, _ := e.Attr("path")
		if v := r.property(i, t, "path"); v.Value != nil {
			at = v.Value.Text
		}
		if allow.Value.Bool() && at != "" {
			c.Allowed = append(c.Allowed, at)
		}
	}
	if c.Allowed != nil {
		slices.Sort(c.Allowed)
		c.Allowed = slices.Compact(c.Allowed)
	}
}

// readLimits is the tighter one of each limit and its cap.
func (r *reader) readLimits() Limits {
	var l Limits
	t := r.typ("resource")
	if t == nil {
		return l
	}
	for _, i := range r.of(t) {
		for _, limit := range []struct {
			name string
			to   **int64
		}{
			{"memory", &l.Memory}, {"wall-time", &l.WallTime}, {"cpu-time", &l.CPUTime}, {"max-fds", &l.MaxFDs},
			{"max-processes", &l.MaxProcesses}, {"tmpfs", &l.Tmpfs}, {"disk", &l.Disk},
		} {
			if n, ok := r.tightest(i, t, limit.name, &l.By); ok && (*limit.to == nil || whole(n) < **limit.to) {
				n := whole(n)
				*limit.to = &n
			}
		}
		if n, ok := r.tightest(i, t, "cpu", &l.By); ok && (l.CPU == nil || n < *l.CPU) {
			l.CPU = &n
		}
	}
	return l
}

func (r *reader) tightest(i int, t *registry.EntityType, name string, sources *[]Limit) (float64, bool) {
	least, found := math.Inf(1), false
	for _, name := range []string{name, "max-" + name} {
		v := r.property(i, t, name)
		if v.Value == nil || v.Origin == cascade.Initial {
			continue
		}
		least, found = min(least, v.Value.Num), true
		if s := by(v); s.Declaration != nil {
			*sources = append(*sources, Limit{Name: name, Source: s})
		}
	}
	return max(0, least), found
}

// whole is a limit as a whole number, no larger than it was.
func whole(n float64) int64 {
	if n >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(n)
}
