package roster_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"umwelt/simulation/roster"
)

// doc is a small valid document that a case changes: top and decl hold the text of each
// key's value, "" for no key.
func doc(top, decl map[string]string) string {
	topKeys := []string{"version", "evaluation_mode", "debug_logging", "extents", "item_profiles"}
	topValues := map[string]string{"version": `"1.0"`, "evaluation_mode": "mark_and_sweep", "debug_logging": "false", "extents": "{}", "item_profiles": "[]"}
	keys := []string{"id", "scope", "type", "lifetime", "semantic_type", "readable_by", "writable_by", "exposed_to", "initial_value"}
	values := map[string]string{"id": "v", "scope": "agent", "type": "scalar", "lifetime": "episode", "semantic_type": "custom",
		"readable_by": "[engine]", "writable_by": "[engine]", "exposed_to": "[]", "initial_value": "0.0"}
	fill := func(keys []string, values, changes map[string]string, indent string) string {
		for _, k := range sorted(changes) {
			if !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
			values[k] = changes[k]
		}
		var b strings.Builder
		for _, k := range keys {
			if values[k] != "" {
				fmt.Fprintf(&b, "%s%s: %s\n", indent, k, values[k])
			}
		}
		return b.String()
	}
	return "variables:\n" + fill(topKeys, topValues, top, "  ") + "  declarations:\n  -\n" + fill(keys, values, decl, "    ")
}

