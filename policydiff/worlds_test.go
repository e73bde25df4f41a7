package policydiff_test

import (
	"testing"

	"umwelt/cascade"
	"umwelt/policydiff"
)

// TestWorlds compares a policy over the world that it had with one over the world that there
// is.
func TestWorlds(t *testing.T) {
	for _, tt := range []struct{ name, before, after, view, want, why string }{
		{"nothing", `tools: [Bash]`, `tools: [Bash]`, `tool { allow: true }`, "",
			"the same rules compete for every property, up to an order that cannot matter and rules that can never win"},
		{"a tool more", `tools: [Bash]`, `tools: [Bash, Edit]`, `tool { allow: true }`,
			"widening tool.allow absent -> true (b.umw:1:8): Edit\nwidening tool.visible absent -> true (b.umw:1:8): Edit\n",
			"the rules are equivalent in every world, and what exists is not the same any more"},
		{"a tool less", `tools: [Bash, Edit]`, `tools: [Bash]`, `tool { allow: true; visible: false }`, "narrowing tool.allow true (a.umw:1:8) -> absent: Edit\n",
			"the rules are equivalent in every world, and what exists is not the same any more"},
		{"a fact that a bound is held against", `entities: [{type: tool, id: Bash, attributes: {level: 1}}]`, `entities: [{type: tool, id: Bash, attributes: {level: 3}}]`,
			`tool { allow: true; visible: true; max-level: 2 }`, "narrowing tool.allow true (a.umw:1:8) -> false (b.umw:1:8 b.umw:1:36): Bash\n",
			"the rules are equivalent in every world, and what exists is not the same any more"},
		{"a class", `entities: [{type: tool, id: Bash, classes: [wild]}]`, `entities: [{type: tool, id: Bash}]`, `tool { visible: true } tool.wild { visible: false }`,
			"widening tool.visible false (a.umw:1:36) -> true (b.umw:1:8): Bash\n", "the rules are equivalent in every world, and what exists is not the same any more"},
		{"what is fixed", "tools: [Bash]\nfixed: {tool: {visible: false}}", "tools: [Bash]\nfixed: {tool: {visible: true}}", `tool { visible: true }`,
			"widening tool.visible false (a.umw:1:8 w.world.yml:2:9) -> true (b.umw:1:8): Bash\n", "the rules are equivalent in every world, and what exists is not the same any more"},
		{"other things are fixed first", "tools: [Bash, Edit]\nfixed: {\"tool#Edit\": {allow: false}, \"tool#Bash\": {visible: false}}", "tools: [Bash, Edit]\nfixed: {\"tool#Bash\": {visible: false}}", `tool { visible: true }`,
			"", "the same rules compete for every property, up to an order that cannot matter and rules that can never win"},
		{"something that can be active now", "tools: [Bash]\nmodes: [plain]", "tools: [Bash]\nmodes: [plain, loose]", `mode#loose tool { visible: true }`,
			"widening tool.visible false -> true (b.umw:1:19): Bash [{mode loose}]\n", "the rules are equivalent in every world, and what exists is not the same any more"},
		{"a directory", `{}`, `entities: [{type: dir, id: src, attributes: {path: src}}]`, `dir file { editable: true; visible: false } dir { visible: false }`,
			"widening file.editable absent -> true (b.umw:1:12): later in src\n", "the rules are equivalent in every world, and what exists is not the same any more"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := bind(t, "a.umw", tt.view), bind(t, "b.umw", tt.view)
			before, after := load(t, tt.before), load(t, tt.after)
			r, list := policydiff.Compare([]policydiff.Pair{{Old: cascade.New(before, a), New: cascade.New(after, b)}}, policydiff.Options{})
			if list.HasErrors() {
				t.Fatal(list.Err())
			}
			if got := print(r); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
			if r.Equivalence.Why != tt.why {
				t.Errorf("%s: %s", r.Equivalence.Verdict, r.Equivalence.Why)
			}
		})
	}
}
