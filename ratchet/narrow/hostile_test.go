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
