package umwelt

import (
	"maps"
	"slices"
	"strings"

	"umwelt/compilers"
	"umwelt/compilers/all"
	"umwelt/diag"
)

// Compiled is what a target reads.
type Compiled struct {
	Text        []byte
	Coverage    compilers.Coverage // what of the policy the target enforces, and what it does not
	Diagnostics diag.List
}

// Targets are the names of what a policy can be compiled to.
func Targets() []string {
	var out []string
	for _, c := range all.Compilers() {
		out = append(out, c.Info.Name)
	}
	return out
}

// Compile writes the policy as the text that a target reads. set are options of the target.
// What the target cannot enforce is no error: Coverage.DroppedRestrictions lists it, and a
// program that relies on the target has to look.
func (p *Policy) Compile(target string, set map[string]string) (*Compiled, error) {
	if err := p.usable(); err != nil {
		return nil, err
	}
	list := all.Compilers()
	i := slices.IndexFunc(list, func(c compilers.Compiler) bool { return c.Info.Name == target })
	if i < 0 {
		return nil, question(diag.UnknownTarget, "one of "+strings.Join(Targets(), ", "), "there is no target %s", diag.Quote(target))
	}
	c := list[i]
	if faults := optionFaults(c.Info, set); faults.HasErrors() {
		return nil, &QuestionError{faults}
	}
	in := p.Input(set, "")
	r := in.Resolution
	out := c.Compile(in)
	if err := out.Diagnostics.Err(); err != nil {
		return nil, err
	}
	return &Compiled{Text: out.Text, Coverage: compilers.Cover(c.Info, r, out.Notes), Diagnostics: out.Diagnostics}, nil
}

// Input is what a compiler looks at of the policy. set are options of the target, which it
// is held to already; version stands in what some targets write.
func (p *Policy) Input(set map[string]string, version string) compilers.Input {
	return compilers.Input{Resolution: p.Resolution.Complete(), Set: set, Version: version, Sources: p.savedSources}
}

// optionFaults is what a target does not take.
func optionFaults(info compilers.Info, set map[string]string) diag.List {
	var faults diag.List
	var keys []string
	for _, o := range info.Options {
		keys = append(keys, o.Key)
	}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		i := slices.Index(keys, key)
		switch {
		case i < 0:
			faults.Errorf(diag.BadOption, diag.Span{}, "the target %s has no option %s", info.Name, diag.Quote(key)).Hint = diag.DidYouMean(key, keys)
		case len(info.Options[i].Values) > 0 && !slices.Contains(info.Options[i].Values, set[key]):
			faults.Errorf(diag.BadOption, diag.Span{}, "the option %s of the target %s cannot be %s", key, info.Name, diag.Quote(set[key])).
				Hint = "it takes " + strings.Join(info.Options[i].Values, ", ")
		}
	}
	return faults
}
