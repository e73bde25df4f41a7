package narrow

import (
	"slices"
	"strings"

	"umwelt/cascade"
	"umwelt/ratchet"
)

// Collector keeps what is distinct of observations. What it holds grows with the number of
// distinct facts, not with that of observations, and not beyond Options.MaxFacts. It is for
// one goroutine.
type Collector struct {
	options Options
	facts   map[key]*tally
	refused map[refusedKey]*tally
	fold    fold

	seen, strayed, unplaced int64            // observations taken in, of another context, of no use
	kinds                   map[string]int64 // how many of each unusable kind
	runs                    map[int]bool
	overflow                int64
	held                    int // bytes of the names in facts
}

// key is the entity that a fact is about.
type key struct{ typ, id string }

type refusedKey struct {
	key
	outcome ratchet.Outcome
	reason  string
}

const (
	maxPlaces   = 3
	maxCalls    = 2000 // distinct calls of one tool; beyond, calls are counted and not kept
	maxCallText = 4096
	maxRefused  = 10000
	factText    = 256  // bytes of names that a fact may have, on the average
	maxID       = 4096 // as long as a path may be that a call names; beyond, an entity is not kept
)

var verbs = ratchet.Verbs()

const numVerbs = 13

// verbIndex is the place of a verb in verbs, or -1.
func verbIndex(v ratchet.Verb) int { return slices.Index(verbs, v) }

// NewCollector makes one. Of the options, the roots, Context and MaxFacts count.
func NewCollector(o Options) *Collector {
	if o.MaxFacts <= 0 {
		o.MaxFacts = DefaultMaxFacts
	}
	return &Collector{options: o, facts: map[key]*tally{}, refused: map[refusedKey]*tally{}, kinds: map[string]int64{}, runs: map[int]bool{}}
}

// Add takes one observation of a run in. Runs are numbered from 0. It keeps nothing of o but
// its texts.
func (c *Collector) Add(run int, o *ratchet.Observation) {
	c.seen += o.Times()
	c.runs[run] = true
	if c.contradicts(o.Context) {
		c.strayed += o.Times()
		return
	}
	v := verbIndex(o.Verb)
	if v < 0 || o.Type == "" || o.ID == "" {
		c.unusable("a record of no known form", o.Times())
		return
	}
	if len(o.ID) > maxID {
		c.unusable("a name of more than 4096 bytes", o.Times())
		return
	}
	k, outside := c.keyOf(o)
	if o.Outcome != ratchet.Allowed {
		c.refuse(k, o, v, run)
		return
	}
	if outside {
		k = c.fold.key(k)
	}
	t := c.facts[k]
	if t == nil {
		t = &tally{}
		c.facts[k] = t
		c.held += len(k.id)
		defer c.shrink()
	}
	t.add(o, v, run)
}

// keyOf brings the entity of an observation into the form under which it is counted, and
// says whether it is a path outside the project.
func (c *Collector) keyOf(o *ratchet.Observation) (k key, outside bool) {
	k = key{strings.ToLower(o.Type), o.ID}
	switch k.typ {
	case "file", "dir":
		k.id, outside = c.options.relative(o.ID)
		k.typ = "path"
	case "exec":
		if !strings.Contains(o.ID, "/") {
			break // a bare name is looked up, and says nothing of the project
		}
		k.id, outside = c.options.relative(o.ID)
		if !outside {
			k.typ = "path"
		}
	case "env":
		// Whatever stands behind the name is nobody's business.
		k.id, _, _ = strings.Cut(o.ID, "=")
	}
	return k, outside
}

// contradicts reports whether an observation was made in another context than the wanted one.
func (c *Collector) contradicts(of []ratchet.Attribute) bool {
	for _, a := range of {
		named := false
		fits := false
		for _, ref := range c.options.Context {
			if sameType(ref, a.Name) {
				named = true
				fits = fits || ref.ID == a.Value
			}
		}
		if named && !fits {
			return true
		}
	}
	return false
}

func sameType(ref cascade.Ref, name string) bool {
	_, bare, qualified := strings.Cut(ref.Type, "|")
	if !qualified {
		bare = ref.Type
	}
	return strings.EqualFold(bare, name) || strings.EqualFold(ref.Type, name)
}

func (c *Collector) unusable(kind string, n int64) {
	c.unplaced += n
	if len(c.kinds) < 100 || c.kinds[kind] > 0 {
		c.kinds[kind] += n
	}
}

// refuse counts what was denied or failed.
func (c *Collector) refuse(k key, o *ratchet.Observation, v, run int) {
	rk := refusedKey{k, o.Outcome, o.Reason}
	t := c.refused[rk]
	if t == nil {
		if len(c.refused) >= maxRefused {
			rk = refusedKey{key{k.typ, ""}, o.Outcome, ""}
			if t = c.refused[rk]; t == nil {
				t = &tally{}
				c.refused[rk] = t
			}
			t.verbs[v] += o.Times()
			return
		}
		t = &tally{}
		c.refused[rk] = t
	}
	t.count(o, v, run)
}