func sorted(m map[string]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

type kv = map[string]string

// shown makes a variable that agents are shown, with more keys.
func shown(more kv) kv {
	out := kv{"readable_by": "[engine, agent]", "exposed_to": "[agent]", "normalization": "{kind: minmax, min: 0, max: 1, clip: true}"}
	for k, v := range more {
		out[k] = v
	}
	return out
}

func tensor(typ, shape string, more kv) kv {
	out := kv{"type": typ, "shape": shape, "initial_value": "", "initial_value_mode": "zeros"}
	for k, v := range more {
		out[k] = v
	}
	return out
}

func item(more kv) kv {
	out := kv{"scope": "item", "profile": "food"}
	for k, v := range more {
		out[k] = v
	}
	return out
}

func TestRules(t *testing.T) {
	food := kv{"item_profiles": "[food]"}
	cases := []struct {
		name      string
		top, decl kv
		want      string // part of the message; "" where the roster is valid
	}{
		{"base", nil, nil, ""},
		{"version number", kv{"version": "1.0"}, nil, "version must be text"},
		{"version other", kv{"version": `"1"`}, nil, "version must be exactly"},
		{"version blank", kv{"version": `"1.0 "`}, nil, "version must be exactly"},
		{"eager", kv{"evaluation_mode": "eager"}, nil, ""},
		{"mode case", kv{"evaluation_mode": "Eager"}, nil, "evaluation_mode cannot be"},
		{"mode missing", kv{"evaluation_mode": ""}, nil, `lacks the key "evaluation_mode"`},
		{"debug number", kv{"debug_logging": "1"}, nil, "debug_logging must be true or false"},
		{"debug word", kv{"debug_logging": "yes"}, nil, "not null, true"},
		{"debug text", kv{"debug_logging": `"true"`}, nil, "expected null"},
		{"top unknown", kv{"observations": "[]"}, nil, `no key "observations"`},
		{"extents list", kv{"extents": "[]"}, nil, "extents must be a mapping"},
		{"extents unknown", kv{"extents": "{num_zone: 1}"}, nil, `did you mean "num_zones"`},
		{"extents zero", kv{"extents": "{num_zones: 0}"}, nil, "at least 1"},
		{"extents negative", kv{"extents": "{num_groups: -1}"}, nil, "at least 1"},
		{"extents bool", kv{"extents": "{num_zones: true}"}, nil, "must be an integer, not a boolean"},
		{"extents float", kv{"extents": "{num_zones: 1.0}"}, nil, "must be an integer, not a number"},
		{"extents null", kv{"extents": "{num_zones: null}"}, nil, ""},
		{"extents unused", kv{"extents": "{num_zones: 1, num_groups: 2, num_message_slots: 3, num_affordances: 4}"}, nil, ""},
		{"profiles text", kv{"item_profiles": "food"}, nil, "item_profiles must be a list"},
		{"profiles number", kv{"item_profiles": "[1]"}, nil, "must be text"},
		{"profiles twice", kv{"item_profiles": "[a, a]"}, nil, "stands twice"},
		{"profiles dot", kv{"item_profiles": "[a.b]"}, nil, "without . [ ]"},
		{"profiles empty", kv{"item_profiles": `[""]`}, nil, "not empty"},

		{"id empty", nil, kv{"id": `""`}, "the id is empty"},
		{"id number", nil, kv{"id": "7"}, "must be text"},
		{"id quoted number", nil, kv{"id": `"7"`}, ""},
		{"id bracket", nil, kv{"id": `"a[0]"`}, "holds no ["},
		{"id bracket closing", nil, kv{"id": `"a]"`}, "holds no ["},
		{"id dot", nil, kv{"id": "bar.energy"}, ""},
		{"id dot item", food, item(kv{"id": "a.b"}), "holds no dot"},
		{"id blank", nil, kv{"id": `" "`}, ""},
		{"tick", nil, kv{"id": "tick"}, "step counter"},
		{"tick pair", nil, kv{"id": "tick", "scope": "pair"}, "step counter"},
		{"tick item", food, item(kv{"id": "tick"}), ""},
		{"scope unknown", nil, kv{"scope": "agents"}, `did you mean "agent"`},
		{"type unknown", nil, kv{"type": "vecnf"}, `did you mean "vecNf"`},
		{"lifetime unknown", nil, kv{"lifetime": "forever"}, "lifetime cannot be"},
		{"semantic unknown", nil, kv{"semantic_type": "bar"}, `did you mean "bars"`},
		{"description", nil, kv{"description": "how it feels"}, ""},
		{"description null", nil, kv{"description": "null"}, ""},
		{"description number", nil, kv{"description": "5"}, "must be text"},
		{"declaration unknown", nil, kv{"observable": "true"}, `no key "observable"`},
		{"declaration twice", nil, kv{"dims": "null\n    dims: null"}, "stands twice"},

		{"readers missing", nil, kv{"readable_by": ""}, `lacks the key "readable_by"`},
		{"readers null", nil, kv{"readable_by": "null"}, "must be a list"},
		{"readers text", nil, kv{"readable_by": "engine"}, "must be a list"},
		{"readers none", nil, kv{"readable_by": "[]"}, "must always be able to read"},
		{"readers agent only", nil, kv{"readable_by": "[agent]"}, "must always be able to read"},
		{"readers reversed", nil, kv{"readable_by": "[agent, engine]"}, ""},
		{"readers twice", nil, kv{"readable_by": "[engine, engine]"}, "twice"},
		{"readers unknown", nil, kv{"readable_by": "[engine, god]"}, `cannot be "god"`},
		{"readers nested", nil, kv{"readable_by": "[[engine]]"}, "must be text"},
		{"writers none", nil, kv{"writable_by": "[]"}, ""},
		{"writers agent", nil, kv{"writable_by": "[engine, agent]"}, `cannot be "agent"`},
		{"writers twice", nil, kv{"writable_by": "[engine, engine]"}, "twice"},
		{"shown", nil, shown(nil), ""},
		{"shown unreadable", nil, shown(kv{"readable_by": "[engine]"}), "may not read it"},
		{"shown to engine", nil, shown(kv{"exposed_to": "[engine]"}), `cannot be "engine"`},
		{"shown twice", nil, shown(kv{"exposed_to": "[agent, agent]"}), "twice"},
		{"shown without normalization", nil, shown(kv{"normalization": ""}), "needs a normalization"},
		{"shown null normalization", nil, shown(kv{"normalization": "null"}), "needs a normalization"},
		{"hidden with normalization", nil, kv{"normalization": "{kind: binary, threshold: 1}"}, "takes no normalization"},
		{"shown private", nil, shown(kv{"scope": "agent_private"}), "can be exposed"},
		{"shown pair", nil, shown(kv{"scope": "pair"}), "can be exposed"},
		{"shown zone", kv{"extents": "{num_zones: 1}"}, shown(kv{"scope": "zone"}), "can be exposed"},
		{"shown global", nil, shown(kv{"scope": "global"}), ""},
		{"shown item", food, shown(item(nil)), ""},
		{"shown bool", nil, shown(kv{"type": "bool", "initial_value": "true"}), "cannot be exposed"},
		{"shown integers", nil, shown(kv{"type": "vec2i", "initial_value": "[0, 0]"}), "cannot be exposed"},
		{"shown ref", nil, shown(kv{"type": "agent_ref", "initial_value": "0"}), "cannot be exposed"},
		{"shown vector", nil, shown(kv{"type": "vec3f", "initial_value": "[0, 0.5, 1]"}), ""},
		{"shown random", nil, shown(tensor("tensor1d", "[2]", kv{"initial_value_mode": "random_normal", "initial_value_params": "{mean: 0, std: 1}"})), "at random"},
		{"shown zeros", nil, shown(tensor("tensor1d", "[2]", nil)), ""},

		{"initial missing", nil, kv{"initial_value": ""}, "is needed"},
		{"initial both", nil, kv{"initial_value_mode": "zeros"}, "exclude each other"},
		{"initial both null", nil, tensor("tensor1d", "[2]", kv{"initial_value": "null"}), "exclude each other"},
		{"initial mode null", nil, kv{"initial_value_mode": "null"}, ""},
		{"scalar int", nil, kv{"initial_value": "3"}, ""},
		{"scalar bool", nil, kv{"initial_value": "true"}, "finite number"},
		{"scalar text", nil, kv{"initial_value": `"0"`}, "expected null"},
		{"scalar list", nil, kv{"initial_value": "[0]"}, "finite number"},
		{"scalar map", nil, kv{"initial_value": "{a: 1}"}, "expected null"},
		{"scalar inf", nil, kv{"initial_value": ".inf"}, "finite number"},
		{"scalar minus inf", nil, kv{"initial_value": "-.inf"}, "finite number"},
		{"scalar nan", nil, kv{"initial_value": ".nan"}, "finite number"},
		{"scalar overflow", nil, kv{"initial_value": "1.0e+999"}, "too large"},
		{"scalar exponent", nil, kv{"initial_value": "1e3"}, "point and a sign"},
		{"scalar signed exponent", nil, kv{"initial_value": "1.5e+3"}, ""},
		{"scalar hex", nil, kv{"initial_value": "0x10"}, "not null"},
		{"scalar octal", nil, kv{"initial_value": "010"}, "not null"},
		{"scalar sexagesimal", nil, kv{"initial_value": "1:30"}, "not null"},
		{"scalar underscore", nil, kv{"initial_value": "1_000"}, "not null"},
		{"scalar null", nil, kv{"initial_value": "null"}, "reference only"},
		{"bool", nil, kv{"type": "bool", "initial_value": "false"}, ""},
		{"bool number", nil, kv{"type": "bool", "initial_value": "0"}, "true or false"},
		{"bool null", nil, kv{"type": "bool", "initial_value": "null"}, "reference only"},
		{"ref null", nil, kv{"type": "item_ref", "initial_value": "null"}, ""},
		{"ref -1", nil, kv{"type": "effect_ref", "initial_value": "-1"}, ""},
		{"ref -2", nil, kv{"type": "effect_ref", "initial_value": "-2"}, "from -1 up"},
		{"ref whole", nil, kv{"type": "agent_ref", "initial_value": "2.0"}, ""},
		{"ref fraction", nil, kv{"type": "agent_ref", "initial_value": "0.5"}, "from -1 up"},
		{"ref bool", nil, kv{"type": "agent_ref", "initial_value": "true"}, "from -1 up"},
		{"ref inf", nil, kv{"type": "agent_ref", "initial_value": ".inf"}, "from -1 up"},
		{"ref eager null", kv{"evaluation_mode": "eager"}, kv{"type": "agent_ref", "initial_value": "null"}, "eager evaluation"},
		{"ref eager null pair", kv{"evaluation_mode": "eager"}, kv{"scope": "pair", "type": "agent_ref", "initial_value": "null"}, ""},
		{"eager initializer", kv{"evaluation_mode": "eager"}, tensor("tensor1d", "[2]", nil), "eager evaluation"},

		{"vec2i", nil, kv{"type": "vec2i", "initial_value": "[1, 2]"}, ""},
		{"vec2i whole floats", nil, kv{"type": "vec2i", "initial_value": "[1.0, 2.0]"}, ""},
		{"vec2i fraction", nil, kv{"type": "vec2i", "initial_value": "[1, 2.5]"}, "must be an integer"},
		{"vec2i bool", nil, kv{"type": "vec2i", "initial_value": "[1, true]"}, "finite number"},
		{"vec2i long", nil, kv{"type": "vec2i", "initial_value": "[1, 2, 3]"}, "shape [2]"},
		{"vec2f number", nil, kv{"type": "vec2f", "initial_value": "1"}, "shape [2]"},
		{"vec2f nested", nil, kv{"type": "vec2f", "initial_value": "[[1], [2]]"}, "finite number"},
		{"vec3f null", nil, kv{"type": "vec3f", "initial_value": "[1, null, 2]"}, "finite number"},
		{"vec3f nan", nil, kv{"type": "vec3f", "initial_value": "[1, .nan, 2]"}, "finite number"},
		{"vec3i dims", nil, kv{"type": "vec3i", "initial_value": "[1, 2, 3]", "dims": "3"}, "takes no dims"},
		{"vecNf", nil, kv{"type": "vecNf", "initial_value": "[1, 2]", "dims": "2"}, ""},
		{"vecNf no dims", nil, kv{"type": "vecNf", "initial_value": "[1, 2]"}, "needs dims"},
		{"vecNf dims 0", nil, kv{"type": "vecNf", "initial_value": "[]", "dims": "0"}, "positive"},
		{"vecNf dims float", nil, kv{"type": "vecNf", "initial_value": "[1, 2]", "dims": "2.0"}, "must be an integer"},
		{"vecNf dims bool", nil, kv{"type": "vecNf", "initial_value": "[1]", "dims": "true"}, "must be an integer"},
		{"vecNf dims text", nil, kv{"type": "vecNf", "initial_value": "[1]", "dims": `"1"`}, "expected null"},
		{"vecNf shape", nil, kv{"type": "vecNf", "initial_value": "[1]", "dims": "1", "shape": "[1]"}, "takes no shape"},
		{"vecNi wrong", nil, kv{"type": "vecNi", "initial_value": "[1]", "dims": "2"}, "shape [2]"},
		{"message", nil, kv{"type": "message_token", "initial_value": "[1.5]", "dims": "1"}, ""},
		{"message mode", nil, kv{"type": "message_token", "initial_value": "", "initial_value_mode": "zeros", "dims": "1"}, "tensors only"},
		{"scalar dims", nil, kv{"dims": "1"}, "takes no dims"},
		{"scalar dims null", nil, kv{"dims": "null"}, ""},
		{"scalar shape", nil, kv{"shape": "[1]"}, "takes no shape"},
		{"scalar empty shape", nil, kv{"shape": "[]"}, "takes no shape"},

		{"tensor", nil, tensor("tensor2d", "[2, 3]", nil), ""},
		{"tensor no shape", nil, tensor("tensor2d", "", nil), "needs a shape"},
		{"tensor empty shape", nil, tensor("tensorNd", "[]", nil), "needs a shape"},
		{"tensor rank", nil, tensor("tensor2d", "[2]", nil), "of 2, not 1 axes"},
		{"tensor rank 3", nil, tensor("tensor3d", "[2, 2]", nil), "of 3, not 2 axes"},
		{"tensorNd any rank", nil, tensor("tensorNd", "[1, 2, 3, 4]", nil), ""},
		{"tensor zero axis", nil, tensor("tensor2d", "[2, 0]", nil), "must be positive"},
		{"tensor bool axis", nil, tensor("tensor1d", "[true]", nil), "must be an integer"},
		{"tensor float axis", nil, tensor("tensor1d", "[2.0]", nil), "must be an integer"},
		{"tensor dims", nil, tensor("tensor1d", "[2]", kv{"dims": "2"}), "takes no dims"},
		{"tensor literal", nil, kv{"type": "tensor2d", "shape": "[1, 2]", "initial_value": "[[1, 2]]"}, ""},
		{"tensor flat literal", nil, kv{"type": "tensor2d", "shape": "[1, 2]", "initial_value": "[1, 2]"}, "shape [1 2]"},
		{"tensor ragged literal", nil, kv{"type": "tensor2d", "shape": "[2, 2]", "initial_value": "[[1, 2], [3]]"}, "shape [2 2]"},
		{"tensor deep literal", nil, kv{"type": "tensor1d", "shape": "[1]", "initial_value": "[[1]]"}, "finite number"},
		{"eye", nil, tensor("tensor2d", "[3, 3]", kv{"initial_value_mode": "eye"}), ""},
		{"eye Nd", nil, tensor("tensorNd", "[3, 3]", kv{"initial_value_mode": "eye"}), ""},
		{"eye rank 3", nil, tensor("tensorNd", "[3, 3, 3]", kv{"initial_value_mode": "eye"}), "square"},
		{"eye rank 1", nil, tensor("tensor1d", "[3]", kv{"initial_value_mode": "eye"}), "square"},
		{"mode unknown", nil, tensor("tensor1d", "[3]", kv{"initial_value_mode": "zero"}), `did you mean "zeros"`},
		{"mode scalar", nil, kv{"initial_value": "", "initial_value_mode": "ones"}, "tensors only"},
		{"mode params", nil, tensor("tensor1d", "[3]", kv{"initial_value_params": "{}"}), "takes no parameters"},
		{"params no mode", nil, kv{"initial_value_params": "{}"}, "only with a random"},
		{"params null", nil, kv{"initial_value_params": "null"}, ""},
		{"normal", nil, tensor("tensor1d", "[3]", kv{"initial_value_mode": "random_normal", "initial_value_params": "{std: 0, mean: -1.5}"}), ""},
		{"normal no params", nil, tensor("tensor1d", "[3]", kv{"initial_value_mode": "random_normal"}), "exactly the parameters mean, std"},
		{"normal one", nil, tensor("tensor1d", "[3]", kv{"initial_value_mode": "random_normal", "initial_value_params": "{std: 1}"}), "exactly the parameters"},
		{"normal more", nil, tensor("tensor1d", "[3]", kv{"initial_value_mode": "random_normal", "initial_value_params": "{std: 1, mean: 0, low: 0}"}), "exactly the parameters"},
		{"normal negative", nil, tensor("tensor1d", "[3]", kv{"initial_value_mode": "random_normal", "initial_value_params": "{std: -1, mean: 0}"}), "negative"},
		{"normal bool", nil, tensor("tensor1d", "[3]", kv{"initial_value_mode": "random_normal", "initial_value_params": "{std: true, mean: 0}"}), "finite numbers"},
		{"normal inf", nil, tensor("tensor1d", "[3]", kv{"initial_value_mode": "random_normal", "initial_value_params": "{std: .inf, mean: 0}"}), "finite numbers"},
		{"uniform", nil, tensor("tensor1d", "[3]", kv{"initial_value_mode": "random_uniform", "initial_value_params": "{low: 1, high: 1}"}), ""},
		{"uniform reversed", nil, tensor("tensor1d", "[3]", kv{"initial_value_mode": "random_uniform", "initial_value_params": "{low: 2, high: 1}"}), "low must not"},
		{"uniform null", nil, tensor("tensor1d", "[3]", kv{"initial_value_mode": "random_uniform", "initial_value_params": "{low: null, high: 1}"}), "finite numbers"},
		{"uniform twice", nil, tensor("tensor1d", "[3]", kv{"initial_value_mode": "random_uniform", "initial_value_params": "{low: 0, low: 0, high: 1}"}), "stands twice"},

		{"cyclical", nil, shown(kv{"normalization": "{kind: cyclical_sin_cos, period: 24}"}), ""},
		{"cyclical 0", nil, shown(kv{"normalization": "{kind: cyclical_sin_cos, period: 0}"}), "period must be positive"},
		{"cyclical clip", nil, shown(kv{"normalization": "{kind: cyclical_sin_cos, period: 24, clip: true}"}), "exactly the parameters period"},
		{"binary", nil, shown(kv{"normalization": "{kind: binary, threshold: 0.5}"}), ""},
		{"binary nothing", nil, shown(kv{"normalization": "{kind: binary}"}), "exactly the parameters"},
		{"binary nan", nil, shown(kv{"normalization": "{kind: binary, threshold: .nan}"}), "finite number"},
		{"log", nil, shown(kv{"normalization": "{kind: log_scaled, min: 0, max: 10, clip: true}"}), ""},
		{"minmax no clip", nil, shown(kv{"normalization": "{kind: minmax, min: 0, max: 10}"}), "exactly the parameters"},
		{"minmax number clip", nil, shown(kv{"normalization": "{kind: minmax, min: 0, max: 10, clip: 1}"}), "clip must be"},
		{"minmax unclipped", nil, shown(kv{"normalization": "{kind: minmax, min: 0, max: 10, clip: false}"}), ""},
		{"minmax equal", nil, shown(kv{"normalization": "{kind: minmax, min: 1, max: 1, clip: true}"}), "min must be below max"},
		{"minmax bool", nil, shown(kv{"normalization": "{kind: minmax, min: false, max: true, clip: true}"}), "finite number"},
		{"minmax inf", nil, shown(kv{"normalization": "{kind: minmax, min: 0, max: .inf, clip: true}"}), "finite number"},
		{"minmax axes", nil, shown(kv{"type": "vec2f", "initial_value": "[0, 0]", "normalization": "{kind: minmax, min: [0, 0], max: 7, clip: true}"}), ""},
		{"minmax axes differ", nil, shown(kv{"type": "vec2f", "initial_value": "[0, 0]", "normalization": "{kind: minmax, min: [0, 0], max: [1, 1, 1], clip: true}"}), "min must be below max"},
		{"minmax one axis reversed", nil, shown(kv{"type": "vec2f", "initial_value": "[0, 0]", "normalization": "{kind: minmax, min: [0, 3], max: [1, 1], clip: true}"}), "min must be below max"},
		{"minmax no axes", nil, shown(kv{"normalization": "{kind: minmax, min: [], max: [], clip: true}"}), "finite number"},
		{"zscore", nil, shown(kv{"normalization": "{kind: zscore, mean: 0, std: 2}"}), ""},
		{"zscore 0", nil, shown(kv{"normalization": "{kind: zscore, mean: 0, std: 0.0}"}), "std must not be 0"},
		{"one hot", nil, shown(kv{"normalization": "{kind: one_hot, categories: 2}"}), ""},
		{"one hot 1", nil, shown(kv{"normalization": "{kind: one_hot, categories: 1}"}), "from 2 up"},
		{"one hot bool", nil, shown(kv{"normalization": "{kind: one_hot, categories: true}"}), "finite number"},
		{"kind missing", nil, shown(kv{"normalization": "{min: 0, max: 1, clip: true}"}), `lacks the key "kind"`},
		{"kind unknown", nil, shown(kv{"normalization": "{kind: min_max, min: 0, max: 1, clip: true}"}), `did you mean "minmax"`},
		{"kind text", nil, shown(kv{"normalization": "minmax"}), "must be a mapping"},

		{"expression", nil, kv{"expression": "tick % 24"}, ""},
		{"expression global", nil, kv{"scope": "global", "expression": "tick"}, ""},
		{"expression private", nil, kv{"scope": "agent_private", "expression": "tick"}, "global and agent scope only"},
		{"expression number", nil, kv{"expression": "1"}, "must be text"},
		{"expression mode", nil, tensor("tensor1d", "[2]", kv{"expression": "tick"}), "needs a literal"},
		{"expression null", nil, kv{"scope": "pair", "expression": "null"}, ""},

		{"item", food, item(nil), ""},
		{"item no profile", food, kv{"scope": "item"}, "needs a profile"},
		{"item null profile", food, kv{"scope": "item", "profile": "null"}, "needs a profile"},
		{"item unlisted", nil, item(nil), `no item profile "food"`},
		{"item bool", food, item(kv{"type": "bool", "initial_value": "true"}), ""},
		{"item vector", food, item(kv{"type": "vec2f", "initial_value": "[1, 2]"}), "is a scalar"},
		{"item tensor", food, tensor("tensor1d", "[2]", item(nil)), "is a scalar"},
		{"item tick life", food, item(kv{"lifetime": "tick"}), "lives for an episode"},
		{"item persistent", food, item(kv{"lifetime": "persistent"}), "lives for an episode"},
		{"profile elsewhere", food, kv{"profile": "food"}, "item scope only"},
		{"profile empty elsewhere", nil, kv{"profile": `""`}, "must not be empty"},
		{"zone", kv{"extents": "{num_zones: 2}"}, kv{"scope": "zone"}, ""},
		{"zone other extent", kv{"extents": "{num_groups: 2}"}, kv{"scope": "zone"}, "needs the extent num_zones"},
		{"group", nil, kv{"scope": "group"}, "needs the extent num_groups"},
		{"message", nil, kv{"scope": "message"}, "needs the extent num_message_slots"},
		{"affordance", nil, kv{"scope": "affordance"}, "needs the extent num_affordances"},
		{"pair", nil, kv{"scope": "pair"}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			text := doc(c.top, c.decl)
			_, list := load(text)
			got := messages(list)
			if c.want == "" && list.HasErrors() {
				t.Errorf("refused:\n%s\n%s", text, got)
			}
			if c.want != "" && !strings.Contains(got, c.want) {
				t.Errorf("want an error with %q\n%s\n%s", c.want, text, got)
			}
			for _, d := range list {
				if !d.Span.IsValid() {
					t.Errorf("no place: %s", d.Error())
				}
			}
		})
	}
}

