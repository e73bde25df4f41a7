// Package delegate tells the actor its bounds: it writes a fragment of a prompt, in plain
// sentences made of the descriptions that the vocabulary registers.
package delegate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"umwelt/cascade"
	"umwelt/compilers"
	"umwelt/diag"
	"umwelt/registry"
)

// Info declares the target.
var Info = compilers.Info{
	Name:        "delegate-context",
	Description: "Fragment of a prompt that tells the actor its bounds",
	Altitude:    registry.Conversational,
	Locality:    "local",
	Model:       "sync",
	Format:      "Markdown",
	Options: []compilers.Option{{
		Key: "max-tokens", Default: "2000",
		Description: "how long the fragment may be, in tokens counted on the safe side; the least is 200",
	}},
	Support: map[string]compilers.Support{"*": {Level: compilers.Requested, Why: "the actor is told, and nothing holds it to what it is told"}},
}

// Compiler is the target "delegate-context".
var Compiler = compilers.Compiler{Info: Info, Compile: compile}

const leastTokens = 200

func compile(in compilers.Input) compilers.Output {
	var out compilers.Output
	text := in.Option(Info, "max-tokens")
	most, err := strconv.Atoi(text)
	if err != nil || most < leastTokens {
		out.Diagnostics.Errorf(diag.BadOption, diag.Span{}, "max-tokens is a whole number from %d, not %s", leastTokens, diag.Quote(text))
		return out
	}
	f := Write(in.Resolution, most)
	out.Text = []byte(f.Text)
	for _, p := range f.Left {
		out.Notes = append(out.Notes, notes(in.Resolution, p, compilers.Dropped, "length: it is left out for want of room")...)
	}
	for _, p := range f.Cut {
		out.Notes = append(out.Notes, notes(in.Resolution, p, compilers.Partial, "length: not everything that it holds for is named")...)
	}
	if len(f.Left)+len(f.Cut) > 0 {
		out.Notes = append(out.Notes, compilers.Note{Level: compilers.Partial, Why: fmt.Sprintf("of the bounds, %d are left out and %d shortened to fit into %d tokens", len(f.Left), len(f.Cut), most)})
	}
	return out
}

// notes lower what every declaration of a property is carried at.
func notes(r *cascade.Resolution, p *registry.Property, level compilers.Level, why string) []compilers.Note {
	var out []compilers.Note
	for _, rule := range r.Bound().Rules {
		for _, d := range rule.Declarations {
			if slices.ContainsFunc(d.Typed, func(t registry.TypedValue) bool { return t.Property == p }) {
				out = append(out, compilers.Note{Rule: rule, Declaration: d, Level: level, Why: why})
			}
		}
	}
	return out
}

// Fragment is the text with what it had no room for.
type Fragment struct {
	Text string
	Left []*registry.Property // not in it
	Cut  []*registry.Property // in it, but not with everything that they hold for
}

// fewPhrases is how many phrases of each value a statement keeps that is too long.
const fewPhrases = 8

// Write writes the statements of a resolution, as many as fit into so many tokens. What a
// rule restricts comes before what is refused anyhow, and that before what has no direction.
func Write(r *cascade.Resolution, tokens int) Fragment {
	statements := Statements(r)
	var out Fragment
	begin, end := head(r), cutNote(len(statements))
	room := tokens - Tokens(begin) - Tokens(end)
	lines := make([]string, len(statements))
	titled := map[*registry.EntityType]bool{}
	for rank := range 3 {
		for i := range statements {
			s := &statements[i]
			if s.rank() != rank {
				continue
			}
			t := s.Property.Entity
			more := 0
			if !titled[t] {
				more = Tokens(title(t))
			}
			line, cut := s.text(0)
			if more+Tokens(line) > room {
				line, cut = s.text(fewPhrases)
			}
			if more+Tokens(line) > room {
				out.Left = append(out.Left, s.Property)
				continue
			}
			if cut {
				out.Cut = append(out.Cut, s.Property)
			}
			room -= more + Tokens(line)
			titled[t] = true
			lines[i] = line
		}
	}
	var b strings.Builder
	b.WriteString(begin)
	var last *registry.EntityType
	for i, line := range lines {
		if t := statements[i].Property.Entity; line != "" && t != last {
			b.WriteString(title(t))
			last = t
		}
		b.WriteString(line)
	}
	if n := len(out.Left) + len(out.Cut); n > 0 {
		b.WriteString(cutNote(n))
	}
	out.Text = b.String()
	return out
}

func cutNote(n int) string {
	return fmt.Sprintf("\nThis is not all: %d of the bounds are left out or shortened for want of room. What is not allowed here may be refused.\n", n)
}

// rank orders statements by how much it matters that they are said.
func (s *Statement) rank() int {
	switch {
	case s.Property.Restrictive == registry.NoDirection:
		return 2
	case s.Decided:
		return 0
	}
	return 1
}

// Tokens is about how many tokens a model reads the text as, and rather too many: a word
// counts as one for every four letters begun, and every other sign as one of its own, those
// outside ASCII as one for every byte.
func Tokens(text string) int {
	n, word := 0, 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
			if word%4 == 0 {
				n++
			}
			word++
			continue
		case c != ' ':
			n++
		}
		word = 0
	}
	return n
}
