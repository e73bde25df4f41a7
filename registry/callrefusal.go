package registry

import (
	"slices"
	"strings"
)

// looseText is a call as patterns that refuse see it: where commands in it begin and end.
type looseText struct {
	text    string
	starts  []int32 // in order, of the text itself first
	ends    []int32 // in order, of the text itself last
	unclear bool
}

// Refuses reports whether the pattern, as one that refuses, fits the call or something that
// the call may run. "*" spans anything. The text that fits begins where the call or some
// command in it does, and ends where one does. The case of letters, quotes and runs of
// blanks make no difference, and a blank and "*" at the end also fit nothing at all.
//
// A program that others run, such as the one that an assignment stands before, also
// begins a command, and a program's path fits as its last part does.
//
// It is loose, and no parser: it refuses too much rather than too little, and yet what a
// shell only works out when it runs is not seen. See Unclear.
func (p CallPattern) Refuses(c *Call) bool {
	if slices.ContainsFunc(p.loose, func(literals []string) bool { return c.plain.fits(literals) }) {
		return true
	}
	return slices.ContainsFunc(p.loose, func(literals []string) bool {
		literals, ok := bareLiterals(literals)
		return ok && c.bare.fits(literals)
	})
}

// Unclear reports whether only a shell that runs the call can tell which program some
// command in it is, as with "$X -rf /", or that it is longer than MaxCall. No pattern that
// refuses can then be said not to fit.
func (c *Call) Unclear() bool { return c.unclear }

// TooLong reports whether the call is longer than MaxCall.
func (c *Call) TooLong() bool { return c.tooLong }

func (t *looseText) fits(literals []string) bool {
	return fitsWithin(t.text, literals, t.starts, t.ends)
}

// fitsWithin reports whether literals with anything between them are a part of the text that
// begins at one of the starts and ends at one of the ends, each in order.
func fitsWithin(text string, literals []string, starts, ends []int32) bool {
	last := len(literals) - 1
	isEnd := func(i int) bool { _, ok := slices.BinarySearch(ends, int32(i)); return ok }
	for _, start := range starts {
		at := int(start)
		if !strings.HasPrefix(text[at:], literals[0]) {
			continue
		}
		if at += len(literals[0]); last == 0 {
			if isEnd(at) {
				return true
			}
			continue
		}
		// The first start that fits leaves most room for what follows.
		for _, literal := range literals[1:last] {
			i := strings.Index(text[at:], literal)
			if i < 0 {
				return false
			}
			at += i + len(literal)
		}
		for i := len(ends) - 1; i >= 0; i-- {
			end := int(ends[i])
			if end-len(literals[last]) < at {
				return false
			}
			if strings.HasSuffix(text[:end], literals[last]) {
				return true
			}
		}
		return false
	}
	return false
}

// looseLiterals are the forms of a pattern that refuses: as it is, and where it ends in a
// blank and a star also without them.
func looseLiterals(literals []string) [][]string {
	folded := make([]string, len(literals))
	for i, literal := range literals {
		folded[i] = foldCase(literal)
	}
	out := [][]string{folded}
	if last := len(folded) - 1; last > 0 && folded[last] == "" && strings.HasSuffix(folded[last-1], " ") {
		short := slices.Clone(folded[:last])
		if short[last-1] = strings.TrimRight(short[last-1], " "); last > 1 || short[0] != "" {
			out = append(out, short)
		}
	}
	return out
}

// bareLiterals are literals without quotes and doubled blanks. ok is false where nothing
// else was in them: the pattern would then fit everything.
func bareLiterals(literals []string) (out []string, ok bool) {
	for _, literal := range literals {
		bare := collapse(unquote(literal))
		ok = ok || strings.TrimSpace(bare) != ""
		out = append(out, bare)
	}
	return out, ok
}

// foldCase makes letters that differ only in case the same, and tabs blanks.
func foldCase(text string) string { return strings.ReplaceAll(strings.ToLower(text), "\t", " ") }