func TestDuplicates(t *testing.T) {
	cases := []struct {
		name          string
		first, second kv
		ok            bool
	}{
		{"same", nil, nil, false},
		{"other id", nil, kv{"id": "w"}, true},
		{"other scope", nil, kv{"scope": "global"}, false},
		{"two profiles", item(nil), item(kv{"profile": "tool"}), true},
		{"one profile", item(nil), item(nil), false},
		{"item and agent", item(nil), nil, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			top := kv{"item_profiles": "[food, tool]"}
			_, second, _ := strings.Cut(doc(top, c.second), "declarations:\n")
			_, list := load(doc(top, c.first) + second)
			if list.HasErrors() == c.ok {
				t.Errorf("accepted = %t, want %t: %v", !list.HasErrors(), c.ok, list)
			}
		})
	}
}

// TestDocument refuses what readers of YAML disagree about, and what is no roster at all.
func TestDocument(t *testing.T) {
	valid := doc(nil, nil)
	cases := []struct{ name, text, want string }{
		{"empty", "", "empty"},
		{"comment only", "# nothing\n", "empty"},
		{"list", "- a\n", "must be a mapping"},
		{"null", "variables:\n", "must be a mapping"},
		{"no variables", "roster: {}\n", `no key "roster"`},
		{"two keys", valid + "more: 1\n", `no key "more"`},
		{"two documents", valid + "---\n" + valid, "exactly one"},
		{"broken", "variables: [", "not YAML"},
		{"anchor", strings.Replace(valid, "extents: {}", "extents: &x {}", 1), "anchors"},
		{"alias", "variables: &a\n  b: *a\n", "anchors"},
		{"tag", strings.Replace(valid, "id: v", "id: !!str v", 1), "tags"},
		{"merge", strings.Replace(valid, "extents: {}", "extents: {<<: {}}", 1), "not text"},
		{"nul", "variables: \x00", "UTF-8"},
		{"latin1", "variables: \xe9", "UTF-8"},
		{"deep", "variables: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "deep"},
		{"declaration is text", strings.Replace(valid, "declarations:\n  -\n", "declarations:\n  - x\n  -\n", 1), "must be a mapping"},
		{"declarations is a map", "variables: {version: '1.0', evaluation_mode: eager, debug_logging: false, extents: {}, item_profiles: [], declarations: {}}", "must be a list"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r, list := load(c.text)
			if got := messages(list); r != nil || !strings.Contains(got, c.want) {
				t.Errorf("want an error with %q, got %q", c.want, got)
			}
		})
	}
}

