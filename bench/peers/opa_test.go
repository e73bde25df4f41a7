package peers

import (
	"context"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
)

// module looks the rules up in data that is keyed by what they ask for: of the ways to
// write them in Rego the one that does not grow with their number.
const module = `package bench

default allow := false

allow if {
	permitted
	not forbidden
}

permitted if data.rules.permit.path[input.path]

permitted if {
	some dir in input.dirs
	data.rules.permit.dir[dir]
}

permitted if {
	some dir in input.dirs
	data.rules.permit.ext[dir][input.ext]
}

forbidden if data.rules.forbid.path[input.path]

forbidden if {
	some dir in input.dirs
	data.rules.forbid.dir[dir]
}

forbidden if {
	some dir in input.dirs
	data.rules.forbid.ext[dir][input.ext]
}

forbidden if {
	input.secret
	some dir in input.dirs
	data.rules.forbid.secret[dir]
}
`

// opaRules are the rules as data: what they say, then the kind of rule, then its key.
func (p *policy) opaRules() map[string]any {
	type object = map[string]any
	effect := func() object { return object{"path": object{}, "dir": object{}, "ext": object{}, "secret": object{}} }
	permit, forbid := effect(), effect()
	for _, r := range p.rules {
		to := permit
		if r.forbid {
			to = forbid
		}
		switch {
		case r.path != "":
			to["path"].(object)[r.path] = true
		case r.secret:
			to["secret"].(object)[r.dir] = true
		case r.ext != "":
			if to["ext"].(object)[r.dir] == nil {
				to["ext"].(object)[r.dir] = object{}
			}
			to["ext"].(object)[r.dir].(object)[r.ext] = true
		default:
			to["dir"].(object)[r.dir] = true
		}
	}
	return object{"permit": permit, "forbid": forbid}
}

// prepareOPA puts the rules into the store and the facts about a file into the input, which
// is parsed beforehand.
func prepareOPA(p *policy) (func(i int) bool, error) {
	store := inmem.NewFromObjectWithOpts(map[string]any{"rules": p.opaRules()}, inmem.OptReturnASTValuesOnRead(true))
	query, err := rego.New(rego.Query("data.bench.allow"), rego.Module("bench.rego", module), rego.Store(store)).PrepareForEval(context.Background())
	if err != nil {
		return nil, err
	}
	inputs := make([]ast.Value, len(p.files))
	for i, f := range p.files {
		dirs := make([]*ast.Term, len(f.dirs))
		for k, dir := range f.dirs {
			dirs[k] = ast.StringTerm(dir)
		}
		inputs[i] = ast.NewObject(
			[2]*ast.Term{ast.StringTerm("path"), ast.StringTerm(f.path)},
			[2]*ast.Term{ast.StringTerm("dirs"), ast.ArrayTerm(dirs...)},
			[2]*ast.Term{ast.StringTerm("ext"), ast.StringTerm(f.ext)},
			[2]*ast.Term{ast.StringTerm("secret"), ast.BooleanTerm(f.secret)},
		)
	}
	return func(i int) bool {
		result, err := query.Eval(context.Background(), rego.EvalParsedInput(inputs[i]))
		return err == nil && result.Allowed()
	}, nil
}
