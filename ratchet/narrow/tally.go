package narrow

import (
	"cmp"
	"encoding/json"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"umwelt/ratchet"
)

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
	attrs    map[string]string // host, port, protocol of an endpoint
	dir      bool              // the path was said to be a directory
	levels   map[string]int64  // levels that were said of a tool
	calls    map[string]*call  // what was asked of a tool
	silent   int64             // calls that say nothing of what was asked
	max      float64           // the largest measure, where one was measured
	measured bool
	resident bool // memory was measured, and of the largest process only
}

// call is one distinct call of a tool.
type call struct {
	count int64
	runs  runSet
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
		if o.Attribute("of") == "resident" {
			d().resident = true
			return
		}
		if n, err := strconv.ParseFloat(o.Attribute("value"), 64); err == nil && n >= 0 {
			d().max = max(n, d().max)
			d().measured = true
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

func (s *runSet) len() int { return bits.OnesCount64(s.low) + len(s.more) }
