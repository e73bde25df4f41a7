// Package simulation holds the second vocabulary: the state of a simulated society, and
// who of its roles may read, write and be shown each part of it. The vocabulary is plain
// data with no privilege over one that a user writes; packages below this one read and
// write the roster that a resolved policy becomes.
package simulation

import (
	_ "embed"

	"umwelt/diag"
)

//go:embed vocabulary.umw
var text []byte

// Vocabulary is the embedded vocabulary file, to be parsed and loaded like any other. The
// text must not be changed.
func Vocabulary() *diag.Source {
	return &diag.Source{Name: "simulation/vocabulary.umw", Text: text}
}