func TestPlaces(t *testing.T) {
	text := doc(nil, kv{"lifetime": "forever", "initial_value": "[1, 2]"})
	_, list := load(text)
	var got []string
	for _, d := range list {
		got = append(got, fmt.Sprintf("%s %s", d.Span, d.Span.Text()))
	}
	want := []string{"roster.yaml:12:15 forever", "roster.yaml:17:5 initial_value"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestManyErrors bounds what hostile text can make the reader say.
func TestManyErrors(t *testing.T) {
	var b strings.Builder
	b.WriteString(doc(nil, nil))
	for i := range 20000 {
		fmt.Fprintf(&b, "  - {unknown%d: 1, id: 5}\n", i)
	}
	if _, list := load(b.String()); len(list) < 100 || len(list) > 1000 {
		t.Errorf("%d diagnostics", len(list))
	}
}

func TestPublishable(t *testing.T) {
	food := kv{"item_profiles": "[food]"}
	cases := []struct {
		name      string
		top, decl kv
		want      string
	}{
		{"clipped", nil, shown(nil), ""},
		{"hidden", nil, nil, ""},
		{"unclipped", nil, shown(kv{"normalization": "{kind: minmax, min: 0, max: 1, clip: false}"}), "must be clipped"},
		{"unclipped log", nil, shown(kv{"normalization": "{kind: log_scaled, min: 0, max: 1, clip: false}"}), "must be clipped"},
		{"none", nil, shown(kv{"normalization": "{kind: none}"}), "cannot be \"none\""},
		{"zscore", nil, shown(kv{"normalization": "{kind: zscore, mean: 0, std: 1}"}), "cannot be \"zscore\""},
		{"item bool", food, shown(item(kv{"type": "bool", "initial_value": "true", "normalization": "{kind: binary, threshold: 0.5}"})), "cannot be exposed"},
		{"item ref", food, shown(item(kv{"type": "agent_ref", "initial_value": "-1"})), "cannot be exposed"},
		{"item scalar", food, shown(item(nil)), ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r, list := load(doc(c.top, c.decl))
			if list.HasErrors() {
				t.Fatal(messages(list))
			}
			got := messages(roster.Publishable(r))
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("want %q, got %q", c.want, got)
			}
		})
	}
}

