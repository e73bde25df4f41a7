package world

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Digest is "sha256:" and the hash of the entities in order: taxon, type, id, classes,
// attributes, parent and how far each is known to hold nothing else, and of what is
// withheld. Where an entity came from does not count otherwise, so the same world found
// elsewhere has the same digest.
func (w *World) Digest() string {
	h := sha256.New()
	b := bufio.NewWriterSize(h, 1<<15)
	var scratch [binary.MaxVarintLen64]byte
	count := func(n int) { b.Write(scratch[:binary.PutUvarint(scratch[:], uint64(n))]) }
	put := func(s string) {
		count(len(s)) // lengths first, so that no two worlds spell the same bytes
		b.WriteString(s)
	}
	facts := func(e *Entity) {
		put(e.Type.Taxon.Name)
		put(e.Type.Name)
		put(e.ID)
		count(len(e.Classes))
		for _, c := range e.Classes {
			put(c)
		}
		count(len(e.Attributes))
		for _, a := range e.Attributes {
			put(a.Name)
			put(a.Text)
			count(len(a.List))
			for _, m := range a.List {
				put(m)
			}
		}
	}
	for i := range w.Entities {
		e := &w.Entities[i]
		facts(e)
		flags := 0
		if e.Parent != NoParent {
			flags |= 1
		}
		if e.Listed {
			flags |= 2
		}
		if e.Provenance.Origin == Projected {
			flags |= 4
		}
		count(flags)
		if e.Parent != NoParent {
			put(w.Entities[e.Parent].Type.Name)
			put(w.Entities[e.Parent].ID)
		}
	}
	for i := range w.Withheld {
		put("") // no entity begins so, since every taxon has a name
		facts(&w.Withheld[i])
	}
	b.Flush() // a hash takes every write
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
