package cascade

import (
	"slices"
	"strings"
)

// affixes finds which of many texts a given text begins with (or, backwards, ends with),
// in the time of one binary search plus the number found.
type affixes struct {
	backwards bool
	longest   int       // length of the longest key
	keys      []string  // sorted; backwards where the index is, so that an ending is a beginning
	up        []int32   // the longest other key that keys[i] begins with, or -1
	lists     [][]int32 // what stands under each key
}

// newAffixes builds the index. ids[i] stands under texts[i]; a text may come twice.
func newAffixes(backwards bool, texts []string, ids []int32) *affixes {
	x := &affixes{backwards: backwards}
	if backwards {
		texts = slices.Clone(texts)
		for i, text := range texts {
			texts[i] = string(turned(nil, text, len(text)))
		}
	}
	order := make([]int32, len(texts))
	for i := range order {
		order[i] = int32(i)
		x.longest = max(x.longest, len(texts[i]))
	}
	slices.SortStableFunc(order, func(a, b int32) int { return strings.Compare(texts[a], texts[b]) })
	var open []int32 // keys that the current one may begin with, the longest last
	for _, k := range order {
		text := texts[k]
		if n := len(x.keys); n > 0 && x.keys[n-1] == text {
			x.lists[n-1] = append(x.lists[n-1], ids[k])
			continue
		}
		for len(open) > 0 && !strings.HasPrefix(text, x.keys[open[len(open)-1]]) {
			open = open[:len(open)-1]
		}
		up := int32(-1)
		if len(open) > 0 {
			up = open[len(open)-1]
		}
		open = append(open, int32(len(x.keys)))
		x.keys = append(x.keys, text)
		x.up = append(x.up, up)
		x.lists = append(x.lists, []int32{ids[k]})
	}
	return x
}

// turned appends the last n bytes of text, the last one first.
func turned(out []byte, text string, n int) []byte {
	for i := len(text) - 1; i >= len(text)-n; i-- {
		out = append(out, text[i])
	}
	return out
}

// find appends what stands under every key that text begins with.
func (x *affixes) find(out []int32, text string) []int32 {
	if !x.backwards {
		return x.findIn(out, text, 0, len(x.keys))
	}
	// No more of the end is looked at than the longest key can tell apart.
	var buf [256]byte
	end := turned(buf[:0], text, min(len(text), x.longest+1))
	return x.findIn(out, string(end), 0, len(x.keys))
}

// findIn is find among keys[lo:hi], which must hold every key that begins like text.
func (x *affixes) findIn(out []int32, text string, lo, hi int) []int32 {
	first := int32(lo)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); x.keys[mid] <= text {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	// Every key that text begins with is at or before the last one not above it, and that
	// one begins with the longest of them.
	k := int32(lo - 1)
	for k >= first && !strings.HasPrefix(text, x.keys[k]) {
		k = x.up[k]
	}
	for ; k >= first; k = x.up[k] {
		out = append(out, x.lists[k]...)
	}
	return out
}

// needles finds which of many texts occur anywhere in a given text. Its keys are grouped
// by their first two bytes, so that most places in a text are passed over at once.
type needles struct {
	long   *affixes
	starts []int32          // long.keys[starts[b]:starts[b+1]] begin with the two bytes b; nil where there are few
	short  map[byte][]int32 // of one byte
}

// manyNeedles is from how many keys on the table of starts pays.
const manyNeedles = 64

func newNeedles(texts []string, ids []int32) *needles {
	n := &needles{short: map[byte][]int32{}}
	var longTexts []string
	var longIDs []int32
	for i, text := range texts {
		if len(text) == 1 {
			n.short[text[0]] = append(n.short[text[0]], ids[i])
			continue
		}
		longTexts, longIDs = append(longTexts, text), append(longIDs, ids[i])
	}
	n.long = newAffixes(false, longTexts, longIDs)
	if len(n.long.keys) < manyNeedles {
		return n
	}
	n.starts = make([]int32, 1<<16+1)
	for _, key := range n.long.keys {
		n.starts[int(key[0])<<8+int(key[1])+1]++
	}
	for i := 1; i < len(n.starts); i++ {
		n.starts[i] += n.starts[i-1]
	}
	return n
}

// find appends what stands under every key that occurs in text; a key that occurs twice
// may be appended twice.
func (n *needles) find(out []int32, text string) []int32 {
	for i := 0; i+1 < len(text); i++ {
		if n.starts == nil {
			out = n.long.find(out, text[i:])
			continue
		}
		b := int(text[i])<<8 + int(text[i+1])
		if lo, hi := n.starts[b], n.starts[b+1]; lo < hi {
			out = n.long.findIn(out, text[i:], int(lo), int(hi))
		}
	}
	if len(n.short) > 0 {
		for i := 0; i < len(text); i++ {
			out = append(out, n.short[text[i]]...)
		}
	}
	return out
}
