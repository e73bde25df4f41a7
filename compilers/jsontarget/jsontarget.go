// Package jsontarget writes the resolved policy itself, for programs that enforce it by
// their own means. docs/targets/json.md describes the document.
package jsontarget

import (
	"bytes"

	"umwelt/compilers"
	"umwelt/diag"
	"umwelt/registry"
	"umwelt/report"
)

// Compiler is the target "json".
func Compiler() compilers.Compiler {
	return compilers.Compiler{
		Info: compilers.Info{
			Name:        "json",
			Description: "the resolved policy itself, for other programs",
			Altitude:    registry.Conversational, // it says everything
			Locality:    "local",
			Model:       "sync",
			Format:      "JSON of the schema " + report.PolicySchema,
			Support:     map[string]compilers.Support{"*": {Level: compilers.Requested, Why: "whoever reads the document has to enforce it"}},
		},
		Compile: compile,
	}
}

func compile(in compilers.Input) compilers.Output {
	if in.Unwritten {
		return compilers.Output{}
	}
	var b bytes.Buffer
	if err := report.Policy(in.Resolution, in.Version).WriteJSON(&b); err != nil {
		var out compilers.Output
		out.Diagnostics.Errorf(diag.Output, diag.Span{}, "json: %v", err)
		return out
	}
	return compilers.Output{Text: b.Bytes()}
}
