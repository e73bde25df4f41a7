package umwelt

import (
	"bytes"
	"regexp"
	"strings"
	"sync"

	"umwelt/diag"
	"umwelt/registry"
)

// secrets tells which lines of a text may hold the value of a property that is never
// printed. It goes by words, since the text may be broken, and hides too much where it
// is in doubt.
type secrets struct {
	words func() secretWords
}

type secretWords struct {
	names []string       // of the properties
	word  *regexp.Regexp // a line with one of the properties, or of the types that have them
	opens *regexp.Regexp // text in which one of them is followed by what can hold a value
}

// secretsOf goes by a vocabulary, or by those that ship with the tool where reg is nil.
func secretsOf(reg *registry.Registry) *secrets {
	return &secrets{words: sync.OnceValue(func() secretWords {
		if reg == nil {
			reg, _ = Vocabulary(nil)
		}
		return wordsOf(reg)
	})}
}

func wordsOf(reg *registry.Registry) secretWords {
	var w secretWords
	var all []string
	for _, t := range reg.Types() {
		for _, p := range t.Properties {
			if p.Secret {
				w.names = append(w.names, p.Name)
				all = append(all, regexp.QuoteMeta(p.Name), regexp.QuoteMeta(t.Name))
			}
		}
	}
	if all == nil {
		return w
	}
	const before, setting = `(?i)(?:^|[^\w-])(?:`, `set-[\w-]*["']?\s*:`
	list := strings.Join(all, "|")
	w.word = regexp.MustCompile(before + setting + `|(?:` + list + `)(?:[^\w-]|$))`)
	w.opens = regexp.MustCompile(before + setting + `|(?:` + list + `)["']?(?:[^\w-][^{:]*)?[{:])`)
	return w
}

// The bounds on how much is looked at for one line. What is longer is hidden.
const (
	longestLine  = 16 << 10
	furthestBack = 16 << 10
)

var key = regexp.MustCompile(`([\w-]+)["']?\s*:`)

// hides is the Private of sources.
func (s *secrets) hides(text []byte, from, to int) bool {
	w := s.words()
	switch line := text[from:to]; {
	case w.word == nil:
		return false
	case len(line) > longestLine || w.word.Match(line):
		return true
	default:
		for _, m := range key.FindAllSubmatch(line, -1) {
			if diag.Suggest(string(m[1]), w.names) != "" {
				return true // a slip
			}
		}
	}
	return w.inView(text, from, to) || w.inWorld(text, from)
}

// inView reports whether a line belongs to a rule or declaration that began on an earlier
// line, as texts of views go: since the last brace that closed something.
func (w *secretWords) inView(text []byte, from, to int) bool {
	start := bytes.LastIndexByte(text[:from], '}') + 1
	return from-start > furthestBack || w.opens.Match(text[start:to])
}

// inWorld reports whether a line stands below one of the words, as texts of world files go:
// by indentation.
func (w *secretWords) inWorld(text []byte, from int) bool {
	indent := indentation(text[from:])
	for looked := 0; from > 0 && indent > 0; {
		end := from - 1
		from = bytes.LastIndexByte(text[:end], '\n') + 1
		if looked += end - from + 1; looked > furthestBack {
			return true
		}
		line := text[from:end]
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if n := indentation(line); n < indent {
			if indent = n; w.word.Match(line) {
				return true
			}
		}
	}
	return false
}

func indentation(line []byte) int {
	return len(line) - len(bytes.TrimLeft(line, " "))
}

// keepSecrets makes the sources that the policy was read from hide by its own vocabulary.
// Only sources that this package made are touched.
func (p *Policy) keepSecrets() {
	own := secretsOf(p.Registry).hides
	mark := func(src *diag.Source) {
		if src != nil && src.Private != nil {
			src.Private = own
		}
	}
	for _, v := range p.Views {
		mark(v.Source)
	}
	for _, d := range p.Diagnostics {
		mark(d.Span.Source)
	}
	if p.Bound != nil {
		for _, r := range p.Bound.Rules {
			mark(r.At.Source)
		}
	}
}
