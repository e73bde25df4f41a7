package narrow

import (
	"path"
	"strings"
)

// fold says how far paths outside the project are put together, so that they do not fill
// the memory.
type fold uint8

// The folds.
const (
	foldNothing fold = iota
	foldDirectories
	foldGroups
)

func (f fold) key(k key) key {
	switch f {
	case foldDirectories:
		k.id = path.Dir(k.id)
	case foldGroups:
		k.id = "/" + string(groupOf(k.id))
	}
	return k
}

// shrink folds paths outside the project where there are too many facts. Which fold is
// reached depends on what was observed and not on its order: a fold is left when even
// its own number of facts is too large, and that only grows.
func (c *Collector) shrink() {
	for c.full() && c.fold < foldGroups {
		c.fold++
		folded := make(map[key]*tally, len(c.facts)/2)
		for k, t := range c.facts {
			if strings.HasPrefix(k.id, "/") && (k.typ == "path" || k.typ == "exec") {
				k = c.fold.key(k)
			}
			if have := folded[k]; have != nil {
				have.merge(t)
			} else {
				folded[k] = t
			}
		}
		c.facts, c.held = folded, 0
		for k := range folded {
			c.held += len(k.id)
		}
	}
	if c.full() {
		c.overflow = int64(len(c.facts))
	}
}

// full is whether there are too many facts, or their names too long.
func (c *Collector) full() bool {
	return len(c.facts) > c.options.MaxFacts || c.held > c.options.MaxFacts*factText
}
