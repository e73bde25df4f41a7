package vfs_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"umwelt/cascade"
	"umwelt/compilers"
	"umwelt/compilers/vfs"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/registry"
	"umwelt/simulation"
	"umwelt/simulation/roster"
	"umwelt/world"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// vocabulary is a registry with the simulation vocabulary alone.
func vocabulary(t testing.TB) *registry.Registry {
	t.Helper()
	v, list := parser.Parse(simulation.Vocabulary())
	reg := registry.New()
	list = append(list, reg.Load(registry.Options{}, v)...)
	if len(list) > 0 {
		t.Fatal(messages(list))
	}
	return reg
}

func messages(list diag.List) string {
	var b strings.Builder
	for _, d := range list {
		b.WriteString(d.Error() + "\n")
	}
	return b.String()
}

// compile compiles texts. Complaints of the stages before the compiler fail the test.
func compile(t testing.TB, view, worldFile string, set map[string]string) compilers.Output {
	t.Helper()
	return vfs.Compiler().Compile(input(t, vocabulary(t), view, worldFile, set))
}

func input(t testing.TB, reg *registry.Registry, view, worldFile string, set map[string]string) compilers.Input {
	t.Helper()
	w, list := world.LoadText(&diag.Source{Name: "w.world.yml", Text: []byte(worldFile)}, "", world.Options{Registry: reg})
	if len(list) > 0 {
		t.Fatalf("world: %s\n%s", messages(list), worldFile)
	}
	return inputOf(t, reg, view, w, set)
}

func inputOf(t testing.TB, reg *registry.Registry, view string, w *world.World, set map[string]string) compilers.Input {
	t.Helper()
	v, list := parser.Parse(&diag.Source{Name: "v.umw", Text: []byte(view)})
	bound := reg.Bind(registry.Options{}, v)
	list = append(list, bound.Diagnostics...)
	if len(list) > 0 {
		t.Fatalf("view: %s\n%s", messages(list), view)
	}
	r, list := cascade.New(w, bound).Resolve(nil)
	if list.HasErrors() {
		t.Fatal(messages(list))
	}
	return compilers.Input{Resolution: r, Set: set}
}

func read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// readBack reads and validates what was compiled.
func readBack(t testing.TB, text []byte) *roster.Roster {
	t.Helper()
	r, list := roster.Read(&diag.Source{Name: "roster.yaml", Text: text})
	if r != nil {
		list = append(list, roster.Validate(r)...)
		list = append(list, roster.Publishable(r)...)
	}
	if len(list) > 0 {
		t.Fatalf("%s\n%s", messages(list), text)
	}
	return r
}