var quotes = strings.NewReplacer("\\\n", "", "\\\r\n", "", `\`, "", `"`, "", `'`, "")

// unquote takes out what quotes and joins lines.
func unquote(text string) string { return quotes.Replace(text) }

// collapse makes one blank of several.
func collapse(text string) string {
	if !strings.Contains(text, "  ") {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != ' ' || i == 0 || text[i-1] != ' ' {
			out = append(out, text[i])
		}
	}
	return string(out)
}

// runners are words that a command may begin with before the program that it is about:
// programs that run others, and a shell's own words.
var runners = strings.Fields(`env sudo doas su command builtin eval exec nohup time timeout nice ionice chrt taskset stdbuf setsid
	setpriv unshare chroot xargs parallel find watch entr flock script strace ltrace gdb sh bash dash zsh ksh fish ash busybox ssh
	if then elif else while until do for coproc function trap !`)

// readLoose finds where commands begin and end. After a word that others follow, each
// further word may be a program.
func readLoose(text string) looseText {
	t := looseText{text: text, starts: []int32{0}}
	start := func(i int) {
		if i > 0 {
			t.starts = append(t.starts, int32(i))
		}
	}
	first, open := true, false // the next word is a program's; it may be one
	program := true            // it is no more than one: not what is left behind a redirection or a substitution
	ticks := 0
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case parts(c):
			t.end(i)
			if c == '`' {
				if ticks++; ticks%2 == 1 && program && first && (i == 0 || text[i-1] == ' ' || parts(text[i-1])) {
					t.unclear = true
				}
			}
			program = begins(text, i, ticks)
			// Where no program stands before a redirection, one may stand behind its name.
			open = redirects(text, i) && (first || open)
			first = true
			i++
			continue
		case c == ' ':
			i++
			continue
		}
		if c == '#' && (i == 0 || text[i-1] == ' ' || parts(text[i-1])) {
			t.end(i)
		}
		from := i
		for i < len(text) && text[i] != ' ' && !parts(text[i]) {
			i++
		}
		if !first && !open {
			continue
		}
		start(from)
		name := from + strings.LastIndexByte(text[from:i], '/') + 1
		if name > from {
			start(name)
		}
		if !first {
			continue
		}
		word := text[name:i]
		if i < len(text) && (text[i] == '<' || text[i] == '>') && strings.Trim(word, "0123456789") == "" {
			continue // the number of a redirection
		}
		switch assigned, _, is := strings.Cut(text[from:i], "="); {
		case is && assigns(assigned), slices.Contains(runners, strings.Trim(word, `"'\`)):
			open = true
		case open && (word == "" || word[0] == '-' || word[0] >= '0' && word[0] <= '9'):
		default:
			first = false
			if program && expands(word, i < len(text) && (text[i] == '(' || text[i] == '{')) {
				t.unclear = true
			}
		}
	}
	t.end(len(text))
	return t
}

// parts reports whether a letter stands between commands, or between one and what it reads
// and writes.
func parts(c byte) bool { return c < ' ' || c == 0x7f || strings.IndexByte(";&|`<>(){}", c) >= 0 }

// redirects reports whether what parts commands at i belongs to a redirection.
func redirects(text string, i int) bool {
	c := text[i]
	return c == '<' || c == '>' || c == '&' && i > 0 && (text[i-1] == '<' || text[i-1] == '>')
}

// begins reports whether a program surely stands behind what parts commands at i. Behind a
// redirection stands a name, and behind a substitution the rest of a command. ticks counts
// the backticks up to there.
func begins(text string, i, ticks int) bool {
	switch text[i] {
	case ')', '}', '<', '>':
		return false
	case '{':
		return i == 0 || text[i-1] != '$'
	case '`':
		return ticks%2 == 1
	case '&':
		return !redirects(text, i)
	}
	return true
}

// end notes that a command ends before i, and before the blanks and the number of a
// redirection that stand there.
func (t *looseText) end(i int) {
	at := []int32{int32(i)}
	j := i
	if i < len(t.text) && (t.text[i] == '<' || t.text[i] == '>') {
		for j > 0 && t.text[j-1] >= '0' && t.text[j-1] <= '9' {
			j--
		}
		if j < i && j > 0 && t.text[j-1] == ' ' {
			at = append(at, int32(j))
		} else {
			j = i
		}
	}
	for k := j; k > 0 && t.text[k-1] == ' '; k-- {
		at = append(at, int32(k-1))
	}
	for _, end := range slices.Backward(at) {
		if n := len(t.ends); n == 0 || t.ends[n-1] < end {
			t.ends = append(t.ends, end)
		}
	}
}

// assigns reports whether what stands before "=" makes the word an assignment.
func assigns(name string) bool {
	name = strings.TrimSuffix(name, "+")
	if k := strings.IndexByte(name, '['); k > 0 {
		name = name[:k]
	}
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	return strings.IndexFunc(name, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9') }) < 0
}

// expands reports whether a shell puts something else in a word's place. opens says that a
// parenthesis or brace stands right behind it.
func expands(word string, opens bool) bool {
	for i := 0; i < len(word); i++ {
		if word[i] != '$' {
			continue
		}
		if i+1 == len(word) {
			return opens
		}
		if c := word[i+1]; c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("_{@*!#?-$", c) >= 0 {
			return true
		}
	}
	return false
}
