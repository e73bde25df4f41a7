package vfs

import (
	"errors"
	"fmt"
	"strings"

	"umwelt/simulation/roster"
)

// forms are the normalizations a view can ask for: the parameters in the order that a view
// gives them. A range always ends in the word "clip", since what agents are shown is
// bounded.
var forms = []struct {
	kind   string
	params []string
	clip   bool
}{
	{"minmax", []string{"min", "max"}, true},
	{"log_scaled", []string{"min", "max"}, true},
	{"cyclical_sin_cos", []string{"period"}, false},
	{"binary", []string{"threshold"}, false},
}

// normalization reads a view's value, such as "minmax 0 1 clip". An empty value is no
// normalization.
func normalization(value []string) (*roster.Normalization, error) {
	words := strings.Fields(strings.Join(value, " "))
	if len(words) == 0 {
		return nil, nil
	}
	var spellings []string
	for _, f := range forms {
		spelling := f.kind + " " + strings.ToUpper(strings.Join(f.params, " "))
		if f.clip {
			spelling += " clip"
		}
		spellings = append(spellings, spelling)
		if f.kind != words[0] {
			continue
		}
		rest := words[1:]
		if f.clip {
			if len(rest) == 0 || rest[len(rest)-1] != "clip" {
				return nil, fmt.Errorf("it is written %q: what agents are shown has to be clipped to its range", spelling)
			}
			rest = rest[:len(rest)-1]
		}
		if len(rest) != len(f.params) {
			return nil, fmt.Errorf("it is written %q", spelling)
		}
		n := &roster.Normalization{Kind: f.kind}
		for i, name := range f.params {
			l, err := roster.ParseLiteral(rest[i])
			if _, number := l.Number(); err != nil || !number {
				return nil, fmt.Errorf("%s is a number", name)
			}
			n.Params = append(n.Params, roster.Param{Name: name, Value: l})
		}
		if f.clip {
			n.Params = append(n.Params, roster.Param{Name: "clip", Value: roster.Literal{Kind: roster.Bool, Bool: true}})
		}
		return n, nil
	}
	return nil, errors.New("it is written " + strings.Join(spellings, ", or "))
}
