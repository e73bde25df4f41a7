package diag

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape makes outside text safe to print on a terminal: control and format characters,
// line and paragraph separators and bytes that are not UTF-8 become \n, \t, \xHH or
// \u{HHHH}. Text without any comes back as it is, so ordinary names stay readable.
func Escape(s string) string {
	clean := true
	for _, r := range s {
		if r == utf8.RuneError || unsafeRune(r) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteString(`\x` + hex(rune(s[i]), 2))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case unsafeRune(r) && r < 0x80:
			b.WriteString(`\x` + hex(r, 2))
		case unsafeRune(r):
			b.WriteString(`\u{` + hex(r, 4) + `}`)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// Quote is Escape between double quotes, with quotes and backslashes escaped.
func Quote(s string) string {
	s = strings.ReplaceAll(s, `\`, `\\`)
	return `"` + Escape(strings.ReplaceAll(s, `"`, `\"`)) + `"`
}

// unsafeRune reports whether r can move the cursor, hide or reorder text.
func unsafeRune(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)
}

func hex(r rune, width int) string {
	h := strconv.FormatInt(int64(r), 16)
	return strings.Repeat("0", max(0, width-len(h))) + h
}
