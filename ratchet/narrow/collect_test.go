package narrow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"umwelt/ratchet"
)

// Too many facts are folded outside the project, to the same result in every order.
func TestFoldingDoesNotDependOnOrder(t *testing.T) {
	var all []ratchet.Observation
	for i := range 300 {
		all = append(all, ratchet.Observation{Type: "file", ID: fmt.Sprintf("/usr/lib/d%d/f%d", i%7, i), Verb: ratchet.Read, Outcome: ratchet.Allowed, At: ratchet.Place{File: "l", Line: int64(i)}})
	}
	all = append(all, ratchet.Observation{Type: "file", ID: "/project/a", Verb: ratchet.Read, Outcome: ratchet.Allowed})
	w := loadWorld(t, snapshot([]string{"a", "b"}))
	for _, max := range []int{1000, 100, 5} {
		var want []byte
		for seed := range int64(4) {
			rand.New(rand.NewSource(seed)).Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
			p := propose(t, Input{World: w, Options: Options{MaxFacts: max, Root: "/project"}}, [][]ratchet.Observation{all})
			got, err := json.Marshal(p.Report)
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got
			}
			if !bytes.Equal(want, got) {
				t.Fatalf("at %d facts:\n%s\n%s", max, want, got)
			}
			if folded := p.Report.Facts < 301; folded != (max < 301) || p.Report.Outside[0].Verbs[0].Count != 300 {
				t.Errorf("at %d facts: %d are kept, %+v", max, p.Report.Facts, p.Report.Outside)
			}
		}
	}
	if _, err := Propose(Input{World: w}, collect(Options{MaxFacts: 2, Root: "/project"}, seen(t, "read file a\nread file b\nread file c"))); err == nil {
		t.Error("more facts than are kept give a proposal")
	}
}

func TestRunsAndContexts(t *testing.T) {
	w := loadWorld(t, snapshot([]string{"a", "b", "c", "d"}, "{ type: tool, id: Bash, attributes: { level: 7 } }"))
	text := `
read file a
read file b
write file b
call tool Bash call=git_log level=7
call tool Bash call=curl_x level=5
--
read file a
read file b
!read file c
call tool Bash call=git_log level=7`
	p := propose(t, Input{World: w, Options: Options{MinRuns: 2}}, seen(t, text))
	want := "file[path=\"a\"] { visible: true; }\nfile[path=\"b\"] { visible: true; }\ntool { max-level: 7; }\ntool[name=\"Bash\"] { allow: true; allow-pattern: \"git log\"; }"
	if got := bodyOf(p); got != want {
		t.Errorf("got\n%s", got)
	}
	if len(p.Report.LeftOut) != 2 || len(p.Report.Refused) != 1 || p.Report.Refused[0].ID != "c" {
		t.Errorf("%+v\n%+v", p.Report.LeftOut, p.Report.Refused)
	}
	if d := p.Report.Disagreement; len(d) != 1 || d[0].Taken != "7" || len(d[0].Said) != 3 {
		t.Errorf("%+v", d)
	}

	runs := seen(t, "read file a\nread file b\nread file c")
	runs[0][0].Context = ratchet.Attributes("mode", "review")
	runs[0][1].Context = ratchet.Attributes("mode", "implement")
	p = propose(t, Input{World: w, Options: Options{Context: refs("mode", "implement")}}, runs)
	if got := bodyOf(p); got != "mode#implement file[path=\"b\"] { visible: true; }\nmode#implement file[path=\"c\"] { visible: true; }" || p.Report.OtherContext != 1 {
		t.Errorf("got\n%s\n%d", got, p.Report.OtherContext)
	}
}

// The value behind a variable's name is nowhere.
func TestNoValues(t *testing.T) {
	p := propose(t, Input{World: loadWorld(t, snapshot(nil))}, seen(t, "env env TOKEN=hunter2 value=hunter2\n!env env OTHER=hunter2"))
	report, err := json.Marshal(p.Report)
	if err != nil || strings.Contains(string(p.Text)+string(report), "hunter2") || !strings.Contains(string(p.Text), `env[name="TOKEN"]`) {
		t.Errorf("%v\n%s\n%s", err, p.Text, report)
	}
}

func TestPartialIsSaid(t *testing.T) {
	in := Input{World: loadWorld(t, snapshot([]string{"a", "b"})), Sources: []SourceTally{{Source: "strace://x", Tally: ratchet.Tally{Records: 3, Partial: true, Why: "the last line has no end"}}}}
	p := propose(t, in, seen(t, "read file a"))
	if !p.Report.Partial || !strings.Contains(string(p.Text), "ends before its end") || p.Report.Sources[0].Why == "" {
		t.Errorf("%s\n%+v", p.Text, p.Report.Sources)
	}
}

func TestOutside(t *testing.T) {
	p := propose(t, Input{World: loadWorld(t, snapshot([]string{"a", "b"}))}, seen(t, `
read file /usr/lib/x.so
exec exec /usr/bin/git
read file /etc/passwd
write file /tmp/x
read file /proc/self/maps
write file /dev/null
read file /home/ada/.cache/go/x
read file /home/ada/.ssh/id
write file /home/ada/out
read file /elsewhere/project/a`))
	var got []string
	for _, o := range p.Report.Outside {
		got = append(got, fmt.Sprintf("%s %d %v", o.Group, o.Paths, o.Wrote))
		if o.Advice == "" {
			t.Errorf("no advice on %s", o.Group)
		}
	}
	want := "caches in a home directory 1 false, devices 1 true, other places 3 true, process information 1 false, system configuration 1 false, system programs 1 false, temporary files 1 true"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("got %s", s)
	}
	if len(p.Report.Programs) != 1 || len(p.Report.Rules) != 0 {
		t.Errorf("%+v %+v", p.Report.Programs, p.Report.Rules)
	}
	in := Input{World: loadWorld(t, snapshot([]string{"a", "b"})), Options: Options{RecordedRoot: "/elsewhere/project"}}
	if p := propose(t, in, seen(t, "read file /elsewhere/project/a")); bodyOf(p) != `file[path="a"] { visible: true; }` {
		t.Errorf("%s", p.Text)
	}
}
