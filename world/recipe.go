package world

import (
	"slices"
	"strconv"

	"umwelt/diag"
)

// Recipe is one entry of the key "discover": a matcher's name and its options. The
// readers below report what does not fit and then return the zero value, so a matcher
// checks Diagnostics before it trusts them.
type Recipe struct {
	Matcher     string
	At          diag.Span
	Diagnostics diag.List
	options     *node
}

// Has reports whether the recipe gives the key.
func (r *Recipe) Has(key string) bool { return r.option(key) != nil }

func (r *Recipe) option(key string) *node {
	if r.options == nil {
		return nil
	}
	return r.options.get(key)
}

// Where is the place of a key's value, or of the whole recipe where it lacks the key.
func (r *Recipe) Where(key string) diag.Span {
	if n := r.option(key); n != nil {
		return n.at
	}
	return r.At
}

// Text is the text of a key, or otherwise where the recipe lacks it.
func (r *Recipe) Text(key, otherwise string) string {
	n := r.option(key)
	if n == nil {
		return otherwise
	}
	text, _ := textOf(n, key, &r.Diagnostics)
	return text
}

// Texts is the list of a key, or nil where the recipe lacks it.
func (r *Recipe) Texts(key string) []string {
	n := r.option(key)
	if n == nil {
		return nil
	}
	return textsOf(n, key, &r.Diagnostics)
}

// Bool is the truth of a key, or otherwise where the recipe lacks it.
func (r *Recipe) Bool(key string, otherwise bool) bool {
	n := r.option(key)
	if n == nil {
		return otherwise
	}
	return boolOf(n, key, &r.Diagnostics)
}

// Count is the whole number, not negative, of a key, or otherwise where the recipe lacks
// it.
func (r *Recipe) Count(key string, otherwise int) int {
	n := r.option(key)
	if n == nil {
		return otherwise
	}
	i, err := strconv.Atoi(n.text)
	if n.kind != scalarNode || err != nil || i < 0 || i > 1<<20 {
		r.Diagnostics.Errorf(diag.BadValue, n.at, "%s is a whole number from 0", key)
		return 0
	}
	return i
}

// readRecipe reads one entry of "discover".
func readRecipe(n *node, matchers []Discoverer, l *diag.List) *Recipe {
	if n.kind != mapNode {
		l.Errorf(diag.Matcher, n.at, "a recipe is a map with the key matcher, not %s", n.kind)
		return nil
	}
	names := make([]string, len(matchers))
	for i := range matchers {
		names[i] = matchers[i].Name
	}
	m := n.get("matcher")
	if m == nil {
		l.Errorf(diag.Matcher, n.at, "a recipe needs the key matcher")
		return nil
	}
	name, ok := textOf(m, "matcher", l)
	if !ok {
		return nil
	}
	i := slices.Index(names, name)
	if i < 0 {
		l.Errorf(diag.Matcher, m.at, "there is no matcher %s", diag.Quote(name)).Hint = diag.DidYouMean(name, names)
		return nil
	}
	checkKeys(n, "the matcher "+name, append([]string{"matcher"}, matchers[i].Keys...), l)
	return &Recipe{Matcher: name, At: n.at, options: n}
}
