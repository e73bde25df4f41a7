package roster

import (
	"slices"
	"strings"
	"unicode/utf8"

	"umwelt/diag"
)

// Validate reports every rule of the format that the roster breaks, each as an error at
// the place of the key that breaks it. A roster without errors is one that the engine
// loads. What the engine further asks of values that agents are shown is in Publishable.
func Validate(r *Roster) diag.List {
	var list diag.List
	if r.Version != Version {
		list.Errorf(diag.Invalid, r.At.Of("version"), "version must be exactly %q, not %s", Version, diag.Quote(r.Version))
	}
	if !slices.Contains(evaluationModes, r.EvaluationMode) {
		unknown(&list, r.At.Of("evaluation_mode"), "evaluation_mode", r.EvaluationMode, evaluationModes)
	}
	for _, x := range extentKeys {
		if *x.field(&r.Extents) < 0 {
			list.Errorf(diag.Invalid, r.At.Of("extents"), "%s must be at least 1", x.key)
		}
	}
	profiles := checkProfiles(&list, r)
	type identity struct{ profile, id string }
	seen := map[identity]diag.Span{}
	for i := range r.Declarations {
		if len(list) >= maxErrors {
			break
		}
		d := &r.Declarations[i]
		c := checker{d: d, list: &list}
		c.declaration()
		c.inRoster(r, profiles)
		key := identity{id: d.ID}
		if d.Scope == "item" {
			key.profile = d.Profile
		}
		if first, ok := seen[key]; ok {
			e := c.fail("id", "the id stands twice")
			e.Code = diag.Duplicate
			e.Related = []diag.Related{{Span: first, Message: "first here"}}
			continue
		}
		seen[key] = d.At.Of("id")
	}
	return list
}

func checkProfiles(list *diag.List, r *Roster) map[string]bool {
	profiles := map[string]bool{}
	for _, p := range r.ItemProfiles {
		if len(*list) >= maxErrors {
			break
		}
		at := r.At.Of("item_profiles")
		switch {
		case p == "" || strings.ContainsAny(p, ".[]") || !utf8.ValidString(p):
			list.Errorf(diag.Invalid, at, "the item profile %s must be UTF-8, not empty, and without . [ ]", diag.Quote(p))
		case profiles[p]:
			list.Errorf(diag.Duplicate, at, "the item profile %s stands twice", diag.Quote(p))
		}
		profiles[p] = true
	}
	return profiles
}

func unknown(list *diag.List, at diag.Span, what, got string, words []string) *diag.Diagnostic {
	d := list.Errorf(diag.Invalid, at, "%s cannot be %s: it is one of %s", what, diag.Quote(got), strings.Join(words, ", "))
	d.Hint = diag.DidYouMean(got, words)
	return d
}

// checker checks one declaration.
type checker struct {
	d    *Declaration
	list *diag.List
}

// fail reports a broken rule at a key, naming the variable.
func (c *checker) fail(key, format string, args ...any) *diag.Diagnostic {
	e := c.list.Errorf(diag.Invalid, c.d.At.Of(key), format, args...)
	e.Message = "variable " + diag.Quote(c.d.ID) + ": " + e.Message
	return e
}

// term checks that a value is one of the words of the format.
func (c *checker) term(key, got string, words []string) {
	if got == "" {
		c.fail(key, "it has no %s", key).Hint = "it is one of " + strings.Join(words, ", ")
		return
	}
	if !slices.Contains(words, got) {
		e := unknown(c.list, c.d.At.Of(key), key, got, words)
		e.Message = "variable " + diag.Quote(c.d.ID) + ": " + e.Message
	}
}

func (c *checker) declaration() {
	d := c.d
	switch {
	case d.ID == "":
		c.fail("id", "the id is empty")
	case !utf8.ValidString(d.ID):
		c.fail("id", "the id is not UTF-8")
	case strings.ContainsAny(d.ID, "[]"):
		c.fail("id", "an id holds no [ or ]")
	}
	c.term("scope", d.Scope, scopes)
	c.term("type", d.Type, types)
	c.term("lifetime", d.Lifetime, lifetimes)
	c.term("semantic_type", d.SemanticType, semanticTypes)
	c.access()
	c.item()
	c.storage()
	c.initial()
	c.expression()
	c.normalization()
	if d.Description != nil && !utf8.ValidString(*d.Description) {
		c.fail("description", "the description is not UTF-8")
	}
}

