package narrow

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"umwelt/ast"
	"umwelt/registry"
)

// The ladder over the words of a command: the call itself, then the words that several calls
// begin with and "*" for the rest. A "*" is taken only where two distinct calls share the
// words, and never for what could run another command: the engine lets no "*" span what parts
// commands. Programs that run what they are given, or reach or fetch what they are told, are
// in programs.go; those are not generalized there.

// callRung is one pattern for calls, with the calls that it is for.
type callRung struct {
	pattern string
	step    Step
	covers  []string
}

// callLadder is the patterns that admit the calls, in order.
func callLadder(o *Options, calls []string) []callRung {
	type family struct{ key string }
	groups := map[family][]string{}
	if o.takes(Pattern) {
		for _, c := range calls {
			if key := firstWords(c); key != "" {
				groups[family{key}] = append(groups[family{key}], c)
			}
		}
	}
	var out []callRung
	for _, c := range calls {
		key := firstWords(c)
		g := groups[family{key}]
		switch {
		case key == "" || len(g) < 2:
			out = append(out, callRung{escapePattern(c), Exact, []string{c}})
		case g[0] == c:
			out = append(out, callRung{escapePattern(sharedWords(key, g)) + " *", Pattern, g})
		}
	}
	slices.SortFunc(out, func(a, b callRung) int { return cmp.Compare(a.pattern, b.pattern) })
	return out
}

// firstWords is the words of a call behind which "*" may stand, "" where none may.
func firstWords(call string) string {
	words := strings.Fields(call)
	if len(words) < 2 || strings.Join(words, " ") != call || !registry.OneCommand(call) || !plainArgument(words[0]) {
		return ""
	}
	n := fixedWords(words)
	if n == 0 || len(words) <= n {
		return ""
	}
	for _, w := range words[1:n] {
		if w != "-m" && (!plainArgument(w) || w[0] == '-') {
			return ""
		}
	}
	return strings.Join(words[:n], " ")
}

// sharedWords is key and the plain words that all the calls have behind it, so that "*" stands
// for no more than what tells them apart. Each call has a word beyond.
func sharedWords(key string, calls []string) string {
	n := strings.Count(key, " ") + 1
	first := strings.Fields(calls[0])
	for ; n+1 < len(first) && plainArgument(first[n]); n++ {
		for _, c := range calls {
			if words := strings.Fields(c); n+1 >= len(words) || words[n] != first[n] {
				return strings.Join(first[:n], " ")
			}
		}
	}
	return strings.Join(first[:n], " ")
}

// subcommand reports whether a word looks like the name of what a program is to do.
func subcommand(w string) bool {
	for i := 0; i < len(w); i++ {
		if c := w[i]; !(c >= 'a' && c <= 'z' || i > 0 && (c == '-' || c >= '0' && c <= '9')) {
			return false
		}
	}
	return w != ""
}

// plainArgument reports whether a shell reads nothing into a word.
func plainArgument(w string) bool {
	for i := 0; i < len(w); i++ {
		if c := w[i]; !(wordByte(c) || strings.IndexByte("-_./+,:@%", c) >= 0) {
			return false
		}
	}
	return w != ""
}

// escapePattern is the pattern that admits a text alone.
func escapePattern(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`).Replace(s)
}

// patternList is the value of a list of patterns.
func patternList(rungs []callRung) string {
	texts := make([]string, len(rungs))
	for i, r := range rungs {
		texts[i] = ast.FormatString(r.pattern)
	}
	return strings.Join(texts, ", ")
}

// sayableCall reports whether a view can hold a call.
func sayableCall(c string) bool { return utf8.ValidString(c) && !strings.ContainsRune(c, 0) }