func TestVillage(t *testing.T) {
	dir := "../../examples/village/"
	out := compile(t, read(t, dir+"village.umw"), read(t, dir+"village.world.yml"), nil)
	if len(out.Diagnostics) > 0 {
		t.Fatal(messages(out.Diagnostics))
	}
	golden := filepath.Join("testdata", "village.roster.yaml")
	if *update {
		if err := os.WriteFile(golden, out.Text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(read(t, golden), string(out.Text)); d != "" {
		t.Errorf("golden file differs (-golden +compiled):\n%s", d)
	}
	if n := len(readBack(t, out.Text).Declarations); n != 14 {
		t.Errorf("%d declarations, want 14", n)
	}
}

// TestDocs compiles the example of the target's page.
func TestDocs(t *testing.T) {
	var blocks []string
	for i, part := range strings.Split(read(t, "../../docs/targets/vfs.md"), "```") {
		if i%2 == 1 {
			_, body, _ := strings.Cut(part, "\n")
			blocks = append(blocks, body)
		}
	}
	if len(blocks) != 3 {
		t.Fatalf("%d blocks, want a view, a world and a roster", len(blocks))
	}
	out := compile(t, blocks[0], blocks[1], nil)
	if !strings.HasSuffix(string(out.Text), "\n"+blocks[2]) {
		t.Errorf("%s\n%s", messages(out.Diagnostics), out.Text)
	}
}

// variable is a world of one variable with these attributes beside the usual ones.
func variable(more string) string {
	attrs := map[string]string{"scope": "agent", "type": "scalar", "lifetime": "episode", "semantic-type": "custom", "initial": "0"}
	order := []string{"scope", "type", "lifetime", "semantic-type", "initial"}
	for _, pair := range strings.Split(more, ";") {
		k, v, ok := strings.Cut(pair, "=")
		k = strings.TrimSpace(k)
		if _, known := attrs[k]; ok && !known {
			order = append(order, k)
		}
		if ok {
			attrs[k] = v
		}
	}
	var b strings.Builder
	b.WriteString("item-profiles: [food]\nentities:\n  - type: variable\n    id: v\n    attributes:\n")
	for _, k := range order {
		if attrs[k] != "" {
			fmt.Fprintf(&b, "      %s: %s\n", k, attrs[k])
		}
	}
	return b.String()
}

const (
	hidden = "variable { readable-by: engine; writable-by: engine; exposed-to: none; }\n"
	shown  = "variable { readable-by: engine, agent; writable-by: engine; exposed-to: agent; normalize: minmax 0 1 clip; }\n"
)

func TestChecks(t *testing.T) {
	cases := []struct {
		name, view, attrs string
		want              string // part of an error with its place; "" for a roster
	}{
		{"hidden", hidden, "", ""},
		{"shown", shown, "", ""},
		{"no rule at all", "", "", ""},
		{"no writer", "variable { writable-by: none; }", "", ""},
		{"no reader", "variable { readable-by: none; }", "", "v.umw:1:12: error[invalid]: variable \"v\": the engine must always"},
		{"agent alone", "variable { readable-by: agent; }", "", "the engine must always"},
		{"shown unread", "variable { exposed-to: agent; normalize: binary 1; }", "", "v.umw:1:12: error[invalid]: variable \"v\": it is exposed to \"agent\", which may not read it"},
		{"shown unscaled", "variable { readable-by: engine, agent; exposed-to: agent; }", "", "v.umw:1:40: error[invalid]: variable \"v\": a variable that is exposed needs"},
		{"scaled unshown", hidden + "variable { normalize: binary 1; }", "", "v.umw:2:12: error[invalid]: variable \"v\": a variable that is not exposed takes no"},
		{"scaled unshown, undone", shown + "variable#v { exposed-to: none; normalize: none; }", "", ""},
		{"scaled where another rule shows", shown + "variable#v { exposed-to: none; normalize: binary 1; }", "", "a variable that is not exposed takes no"},
		{"normalize unknown", shown + "variable#v { normalize: zscore 0 1; }", "", "v.umw:2:14: error[bad-value]"},
		{"normalize unclipped", shown + "variable#v { normalize: minmax 0 1; }", "", "clipped"},
		{"normalize short", shown + "variable#v { normalize: minmax 0 clip; }", "", "minmax MIN MAX clip"},
		{"normalize long", shown + "variable#v { normalize: binary 0 1; }", "", "binary THRESHOLD"},
		{"normalize word", shown + "variable#v { normalize: binary half; }", "", "threshold is a number"},
		{"normalize unit", shown + "variable#v { normalize: cyclical_sin_cos 24h; }", "", "period is a number"},
		{"normalize null", shown + "variable#v { normalize: binary null; }", "", "threshold is a number"},
		{"normalize reversed", shown + "variable#v { normalize: minmax 1 0 clip; }", "", "v.umw:2:14: error[invalid]: variable \"v\": min must be below max"},
		{"normalize period", shown + "variable#v { normalize: cyclical_sin_cos 0; }", "", "period must be positive"},
		{"normalize text", shown + "variable#v { normalize: \"log_scaled 0 10 clip\"; }", "", ""},
		{"normalize commas", shown + "variable#v { normalize: log_scaled, 0, 10, clip; }", "", ""},

		{"no scope", hidden, "scope=", "w.world.yml:3:5: error[invalid]: variable \"v\": it has no scope"},
		{"no type", hidden, "type=", "it has no type"},
		{"no lifetime", hidden, "lifetime=", "it has no lifetime"},
		{"no semantic type", hidden, "semantic-type=", "it has no semantic_type"},
		{"no initial", hidden, "initial=", "an initial value or an initial mode is needed"},
		{"initial float", hidden, "initial=0.5", ""},
		{"initial octal", hidden, "initial=010", "no literal"},
		{"initial underscore", hidden, "initial=1_000", "no literal"},
		{"initial hexadecimal", hidden, "initial=0x10", "no literal"},
		{"initial words", hidden, "initial=a lot", "no literal"},
		{"initial bool", hidden, "initial=true", "finite number"},
		{"initial quoted", hidden, `initial="0.5"`, ""},
		{"initial null", hidden, `initial="null"`, "reference only"},
		{"ref null", hidden, `type=agent_ref;initial="null"`, ""},
		{"ref", hidden, "type=agent_ref;initial=-2", "from -1 up"},
		{"bool", hidden, "type=bool;initial=true", ""},
		{"bool word", hidden, "type=bool;initial=yes", "no literal"},
		{"vector", hidden, "type=vec2i;initial=[1, 2]", ""},
		{"vector text", hidden, `type=vec2i;initial="[1, 2]"`, ""},
		{"vector short", hidden, "type=vec2i;initial=[1]", "shape [2]"},
		{"vector of one", hidden, "type=vecNf;dims=1;initial=[0.5]", ""},
		{"vector nothing", hidden, "type=vecNf;dims=1;initial=[]", "shape [1]"},
		{"vector no dims", hidden, "type=vecNf;initial=[0.5]", "needs dims"},
		{"tensor", hidden, `type=tensor2d;shape=[2, 2];initial="[[1, 0], [0, 1]]"`, ""},
		{"tensor mode", hidden, "type=tensor2d;shape=[2, 2];initial=;initial-mode=eye", ""},
		{"tensor both", hidden, "type=tensor2d;shape=[2, 2];initial-mode=eye", "exclude each other"},
		{"tensor rank", hidden, "type=tensor2d;shape=[2];initial=;initial-mode=zeros", "of 2, not 1"},
		{"random", hidden, "type=tensor1d;shape=[2];initial=;initial-mode=random_uniform;initial-params=[low 0, high 1]", ""},
		{"random param", hidden, "type=tensor1d;shape=[2];initial=;initial-mode=random_uniform;initial-params=[low, high 1]", "not a name and a number"},
		{"random params", hidden, "type=tensor1d;shape=[2];initial=;initial-mode=random_uniform;initial-params=[low 0]", "exactly the parameters"},
		{"random shown", shown, "type=tensor1d;shape=[2];initial=;initial-mode=random_uniform;initial-params=[low 0, high 1]", "v.umw:1:61: error[invalid]: variable \"v\": a variable that begins at random"},
		{"private shown", shown, "scope=agent_private", "can be exposed"},
		{"bool shown", shown, "type=bool;initial=true", "cannot be exposed"},
		{"item", hidden, "scope=item;profile=food", ""},
		{"item bool shown", shown, "scope=item;profile=food;type=bool;initial=true", "cannot be exposed"},
		{"item other profile", hidden, "scope=item;profile=fod", `did you mean "food"`},
		{"item no profile", hidden, "scope=item", "needs a profile"},
		{"zone", hidden, "scope=zone", "w.world.yml:3:5: error[invalid]: variable \"v\": the scope zone needs the extent num_zones"},
		{"expression", hidden, `expression="tick % 24"`, ""},
		{"expression pair", hidden, `scope=pair;expression="tick"`, "global and agent scope only"},
		{"tick", hidden, "id=tick", "step counter"},
		{"bracket", hidden, `id="a[0]"`, "holds no ["},
		{"empty id", hidden, `id=""`, "the id is empty"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			out := compile(t, c.view, variable(c.attrs), nil)
			got := messages(out.Diagnostics)
			switch {
			case c.want == "":
				if got != "" || out.Text == nil {
					t.Fatalf("refused: %s", got)
				}
				readBack(t, out.Text)
			case !strings.Contains(got, c.want):
				t.Errorf("want %q, got %s", c.want, got)
			case out.Text != nil:
				t.Errorf("text in spite of errors:\n%s", out.Text)
			}
		})
	}
}

func TestExtents(t *testing.T) {
	cases := []struct{ name, entities, want string }{
		{"all", "{type: extent, id: zone, attributes: {count: 1}}, {type: extent, id: g, attributes: {kind: group, count: 2}}, " +
			"{type: extent, id: m, attributes: {kind: message, count: 3}}, {type: extent, id: a, attributes: {kind: affordance, count: 4}}", ""},
		{"zero", "{type: extent, id: zone, attributes: {count: 0}}", "at least 1"},
		{"none", "{type: extent, id: zone}", "at least 1"},
		{"twice", "{type: extent, id: zone, attributes: {count: 1}}, {type: extent, id: z, attributes: {kind: zone, count: 1}}", "two extents"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			out := compile(t, "", "entities: ["+c.entities+"]\n", nil)
			got := messages(out.Diagnostics)
			if c.want != "" {
				if !strings.Contains(got, c.want) || out.Text != nil {
					t.Errorf("want %q, got %s", c.want, got)
				}
				return
			}
			if want := (roster.Extents{Zones: 1, Groups: 2, MessageSlots: 3, Affordances: 4}); readBack(t, out.Text).Extents != want {
				t.Errorf("%s%s", got, out.Text)
			}
		})
	}
}

