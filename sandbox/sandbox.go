// Package sandbox is the first-party vocabulary for bounding agents: its vocabulary
// file, the at-rules that abbreviate common rules, a pseudo-class and the collections of
// entities that worlds can require. Anything it registers, a program could register
// itself; the core gives it no privilege.
package sandbox

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"umwelt/diag"
	"umwelt/registry"
)

//go:embed vocabulary.umw
var vocabulary []byte

//go:embed coding-agent.world.yml
var codingAgent []byte

// Vocabulary is the vocabulary file.
func Vocabulary() *diag.Source { return &diag.Source{Name: "sandbox.umw", Text: vocabulary} }

// Collection is the world file of a named collection of entities.
func Collection(name string) (*diag.Source, bool) {
	if name == "coding-agent" {
		return &diag.Source{Name: "coding-agent.world.yml", Text: codingAgent}, true
	}
	return nil, false
}

// Collections are the names that Collection knows.
func Collections() []string { return []string{"coding-agent"} }

// Register adds the sugar and the pseudo-class to a registry that has the vocabulary.
func Register(r *registry.Registry) error {
	for _, s := range []registry.Sugar{
		{Name: "source", Rewrite: rewriteSource},
		{Name: "tools", Rewrite: rewriteTools},
		{Name: "network", Rewrite: rewriteNetwork},
		{Name: "budget", Rewrite: rewriteBudget},
		{Name: "env", Rewrite: rewriteEnv},
		{Name: "before-call", Rewrite: rewriteHook},
		{Name: "after-change", Rewrite: rewriteHook},
		{Name: "on-failure", Rewrite: rewriteHook},
		{Name: "on-timeout", Rewrite: rewriteHook},
	} {
		if err := r.AddSugar(s); err != nil {
			return err
		}
	}
	return r.AddPseudo(registry.PseudoClass{Name: "phase", Types: []string{"tool"}, Check: checkPhase, Test: testPhase})
}

// phases are the ranges of computation levels that have a name of their own.
var phases = []struct {
	name      string
	low, high int
}{
	{"sealed", 0, 0}, {"structured-query", 1, 1}, {"read-compute", 2, 2}, {"mutation", 3, 3}, {"amplification", 4, 6}, {"fold-escape", 7, 8},
}

func checkPhase(arg string) string {
	var names []string
	for _, p := range phases {
		if p.name == arg {
			return ""
		}
		names = append(names, p.name)
	}
	return fmt.Sprintf("%s is no phase; the phases are %s", diag.Quote(arg), strings.Join(names, ", "))
}

func testPhase(attr func(string) (string, bool), arg string) bool {
	text, ok := attr("level")
	level, err := strconv.Atoi(text)
	if !ok || err != nil {
		return false
	}
	for _, p := range phases {
		if p.name == arg {
			return p.low <= level && level <= p.high
		}
	}
	return false
}
