package world

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Digest is "sha256:" and the hash of the entities in order: taxon, type, id, classes,
// attributes and parent of each. Where an entity came from does not count, so the same
// world found elsewhere has the same digest.
func (w *World) Digest() string {
	h := sha256.New()
	b := bufio.NewWriterSize(h, 1<<15)
	var scratch [binary.MaxVarintLen64]byte
	count := func(n int) { b.Write(scratch[:binary.PutUvarint(scratch[:], uint64(n))]) }
	put := func(s string) {
		count(len(s)) // lengths first, so that no two worlds spell the same bytes
		b.WriteString(s)
	}
	for i := range w.Entities {
		e := &w.Entities[i]
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
		if e.Parent == NoParent {
			count(0)
			continue
		}
		count(1)
		put(w.Entities[e.Parent].Type.Name)
		put(w.Entities[e.Parent].ID)
	}
	b.Flush() // a hash takes every write
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