func TestParseLiteral(t *testing.T) {
	cases := []struct{ text, want string }{
		{"0", "0"}, {"-1", "-1"}, {"0.5", "0.5"}, {"-0.0", "-0.0"}, {"1e3", "1000.0"}, {"1E-7", "1.0e-07"}, {"true", "true"},
		{"null", "null"}, {" [0, 1] ", "[0, 1]"}, {"[]", "[]"}, {"[[1, 0.5], [0, 1]]", "[[1, 0.5], [0, 1]]"}, {"2.0", "2.0"},
		{"9223372036854775807", "9223372036854775807"},
		{"9223372036854775808", ""}, {"1e999", ""}, {"", ""}, {"True", ""}, {"yes", ""}, {"~", ""}, {"+1", ""}, {"01", ""}, {".5", ""}, {"1.", ""},
		{"0x1", ""}, {"1_000", ""}, {"inf", ""}, {".inf", ""}, {"nan", ""}, {"[1", ""}, {"1]", ""}, {"[1 2]", ""}, {"[1,]", ""}, {"[,]", ""},
		{"1, 2", ""}, {`"1"`, ""}, {"1 # one", ""}, {"{a: 1}", ""}, {"1\n2", ""}, {strings.Repeat("[", 100) + strings.Repeat("]", 100), ""},
	}
	for _, c := range cases {
		l, err := roster.ParseLiteral(c.text)
		got := ""
		if err == nil {
			got = l.String()
		}
		if got != c.want {
			t.Errorf("%q: got %q (%v), want %q", c.text, got, err, c.want)
		}
	}
}

