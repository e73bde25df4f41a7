package narrow

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strconv"
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
}

// key is the entity that a fact is about.
type key struct{ typ, id string }

type refusedKey struct {
	key
	outcome ratchet.Outcome
	reason  string
}

// need is a class of verbs that one permission covers.
type need uint8

// The needs. Changing implies seeing where the vocabulary says so.
const (
	see    need = iota // read, list, stat, exec of a file
	change             // write
	entry              // create, delete, rename: a name came or went
	opened             // create of what may have been there before: entry where the world does not know it, else change
	use                // call, connect, env, exec of a program, measure
	numNeeds
)

// tally is what is known of one fact.
type tally struct {
	verbs  [numVerbs]int64
	runs   [numNeeds]runSet
	places [maxPlaces]ratchet.Place // the first by file and line
	placed int
	more   *details
}

// details are what only some facts have.
type details struct {
	attrs  map[string]string // host, port, protocol of an endpoint
	dir    bool              // the path was said to be a directory
	levels map[string]int64  // levels that were said of a tool
	calls  map[string]*call  // what was asked of a tool
	silent int64             // calls that say nothing of what was asked
	max    float64           // the largest measure
	unit   string
}

// call is one distinct call of a tool.
type call struct {
	count int64
	runs  runSet
}

const (
	maxPlaces   = 3
	maxCalls    = 2000 // distinct calls of one tool; beyond, calls are counted and not kept
	maxCallText = 4096
	maxRefused  = 10000
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

// needOf is the need that a verb on an entity of a type stands for. existed is the attribute
// of a creation.
func needOf(typ string, v ratchet.Verb, existed string) need {
	if typ == "path" {
		switch v {
		case ratchet.Write:
			return change
		case ratchet.Create:
			if existed == "unknown" {
				return opened
			}
			return entry
		case ratchet.Delete, ratchet.Rename:
			return entry
		}
		return see
	}
	return use
}

func (t *tally) count(o *ratchet.Observation, v, run int) {
	t.verbs[v] += o.Times()
	typ := strings.ToLower(o.Type)
	if typ == "file" || typ == "dir" {
		typ = "path"
	}
	t.runs[needOf(typ, o.Verb, o.Attribute("existed"))].add(run)
	t.place(o.At)
}

// add counts an allowed observation.
func (t *tally) add(o *ratchet.Observation, v, run int) {
	t.count(o, v, run)
	d := func() *details {
		if t.more == nil {
			t.more = &details{}
		}
		return t.more
	}
	if o.Attribute("kind") == "dir" || strings.EqualFold(o.Type, "dir") {
		d().dir = true
	}
	switch o.Verb {
	case ratchet.Call:
		d().called(o, run)
	case ratchet.Measure:
		if n, err := strconv.ParseFloat(o.Attribute("value"), 64); err == nil && n >= 0 {
			if m := d(); n > m.max || m.unit == "" {
				m.max = max(n, m.max)
			}
		}
		if u := o.Attribute("unit"); u != "" {
			d().unit = u
		}
	case ratchet.Connect, ratchet.Bind:
		m := d()
		if m.attrs == nil {
			m.attrs = map[string]string{}
		}
		for _, name := range []string{"host", "port", "protocol", "cidr"} {
			if v := o.Attribute(name); v != "" && (m.attrs[name] == "" || v < m.attrs[name]) {
				m.attrs[name] = v
			}
		}
	}
}

func (d *details) called(o *ratchet.Observation, run int) {
	if level := o.Attribute("level"); level != "" {
		if d.levels == nil {
			d.levels = map[string]int64{}
		}
		if len(d.levels) < 20 || d.levels[level] > 0 {
			d.levels[level] += o.Times()
		}
	}
	text := o.Attribute("call")
	if text == "" {
		text = commandText(o.Attribute("command"))
	}
	if text == "" || len(text) > maxCallText {
		d.silent += o.Times()
		return
	}
	if d.calls == nil {
		d.calls = map[string]*call{}
	}
	c := d.calls[text]
	if c == nil {
		c = &call{}
		d.calls[text] = c
	}
	c.count += o.Times()
	c.runs.add(run)
	if len(d.calls) > maxCalls {
		// The last in order goes, so that which are kept does not depend on the order of arrival.
		last := ""
		for text := range d.calls {
			last = max(last, text)
		}
		d.silent += d.calls[last].count
		delete(d.calls, last)
	}
}

// commandText is the words of a JSON list as one text.
func commandText(list string) string {
	var words []string
	if list == "" || json.Unmarshal([]byte(list), &words) != nil {
		return ""
	}
	return strings.Join(words, " ")
}

// place keeps the first places by file and line.
func (t *tally) place(p ratchet.Place) {
	if p == (ratchet.Place{}) {
		return
	}
	i, found := slices.BinarySearchFunc(t.places[:t.placed], p, comparePlaces)
	if found || i == maxPlaces {
		return
	}
	if t.placed < maxPlaces {
		t.placed++
	}
	copy(t.places[i+1:t.placed], t.places[i:t.placed-1])
	t.places[i] = p
}

func comparePlaces(a, b ratchet.Place) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
}

// merge adds what another tally of the same fact holds.
func (t *tally) merge(o *tally) {
	for i := range t.verbs {
		t.verbs[i] += o.verbs[i]
	}
	for i := range t.runs {
		t.runs[i].join(&o.runs[i])
	}
	for _, p := range o.places[:o.placed] {
		t.place(p)
	}
	if o.more != nil && o.more.dir {
		if t.more == nil {
			t.more = &details{}
		}
		t.more.dir = true
	}
}

func (t *tally) total() int64 {
	var n int64
	for _, v := range t.verbs {
		n += v
	}
	return n
}

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
	for len(c.facts) > c.options.MaxFacts && c.fold < foldGroups {
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
		c.facts = folded
	}
	if len(c.facts) > c.options.MaxFacts {
		c.overflow = int64(len(c.facts))
	}
}

// runSet is a set of run numbers.
type runSet struct {
	low  uint64
	more map[int]bool // those from 64 on
}

func (s *runSet) add(run int) {
	if run >= 0 && run < 64 {
		s.low |= 1 << run
		return
	}
	if s.more == nil {
		s.more = map[int]bool{}
	}
	s.more[run] = true
}

func (s *runSet) join(o *runSet) {
	s.low |= o.low
	for run := range o.more {
		s.add(run)
	}
}