// access checks the roles.
func (c *checker) access() {
	d := c.d
	c.roles("readable_by", d.ReadableBy, readers)
	c.roles("writable_by", d.WritableBy, writers)
	c.roles("exposed_to", d.ExposedTo, audience)
	if !slices.Contains(d.ReadableBy, "engine") {
		c.fail("readable_by", "the engine must always be able to read")
	}
	for _, role := range audience {
		if slices.Contains(d.ExposedTo, role) && !slices.Contains(d.ReadableBy, role) {
			c.fail("exposed_to", "it is exposed to %s, which may not read it", diag.Quote(role))
		}
	}
	if len(d.ExposedTo) > 0 {
		if d.Scope != "" && !slices.Contains(publishedScopes, d.Scope) {
			c.fail("exposed_to", "nothing of the scope %s can be exposed: only global, agent and item scopes can", diag.Quote(d.Scope))
		}
		if d.Scope != "item" && (d.Type == "bool" || slices.Contains(references, d.Type) || slices.Contains(integerVectors, d.Type)) {
			c.fail("exposed_to", "a variable of the type %s cannot be exposed", d.Type)
		}
		if strings.HasPrefix(d.InitialMode, "random_") {
			c.fail("exposed_to", "a variable that begins at random cannot be exposed")
		}
	}
}

func (c *checker) roles(key string, roles, words []string) {
	for i, role := range roles {
		if !slices.Contains(words, role) {
			c.term(key, role, words)
			return
		}
		if slices.Contains(roles[:i], role) {
			c.fail(key, "%s names %s twice", key, diag.Quote(role))
			return
		}
	}
}

// item checks what item scope asks for, and what stands in it alone.
func (c *checker) item() {
	d := c.d
	if d.Scope != "item" {
		if d.Profile != "" {
			c.fail("profile", "a profile stands in item scope only")
		}
		if d.ID == "tick" {
			c.fail("id", "the id \"tick\" is the engine's own step counter")
		}
		return
	}
	if strings.Contains(d.ID, ".") {
		c.fail("id", "the id of an item variable holds no dot")
	}
	if !slices.Contains(itemTypes, d.Type) {
		c.fail("type", "an item variable is a scalar, a bool or a reference, not %s", diag.Quote(d.Type))
	}
	if d.Lifetime != "episode" {
		c.fail("lifetime", "an item variable lives for an episode, not %s", diag.Quote(d.Lifetime))
	}
	if d.Profile == "" || strings.ContainsAny(d.Profile, ".[]") {
		c.fail("profile", "an item variable needs a profile whose name has no . [ ]")
	}
}

// storage checks dims and shape against the type.
func (c *checker) storage() {
	d := c.d
	switch needs := slices.Contains(dimsTypes, d.Type); {
	case needs && d.Dims == nil:
		c.fail("type", "the type %s needs dims", d.Type)
	case !needs && d.Dims != nil:
		c.fail("dims", "the type %s takes no dims", diag.Quote(d.Type))
	case needs && *d.Dims <= 0:
		c.fail("dims", "dims must be positive")
	}
	switch needs := slices.Contains(tensors, d.Type); {
	case needs && len(d.Shape) == 0:
		c.fail("type", "the type %s needs a shape", d.Type)
	case !needs && d.Shape != nil:
		c.fail("shape", "the type %s takes no shape", diag.Quote(d.Type))
	case slices.ContainsFunc(d.Shape, func(n int64) bool { return n <= 0 }):
		c.fail("shape", "every axis of the shape must be positive")
	case needs && ranks[d.Type] != 0 && ranks[d.Type] != len(d.Shape):
		c.fail("shape", "the type %s needs a shape of %d, not %d axes", d.Type, ranks[d.Type], len(d.Shape))
	}
}

// expression checks where a computed variable may stand. The text itself is compiled later.
func (c *checker) expression() {
	d := c.d
	if d.Expression == nil {
		return
	}
	if !slices.Contains(expressionScopes, d.Scope) {
		c.fail("expression", "an expression stands in global and agent scope only")
	}
	if d.Initial == nil {
		c.fail("expression", "a variable with an expression needs a literal initial value")
	}
	if !utf8.ValidString(*d.Expression) {
		c.fail("expression", "the expression is not UTF-8")
	}
}

// inRoster checks what depends on the rest of the roster.
func (c *checker) inRoster(r *Roster, profiles map[string]bool) {
	d := c.d
	if d.Scope == "item" && d.Profile != "" && !profiles[d.Profile] {
		e := c.fail("profile", "there is no item profile %s", diag.Quote(d.Profile))
		e.Hint = diag.DidYouMean(d.Profile, r.ItemProfiles)
	}
	for _, x := range extentKeys {
		if d.Scope == x.scope && *x.field(&r.Extents) == 0 {
			c.fail("scope", "the scope %s needs the extent %s", d.Scope, x.key)
		}
	}
	if r.EvaluationMode == "eager" && slices.Contains(expressionScopes, d.Scope) &&
		(d.Initial == nil || d.Initial.Kind == Null) {
		c.fail("initial_value", "eager evaluation needs a literal initial value that is not null")
	}
}