// TestBuilt checks rosters that Go code built, which no reader has looked at.
func TestBuilt(t *testing.T) {
	bad := "\xff"
	neg := int64(-1)
	cases := []struct {
		name   string
		change func(*roster.Roster)
		want   string
	}{
		{"nothing", func(r *roster.Roster) { *r = roster.Roster{} }, "version"},
		{"extent", func(r *roster.Roster) { r.Extents.Zones = -1 }, "num_zones"},
		{"id bytes", func(r *roster.Roster) { r.Declarations[0].ID = bad }, "not UTF-8"},
		{"expression bytes", func(r *roster.Roster) { r.Declarations[0].Expression = &bad }, "not UTF-8"},
		{"description bytes", func(r *roster.Roster) { r.Declarations[0].Description = &bad }, "not UTF-8"},
		{"profile bytes", func(r *roster.Roster) { r.ItemProfiles = []string{bad} }, "UTF-8"},
		{"dims", func(r *roster.Roster) { r.Declarations[0].Type = "vecNf"; r.Declarations[0].Dims = &neg }, "positive"},
		{"scope", func(r *roster.Roster) { r.Declarations[0].Scope = "" }, "it has no scope"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r, list := load(doc(nil, nil))
			if list.HasErrors() {
				t.Fatal(list)
			}
			c.change(r)
			if got := messages(roster.Validate(r)); !strings.Contains(got, c.want) {
				t.Errorf("want %q, got %q", c.want, got)
			}
		})
	}
}

// TestLongLine reads thousands of declarations that all stand on one line; the work must
// not grow with the square of its length.
func TestLongLine(t *testing.T) {
	const n = 20000
	var b strings.Builder
	b.WriteString(`{"variables": {"version": "1.0", "evaluation_mode": "eager", "debug_logging": false, "extents": {}, "item_profiles": [], "declarations": [`)
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, `{"id": "é%d", "scope": "agent", "type": "scalar", "lifetime": "tick", "semantic_type": "bars", "readable_by": ["engine", "agent"], `+
			`"writable_by": [], "exposed_to": ["agent"], "initial_value": 0, "normalization": {"kind": "binary", "threshold": 0.5}}`, i)
	}
	b.WriteString("]}}")
	start := time.Now()
	r, list := load(b.String())
	if list.HasErrors() || len(r.Declarations) != n {
		t.Fatal(messages(list))
	}
	last := r.Declarations[n-1].At.Of("id").Start
	if got := b.String()[last.Offset:]; !strings.HasPrefix(got, fmt.Sprintf(`"é%d"`, n-1)) {
		t.Errorf("the last id is placed at %.20q", got)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}
