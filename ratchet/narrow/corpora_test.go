package narrow

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"umwelt/ratchet"
	"umwelt/ratchet/sources/claude"
	"umwelt/ratchet/sources/strace"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// corpus is one recorded task: what its project had, and runs of it.
type corpus struct {
	name, dir string
	in        Input
}

func openCorpus(t *testing.T, name string) corpus {
	t.Helper()
	c := corpus{name: name, dir: "../testdata/corpora/" + name}
	text, err := os.ReadFile(c.dir + "/known.txt")
	if err != nil {
		t.Fatal(err)
	}
	c.in.World = loadWorld(t, snapshot(strings.Split(strings.TrimSpace(string(text)), "\n"))+"require: [coding-agent]\n")
	c.in.Options = Options{Root: "/home/ada/" + name, Headroom: DefaultHeadroom}
	return c
}

// collect reads the runs whose files begin with a word.
func (c *corpus) collect(t *testing.T, word string) *Collector {
	t.Helper()
	files, err := filepath.Glob(c.dir + "/" + word + "-*")
	if err != nil || files == nil {
		t.Fatalf("%v: no %s", err, word)
	}
	out := NewCollector(c.in.Options)
	read := strace.Read
	if c.name == "agent" {
		read = claude.Source.Read
	}
	for run, f := range files {
		tally, err := read(ratchet.Input{Name: f, Dir: c.in.Root}, func(o ratchet.Observation) error {
			out.Add(run, &o)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		c.in.Sources = append(c.in.Sources, SourceTally{Source: filepath.Base(f), Run: run, Tally: tally})
	}
	return out
}

// The proposals for the shipped corpora, with what they give runs of the same task that they
// were not made of, and what they leave open that no run needed.
func TestCorpora(t *testing.T) {
	var shares strings.Builder
	for _, name := range []string{"agent", "build", "git", "test-run"} {
		c := openCorpus(t, name)
		runs := c.collect(t, "run")
		p, err := Propose(c.in, runs)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		golden(t, "testdata/"+name+".umw", p.Text)
		allowed, all, open, never, denied := c.share(t, p, runs)
		fmt.Fprintf(&shares, "%s: %d of %d accesses of held-out runs are allowed; %d of %d files that no run needed are open\n", name, allowed, all, open, never)
		for _, what := range denied {
			fmt.Fprintf(&shares, "  not allowed: %s\n", what)
		}
	}
	golden(t, "testdata/shares.txt", []byte(shares.String()))
}

// share counts what a proposal allows of the held-out runs, and of what nobody needed.
func (c *corpus) share(t *testing.T, p *Proposal, runs *Collector) (allowed, all, open, never int, denied []string) {
	in := c.in
	var err error
	if in.World, _, err = given(in.World, runs); err != nil { // what the head of the proposal asks for
		t.Fatal(err)
	}
	k := knownOf(in.World)
	held := c.collect(t, "held-out")
	reqs := requirements(&in, k, held.material(&in.Options, k), &Report{})
	v, err := parse("p.umw", p.Text)
	if err != nil {
		t.Fatal(err)
	}
	b, err := in.bind(v)
	if err != nil {
		t.Fatal(err)
	}
	w, err := settle(in.World, b.Pins())
	if err != nil {
		t.Fatal(err)
	}
	trial, err := in.resolve(v, b, w, knownOf(w))
	if err != nil {
		t.Fatal(err)
	}
	needed := map[string]bool{}
	for _, r := range append(reqs, requirements(&in, k, runs.material(&in.Options, k), &Report{})...) {
		needed[r.id] = true
	}
	for _, r := range reqs {
		if r.kind != newNames {
			all++
			if trial.meets(r).ok {
				allowed++
			} else {
				denied = append(denied, r.typ+" "+r.id)
			}
		}
	}
	for _, f := range k.files {
		if !needed[f] {
			never++
			if trial.meets(&requirement{kind: seeFile, id: f}).ok {
				open++
			}
		}
	}
	return allowed, all, open, never, denied
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got):\n%s", path, d)
	}
}