func TestOptions(t *testing.T) {
	out := compile(t, hidden, variable(""), map[string]string{"evaluation_mode": "eager", "debug_logging": "true"})
	if r := readBack(t, out.Text); r.EvaluationMode != "eager" || !r.DebugLogging {
		t.Errorf("%s", out.Text)
	}
	out = compile(t, hidden, variable(`type=agent_ref;initial="null"`), map[string]string{"evaluation_mode": "eager"})
	if out.Text != nil || !strings.Contains(messages(out.Diagnostics), "eager evaluation") {
		t.Errorf("%v", out.Diagnostics)
	}
}

// TestOrder holds that declarations keep the order of the world file, profiles may share
// ids, and the list of profiles is complete.
func TestOrder(t *testing.T) {
	item := "{type: variable, id: %s, attributes: {id: %s, scope: item, profile: %s, type: scalar, lifetime: episode, semantic-type: custom, initial: 0}}"
	entities := fmt.Sprintf(item, "z", "size", "tool") + ", " + fmt.Sprintf(item, "a", "size", "food") + ", " + fmt.Sprintf(item, "m", "age", "food")
	out := compile(t, "", "item-profiles: [tool, food]\nentities: ["+entities+"]\n", nil)
	var got []string
	for _, d := range readBack(t, out.Text).Declarations {
		got = append(got, d.Profile+"."+d.ID)
	}
	if want := []string{"tool.size", "food.size", "food.age"}; !cmp.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestHidden holds that hiding a variable which a weaker rule shows and scales needs no more
// than that, and that the report says what became of the scale.
func TestHidden(t *testing.T) {
	view := shown + `variable[scope="agent_private"] { exposed-to: none; }`
	out := compile(t, view, variable("scope=agent_private"), nil)
	if len(out.Diagnostics) > 0 {
		t.Fatal(messages(out.Diagnostics))
	}
	if d := readBack(t, out.Text).Declarations[0]; len(d.ExposedTo) > 0 || d.Normalization != nil || len(d.ReadableBy) != 2 {
		t.Errorf("%s", out.Text)
	}
	if len(out.Notes) != 1 || out.Notes[0].Level != compilers.Partial || out.Notes[0].Declaration.Name != "normalize" || !strings.Contains(out.Notes[0].Why, `"v" is hidden`) {
		t.Errorf("notes: %+v", out.Notes)
	}
}

// TestFixed holds that physics of the world counts, and is named where it is to blame.
func TestFixed(t *testing.T) {
	fixed := "fixed:\n  \"variable#v\": { %s }\n"
	out := compile(t, shown, variable("")+fmt.Sprintf(fixed, "exposed-to: []"), nil)
	if d := readBack(t, out.Text).Declarations[0]; len(d.ExposedTo) > 0 || len(out.Notes) != 1 {
		t.Errorf("%s%s", messages(out.Diagnostics), out.Text)
	}
	out = compile(t, shown, variable("")+fmt.Sprintf(fixed, "readable-by: agent"), nil)
	if got := messages(out.Diagnostics); !strings.Contains(got, "w.world.yml:") || !strings.Contains(got, "the engine must always") {
		t.Errorf("got %s", got)
	}
}

// TestOtherVocabulary refuses a policy that has nothing to do with variables.
func TestOtherVocabulary(t *testing.T) {
	out := vfs.Compiler().Compile(input(t, registry.New(), "", "name: nothing\n", nil))
	if out.Text != nil || !strings.Contains(messages(out.Diagnostics), "simulation vocabulary") {
		t.Errorf("%v", out.Diagnostics)
	}
}
