package roster

import (
	"regexp"
	"slices"
	"strings"
)

// The words of the format, in the order it lists them.
var (
	evaluationModes = []string{"mark_and_sweep", "eager"}
	scopes          = []string{"global", "agent", "agent_private", "item", "pair", "group", "affordance", "zone", "message"}
	references      = []string{"agent_ref", "item_ref", "affordance_ref", "effect_ref"}
	tensors         = []string{"tensor1d", "tensor2d", "tensor3d", "tensorNd"}
	types           = slices.Concat(
		[]string{"scalar", "bool", "vec2i", "vec3i", "vec2f", "vec3f", "vecNi", "vecNf"},
		references, tensors, []string{"message_token"})
	lifetimes     = []string{"tick", "episode", "persistent"}
	semanticTypes = []string{"bars", "spatial", "affordance", "effects", "temporal", "custom"}
	readers       = []string{"engine", "agent"}
	writers       = []string{"engine"}
	audience      = []string{"agent"}
	initialModes  = []string{"zeros", "ones", "eye", "random_normal", "random_uniform"}
)

// The groups of types that rules speak of.
var (
	itemTypes      = slices.Concat([]string{"scalar", "bool"}, references)
	dimsTypes      = []string{"vecNi", "vecNf", "message_token"}
	integerVectors = []string{"vec2i", "vec3i", "vecNi"}
	fixedWidths    = map[string]int64{"vec2i": 2, "vec3i": 3, "vec2f": 2, "vec3f": 3}
	ranks          = map[string]int{"tensor1d": 1, "tensor2d": 2, "tensor3d": 3}
	// publishedScopes are the scopes of which anything can be shown.
	publishedScopes = []string{"global", "agent", "item"}
	// expressionScopes are the scopes whose variables may be computed.
	expressionScopes = []string{"global", "agent"}
)

// extentKeys are the keys of the extents and the scope that needs each.
var extentKeys = []struct {
	key, scope string
	field      func(*Extents) *int64
}{
	{"num_zones", "zone", func(e *Extents) *int64 { return &e.Zones }},
	{"num_groups", "group", func(e *Extents) *int64 { return &e.Groups }},
	{"num_message_slots", "message", func(e *Extents) *int64 { return &e.MessageSlots }},
	{"num_affordances", "affordance", func(e *Extents) *int64 { return &e.Affordances }},
}

// SetExtent gives the scope its number of rows; false where the scope takes no extent.
func (e *Extents) SetExtent(scope string, rows int64) bool {
	for _, x := range extentKeys {
		if x.scope == scope {
			*x.field(e) = rows
			return true
		}
	}
	return false
}

// kinds are the normalizations that the format can spell, with their parameters.
// Publishable names those that can be carried out exactly for what an agent is shown.
var kinds = []struct {
	name   string
	params []string
}{
	{"none", nil},
	{"minmax", []string{"min", "max", "clip"}},
	{"zscore", []string{"mean", "std"}},
	{"cyclical_sin_cos", []string{"period"}},
	{"one_hot", []string{"categories"}},
	{"binary", []string{"threshold"}},
	{"log_scaled", []string{"min", "max", "clip"}},
	{"rank_scaled", nil},
	{"masked_value", []string{"mask_value", "fill_value"}},
}

// publishedKinds are the kinds that Publishable takes.
var publishedKinds = []string{"cyclical_sin_cos", "binary", "minmax", "log_scaled"}

// numeric is what a plain scalar looks like that some reader of YAML takes for a number, a
// date or a time of day.
var numeric = regexp.MustCompile(`^[-+]?\.?[0-9][0-9a-fA-F_.:+xXoOtTzZ \t-]*$|^[-+]?\.(?i:inf|nan)$`)

// ambiguous reports whether some reader of YAML takes the plain word for something else
// than text.
func ambiguous(s string) bool {
	switch strings.ToLower(s) {
	case "", "~", "null", "true", "false", "yes", "no", "on", "off", "y", "n", "<<", "=":
		return true
	}
	return numeric.MatchString(s)
}

// TakesList reports whether a value of the type is a list: a vector, tensor or message.
func TakesList(typ string) bool {
	return fixedWidths[typ] != 0 || slices.Contains(dimsTypes, typ) || slices.Contains(tensors, typ)
}
