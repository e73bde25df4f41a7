package narrow

import (
	"strings"
	"testing"

	"umwelt/ratchet"
)

func lone(o ratchet.Observation) [][]ratchet.Observation {
	if o.Outcome == "" {
		o.Outcome = ratchet.Allowed
	}
	return [][]ratchet.Observation{{o}}
}

// What no rule can name is reported: it neither widens a proposal nor keeps one from being made.
func TestEndpointsThatNoRuleNames(t *testing.T) {
	for _, id := range []string{
		"example.com", "example.com:0", "192.0.2.1:0", "@abstract", "::1:80", // no port, which would be every port
		"uni\u202ex:443", "\u2028z:443", "x\u0085y:443", "nl\nx:443", `q"uote:443`, "a,b:443", "a;b:443", "{}:443", "-rf:443", "a..b:443", "a@b:80", "x\xff:443",
		"x:99999", ":80",
	} {
		in := Input{World: loadWorld(t, snapshot([]string{"a", "b"}))}
		p, err := Propose(in, collect(in.Options, lone(ratchet.Observation{Type: "network", ID: id, Verb: ratchet.Connect})))
		if err != nil {
			t.Errorf("%q: %v", id, err)
			continue
		}
		if strings.Contains(string(p.Text), "allow") || len(p.Report.Unexpressed) != 1 {
			t.Errorf("%q: %s %+v", id, p.Text, p.Report.Unexpressed)
		}
	}
	for _, id := range []string{"example.com:443", "192.0.2.1:53", "[::1]:80", "a_b.example:1", "café.example:443"} {
		in := Input{World: loadWorld(t, snapshot([]string{"a", "b"}))}
		if p := propose(t, in, lone(ratchet.Observation{Type: "network", ID: id, Verb: ratchet.Connect})); !strings.Contains(string(p.Text), "[port=") {
			t.Errorf("%q: %s", id, p.Text)
		}
	}
}

// A fresh proposal has no current view that could forbid anything.
func TestFreshForbidsNothing(t *testing.T) {
	in := Input{World: loadWorld(t, snapshot([]string{"a", "b"}))}
	p := propose(t, in, lone(ratchet.Observation{Type: "file", ID: "\xff", Verb: ratchet.Write}))
	if len(p.Report.NotAllowed) != 0 || len(p.Report.Unexpressed) != 1 {
		t.Errorf("%+v %+v", p.Report.NotAllowed, p.Report.Unexpressed)
	}
}

// One line beyond all bounds does not keep a proposal from being made.
func TestMeasuresThatNoBoundSays(t *testing.T) {
	for _, value := range []string{"9223372036854775807", "1e300", "4000000000000000000"} {
		for _, id := range []string{"memory", "wall-time", "cpu-time", "max-fds", "max-processes"} {
			in := Input{World: loadWorld(t, snapshot([]string{"a", "b"}))}
			in.Headroom = 100
			p, err := Propose(in, collect(in.Options, lone(ratchet.Observation{Type: "resource", ID: id, Verb: ratchet.Measure,
				Attributes: ratchet.Attributes("value", value)})))
			if err != nil {
				t.Errorf("%s %s: %v", id, value, err)
			} else if p.Report.Check.Needs == 0 && len(p.Report.Unexpressed)+len(p.Report.Unplaced) == 0 {
				t.Errorf("%s %s is nowhere", id, value)
			}
		}
	}
}

// A log of a few bytes a line cannot make names that fill the memory.
func TestLongNamesAreCounted(t *testing.T) {
	in := Input{World: loadWorld(t, snapshot([]string{"a", "b"}))}
	c := collect(in.Options, lone(ratchet.Observation{Type: "file", ID: "/" + strings.Repeat("a/", 4096), Verb: ratchet.Read}))
	if len(c.facts) != 0 || c.unplaced != 1 {
		t.Errorf("%d facts, %d unplaced", len(c.facts), c.unplaced)
	}
}

func TestSumsStaySums(t *testing.T) {
	in := Input{World: loadWorld(t, snapshot([]string{"a", "b"}))}
	o := ratchet.Observation{Type: "file", ID: "a", Verb: ratchet.Read, Outcome: ratchet.Allowed, Count: 1<<63 - 1}
	p := propose(t, in, [][]ratchet.Observation{{o, o, o}})
	if n := p.Report.Observations; n <= 0 {
		t.Errorf("%d observations", n)
	}
}

// What differs between the selectors of a rule is written apart.
func TestSelectorsThatShrinkApart(t *testing.T) {
	tools := []string{"{ type: tool, id: Bash, attributes: { level: 7 } }", "{ type: tool, id: sh, attributes: { level: 8 } }", "{ type: tool, id: Read, attributes: { level: 1 } }"}
	for _, tt := range []struct{ view, want string }{
		{`tool[name="Read"], tool[name="Bash"] { max-level: 8; allow: true; }`, `tool[name="Read"] { max-level: 1; allow: true; }
tool[name="Bash"] { max-level: 7; allow: true; }`},
		{`tool[name="Bash"], tool[name="sh"] { allow: true; allow-pattern: "git *", "rm *"; }`, `tool[name="Bash"] { allow: true; allow-pattern: "git *"; }
tool[name="sh"] { allow: true; allow-pattern: "rm *"; }`},
	} {
		in := Input{World: loadWorld(t, snapshot([]string{"a"}, tools...)), View: parseView(t, tt.view)}
		var run []ratchet.Observation
		for _, id := range []string{"Bash git x", "sh rm x", "Read y"} {
			name, call, _ := strings.Cut(id, " ")
			if strings.Contains(tt.view, `"`+name+`"`) {
				run = append(run, ratchet.Observation{Type: "tool", ID: name, Verb: ratchet.Call, Outcome: ratchet.Allowed, Attributes: ratchet.Attributes("call", call)})
			}
		}
		p, err := Propose(in, collect(in.Options, [][]ratchet.Observation{run}))
		if err != nil {
			t.Errorf("%s: %v", tt.view, err)
			continue
		}
		if got := bodyOf(p); !strings.Contains(got, tt.want) {
			t.Errorf("got\n%s\nwant\n%s", got, tt.want)
		}
	}
}

// A pattern in which a secret was taken out admits no call that holds one, which is said.
func TestSecretsInPatternsAreSaid(t *testing.T) {
	in := Input{World: loadWorld(t, snapshot([]string{"a"}))}
	p := propose(t, in, lone(ratchet.Observation{Type: "tool", ID: "Bash", Verb: ratchet.Call, Attributes: ratchet.Attributes("call", "TOKEN=REDACTED make")}))
	if !strings.Contains(strings.Join(p.Report.Notes, "\n"), "REDACTED stands in the patterns") {
		t.Errorf("%q", p.Report.Notes)
	}
}
