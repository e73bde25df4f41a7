package narrow

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"umwelt/ratchet"
)

// project is the paths of a project of n files: modules of a hundred, each with sources,
// tests, documents and build output.
func project(n int) []string {
	var out []string
	for i := range n {
		m := i / 100
		switch i % 10 {
		case 0:
			out = append(out, fmt.Sprintf("mod%03d/doc/page%02d.md", m, i%100))
		case 1:
			out = append(out, fmt.Sprintf("mod%03d/test/case_%02d_test.go", m, i%100))
		case 2:
			out = append(out, fmt.Sprintf("mod%03d/out/obj-%07x.o", m, 0xa00000b+i*7919))
		default:
			out = append(out, fmt.Sprintf("mod%03d/src/part%d/file%02d.go", m, i%3, i%100))
		}
	}
	return out
}

// stream makes the i-th observation of a run over a project: sources and tests are read,
// objects are written, and half of the documents are never touched.
func stream(paths []string, i int, o *ratchet.Observation) {
	p := paths[i%len(paths)]
	*o = ratchet.Observation{Type: "file", ID: "/project/" + p, Verb: ratchet.Read, Outcome: ratchet.Allowed, At: ratchet.Place{File: "run.log", Line: int64(i + 1)}}
	switch {
	case strings.HasSuffix(p, ".o"):
		o.Verb = ratchet.Write
	case strings.HasSuffix(p, ".md") && i%len(paths)%20 == 0:
		o.ID, o.Verb = "/usr/lib/lib"+fmt.Sprint(i%300)+".so", ratchet.Stat
	}
}

func benchWorld(b tb, paths []string) Input {
	return Input{World: loadWorld(b, snapshot(paths)), Options: Options{Root: "/project", Headroom: DefaultHeadroom}}
}

// BenchmarkNarrow narrows a million observations of 20,000 files, beside the naive form:
// keep every observation and, of each pair of paths, look whether a directory stands for both.
func BenchmarkNarrow(b *testing.B) {
	paths := project(20_000)
	in := benchWorld(b, paths)
	for _, lines := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprintf("collector/lines=%d", lines), func(b *testing.B) {
			var p *Proposal
			var held uint64
			for b.Loop() {
				c := NewCollector(in.Options)
				before := heapNow()
				var o ratchet.Observation
				for i := range lines {
					stream(paths, i, &o)
					c.Add(0, &o)
				}
				held = heapNow() - before
				var err error
				if p, err = Propose(in, c); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(held)/(1<<20), "MB-held")
			b.ReportMetric(float64(len(p.Report.Rules)), "rules")
			b.ReportMetric(float64(lines)*float64(b.N)/b.Elapsed().Seconds(), "observations/s")
		})
	}
	// The naive form takes time with the square of the paths, so it gets a twentieth of them.
	small := project(1000)
	few := benchWorld(b, small)
	for _, form := range []string{"collector", "naive"} {
		b.Run(form+"/files=1000/lines=50000", func(b *testing.B) {
			var held uint64
			rules := 0
			for b.Loop() {
				before := heapNow()
				if form == "naive" {
					all := make([]ratchet.Observation, 50_000)
					for i := range all {
						stream(small, i, &all[i])
					}
					held = heapNow() - before
					rules = len(naive(small, all))
					continue
				}
				c := NewCollector(few.Options)
				var o ratchet.Observation
				for i := range 50_000 {
					stream(small, i, &o)
					c.Add(0, &o)
				}
				held = heapNow() - before
				p, err := Propose(few, c)
				if err != nil {
					b.Fatal(err)
				}
				rules = len(p.Report.Rules)
			}
			b.ReportMetric(float64(held)/(1<<20), "MB-held")
			b.ReportMetric(float64(rules), "rules")
		})
	}
}

func heapNow() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// naive keeps everything and joins paths pair by pair: two that were given the same go
// under the directory that holds both where that holds nothing else.
func naive(known []string, all []ratchet.Observation) []string {
	given := map[string]bool{} // by path, whether it was changed
	for i := range all {
		if p, ok := strings.CutPrefix(all[i].ID, "/project/"); ok {
			given[p] = given[p] || all[i].Verb == ratchet.Write
		}
	}
	var rules []string
	for _, changed := range []bool{true, false} {
		var wanted []string
		for p, c := range given {
			if c == changed {
				wanted = append(wanted, p)
			}
		}
		slices.Sort(wanted)
		groups := map[string]bool{}
		for _, p := range wanted {
			groups[p] = true
		}
		for _, p := range wanted {
			for _, q := range wanted {
				if p >= q {
					continue
				}
				dir := dirOf(p)
				for dir != "" && !below(q, dir) {
					dir = dirOf(dir)
				}
				if groups[dir+"/"] {
					continue
				}
				fits := true
				for _, k := range known {
					if c, ok := given[k]; below(k, dir) && (!ok || changed && !c) {
						fits = false
						break
					}
				}
				if fits {
					groups[dir+"/"] = true
				}
			}
		}
		for g := range groups {
			if !slices.ContainsFunc(slices.Collect(ancestors(strings.TrimSuffix(g, "/"))), func(dir string) bool { return groups[dir+"/"] }) {
				rules = append(rules, g)
			}
		}
	}
	return rules
}
