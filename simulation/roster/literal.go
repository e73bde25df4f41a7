package roster

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// LiteralKind is the kind of a literal.
type LiteralKind uint8

// The kinds of literal.
const (
	Null LiteralKind = iota
	Bool
	Int
	Float
	List
)

func (k LiteralKind) String() string {
	return [...]string{"null", "a boolean", "an integer", "a number", "a list"}[k]
}

// Literal is an initial value or a parameter. The field that Kind names holds it.
type Literal struct {
	Kind  LiteralKind
	Bool  bool
	Int   int64
	Float float64 // may be infinite or not a number; Validate refuses it then
	List  []Literal
}

// String is the literal as the writer writes it.
func (l Literal) String() string { return string(appendLiteral(nil, l)) }

// Number is the literal as a number; ok is false for what is not a finite number. A
// boolean is no number.
func (l Literal) Number() (n float64, ok bool) {
	switch l.Kind {
	case Int:
		return float64(l.Int), true
	case Float:
		return l.Float, !math.IsInf(l.Float, 0) && !math.IsNaN(l.Float)
	}
	return 0, false
}

// Whole reports whether the literal is a finite number without a fraction. 2.0 is whole.
func (l Literal) Whole() bool {
	n, ok := l.Number()
	return ok && n == math.Trunc(n)
}

// maxDepth bounds the nesting of lists, which is also the highest rank of a tensor literal.
const maxDepth = 64

var (
	intForm   = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
	floatForm = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
)

// ParseLiteral reads "null", "true", "false", a decimal number, or a list of literals in
// brackets with commas between them ("[0, 1]", "[[1, 0], [0, 1]]"). Nothing else is a
// literal: no quotes, no hexadecimal, no underscores, no leading plus or zero, no infinity.
func ParseLiteral(text string) (Literal, error) {
	p := literalParser{rest: text}
	l, err := p.value(0)
	if err != nil {
		return Literal{}, err
	}
	if p.space(); p.rest != "" {
		return Literal{}, errors.New("more text follows the value")
	}
	return l, nil
}

type literalParser struct{ rest string }

func (p *literalParser) space() { p.rest = strings.TrimLeft(p.rest, " \t\r\n") }

func (p *literalParser) take(c string) bool {
	rest, ok := strings.CutPrefix(p.rest, c)
	p.rest = rest
	return ok
}

func (p *literalParser) value(depth int) (Literal, error) {
	if depth > maxDepth {
		return Literal{}, errors.New("lists are nested too deep")
	}
	p.space()
	if !p.take("[") {
		end := strings.IndexAny(p.rest, ",[] \t\r\n")
		if end < 0 {
			end = len(p.rest)
		}
		word := p.rest[:end]
		p.rest = p.rest[end:]
		return parseScalar(word)
	}
	list := Literal{Kind: List, List: []Literal{}}
	if p.space(); p.take("]") {
		return list, nil
	}
	for {
		member, err := p.value(depth + 1)
		if err != nil {
			return Literal{}, err
		}
		list.List = append(list.List, member)
		p.space()
		switch {
		case p.take("]"):
			return list, nil
		case !p.take(","):
			return Literal{}, errors.New("a list needs commas between its members and a closing bracket")
		}
	}
}

func parseScalar(word string) (Literal, error) {
	switch {
	case word == "":
		return Literal{}, errors.New("a value is missing")
	case word == "null":
		return Literal{Kind: Null}, nil
	case word == "true" || word == "false":
		return Literal{Kind: Bool, Bool: word == "true"}, nil
	case intForm.MatchString(word):
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return Literal{}, errors.New("the integer does not fit in 64 bits")
		}
		return Literal{Kind: Int, Int: n}, nil
	case floatForm.MatchString(word):
		f, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return Literal{}, errors.New("the number is too large")
		}
		return Literal{Kind: Float, Float: f}, nil
	}
	return Literal{}, errors.New("not null, true, false, a decimal number or a list of these")
}

// appendLiteral writes a literal so that every YAML reader, of version 1.1 and 1.2 alike,
// reads the same value back.
func appendLiteral(b []byte, l Literal) []byte {
	switch l.Kind {
	case Bool:
		return strconv.AppendBool(b, l.Bool)
	case Int:
		return strconv.AppendInt(b, l.Int, 10)
	case Float:
		return append(b, formatFloat(l.Float)...)
	case List:
		b = append(b, '[')
		for i, m := range l.List {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendLiteral(b, m)
		}
		return append(b, ']')
	}
	return append(b, "null"...)
}

// formatFloat is the shortest text that reads back as f, always with a point, and with a
// signed exponent: readers of YAML 1.1 take "1e3" for text.
func formatFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return ".nan"
	case math.IsInf(f, 1):
		return ".inf"
	case math.IsInf(f, -1):
		return "-.inf"
	}
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		format = 'e'
	}
	s := strconv.FormatFloat(f, format, -1, 64)
	if strings.Contains(s, ".") {
		return s
	}
	if mantissa, exponent, ok := strings.Cut(s, "e"); ok {
		return mantissa + ".0e" + exponent
	}
	return s + ".0"
}
