// Package shell writes what outside text holds into scripts for a POSIX shell, so that none
// of it is read as syntax.
package shell

import (
	"strings"
	"unicode/utf8"
)

// Quote is one word, whatever bytes it holds but NUL. What needs no quotes gets none.
func Quote(s string) string {
	plain := s != ""
	for i := 0; i < len(s); i++ {
		if c := s[i]; !letterOrDigit(c) && strings.IndexByte("_-./:=,+@", c) < 0 {
			plain = false
		}
	}
	if plain {
		return s
	}
	return Quoted(s)
}

// Quoted is one word in single quotes, whatever bytes it holds but NUL.
func Quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Comment is text that cannot end a line.
func Comment(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return -1
		}
		return r
	}, s)
}

// IsName reports whether a variable can have that name.
func IsName(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c != '_' && !letterOrDigit(c) || i == 0 && c >= '0' && c <= '9' {
			return false
		}
	}
	return s != ""
}

func letterOrDigit(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
