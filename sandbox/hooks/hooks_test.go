package hooks_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"umwelt/compilers/confine/confinetest"
	"umwelt/sandbox/hooks"
)

func TestFromResolution(t *testing.T) {
	for _, tt := range []struct {
		name, view, world string
		want              []hooks.Hook
	}{
		{"none", `file { visible: true }`, "", []hooks.Hook{}},
		{"another event", `@on-failure { log: cat log; }`, "", []hooks.Hook{}},
		{"labels, in order", `@after-change { test: pytest tests/ -x; lint: ruff check; }`, "",
			[]hooks.Hook{{Label: "test", Command: "pytest tests/ -x"}, {Label: "lint", Command: "ruff check"}}},
		{"from several rules", `@after-change { b: two; } hook[event="after-change"] { run: "one, and a half"; run: 'three'; }`, "",
			[]hooks.Hook{{Label: "b", Command: "two"}, {Command: "one, and a half"}, {Command: "three"}}},
		{"a timeout", `@after-change { test: make; timeout: 90s; }`, "", []hooks.Hook{{Label: "test", Command: "make", Timeout: 90 * time.Second}}},
		{"no time at all is no lack of a limit", `@after-change { test: make; timeout: 0s; }`, "", []hooks.Hook{{Label: "test", Command: "make", Timeout: 1}}},
		{"two entities, in document order",
			`hook[phase="b"] { run: first; } hook[phase="a"] { run: second; timeout: 1s; } hook[phase="b"] { run: third; }`,
			"name: w\nentities:\n  - { type: hook, id: x, attributes: { event: after-change, phase: a } }\n  - { type: hook, id: y, attributes: { event: after-change, phase: b } }\n",
			[]hooks.Hook{{Command: "first"}, {Command: "second", Timeout: time.Second}, {Command: "third"}}},
		{"fixed by the world", `@after-change { test: make; }`, "name: w\nfixed:\n  \"hook[event='after-change']\": { run: \"make safe\" }\n",
			[]hooks.Hook{{Command: "make safe"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.world == "" {
				tt.world = "name: w\n"
			}
			res := confinetest.Resolve(t, tt.view, tt.world, t.TempDir())
			if d := cmp.Diff(tt.want, hooks.FromResolution(res, "after-change")); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestResultJSON is the form that reports have.
func TestResultJSON(t *testing.T) {
	for _, tt := range []struct {
		result hooks.Result
		want   string
	}{
		{hooks.Result{Label: "test", Command: "make", Seconds: 0.5, Output: "ok\n"}, `{"label":"test","command":"make","exit":0,"seconds":0.5,"output":"ok\n"}`},
		{hooks.Result{Command: "make", Exit: -1, Signal: "SIGKILL", TimedOut: true, Dropped: 7, Error: "why"},
			`{"command":"make","exit":-1,"signal":"SIGKILL","seconds":0,"timed-out":true,"output":"","dropped":7,"error":"why"}`},
	} {
		got, err := json.Marshal(tt.result)
		if err != nil || string(got) != tt.want {
			t.Errorf("got  %s, %v\nwant %s", got, err, tt.want)
		}
	}
}

func escapes(s string) bool {
	return strings.ContainsAny(s, "\x1b\r\x00") || strings.Contains(s, "\xff")
}
