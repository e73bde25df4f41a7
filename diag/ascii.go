package diag

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendASCII adds JSON text to dst with everything escaped that is not printable ASCII, so
// that nothing in it moves a terminal's cursor or reorders what stands around it. In JSON
// such characters stand only in strings, so its meaning stays.
func AppendASCII(dst, json []byte) []byte {
	for i := 0; i < len(json); {
		if c := json[i]; c < utf8.RuneSelf && c != 0x7f {
			dst = append(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRune(json[i:])
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			dst = fmt.Appendf(dst, `\u%04x\u%04x`, high, low)
		} else {
			dst = fmt.Appendf(dst, `\u%04x`, r)
		}
		i += n
	}
	return dst
}
