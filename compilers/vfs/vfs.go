// Package vfs compiles a resolved policy over the simulation vocabulary to the variable
// roster that the simulation's engine enforces.
package vfs

import (
	"umwelt/compilers"
	"umwelt/registry"
	"umwelt/simulation/roster"
)

// taxon is the taxon whose entities make a roster.
const taxon = "simulation"

const header = "# A variable roster, compiled from a view. Change the view or the world, not this file.\n"

// Compiler is the target "vfs".
func Compiler() compilers.Compiler {
	enforced := compilers.Support{Level: compilers.Enforced}
	info := compilers.Info{
		Name:        "vfs",
		Description: "the variable roster of a simulation: who may read, write and be shown each variable",
		Altitude:    registry.Semantic,
		Locality:    "local",
		Model:       "sync",
		Format:      "YAML",
		Options: []compilers.Option{
			{Key: "evaluation_mode", Default: "mark_and_sweep", Values: []string{"mark_and_sweep", "eager"},
				Description: "when the engine computes variables that have an expression"},
			{Key: "debug_logging", Default: "false", Values: []string{"false", "true"},
				Description: "whether the engine logs what it evaluates"},
		},
		Support: map[string]compilers.Support{
			"variable.readable-by": enforced,
			"variable.writable-by": enforced,
			"variable.exposed-to":  enforced,
			"variable.normalize":   enforced,
		},
	}
	return compilers.Compiler{Info: info, Compile: func(in compilers.Input) compilers.Output { return compile(info, in) }}
}

// compile makes the roster and checks all of it before any text is written.
func compile(info compilers.Info, in compilers.Input) compilers.Output {
	var out compilers.Output
	b := newBuilder(in.Resolution.World(), in.Resolution.Get, &out.Diagnostics)
	if b == nil {
		return out
	}
	b.roster.EvaluationMode = in.Option(info, "evaluation_mode")
	b.roster.DebugLogging = in.Option(info, "debug_logging") == "true"
	b.build()
	out.Notes = b.notes
	out.Diagnostics = append(out.Diagnostics, roster.Validate(b.roster)...)
	out.Diagnostics = append(out.Diagnostics, roster.Publishable(b.roster)...)
	if !out.Diagnostics.HasErrors() {
		out.Text = append([]byte(header), roster.Write(b.roster)...)
	}
	return out
}
