package kubernetes

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"umwelt/compilers/confine"
)

func TestEgress(t *testing.T) {
	tests := []struct {
		name  string
		n     confine.Network
		want  string // the rules as YAML, without blanks at the ends of lines
		notes int
	}{
		{"closed", confine.Network{}, "egress: []\n", 0},
		{"everything denied", confine.Network{Open: true, Deny: []string{"*"}}, "egress: []\n", 0},
		{"open", confine.Network{Open: true}, "egress:\n  - {}\n", 0},
		{"open but for a name", confine.Network{Open: true, Deny: []string{"*.example.org"}}, "egress: []\n", 1},
		{"open but for everything, by address", confine.Network{Open: true, Deny: []string{"0.0.0.0/0", "::/0"}}, "egress: []\n", 0},
		{"host name", confine.Network{Allow: []confine.Endpoint{{Host: "example.org"}}}, "egress: []\n", 1},
		{"any host", confine.Network{Allow: []confine.Endpoint{{Port: 443, Protocol: "tcp"}}},
			"egress:\n  - ports:\n      - protocol: \"TCP\"\n        port: 443\n", 0},
		{"any host but one", confine.Network{Allow: []confine.Endpoint{{Protocol: "udp"}}, Deny: []string{"::1"}},
			"egress:\n  - to:\n      - ipBlock:\n          cidr: \"0.0.0.0/0\"\n      - ipBlock:\n          cidr: \"::/0\"\n          except:\n            - \"::1/128\"\n    ports:\n      - protocol: \"UDP\"\n", 0},
		{"twice", confine.Network{Allow: []confine.Endpoint{{CIDR: "10.0.0.1"}, {CIDR: "10.0.0.1"}}},
			"egress:\n  - to:\n      - ipBlock:\n          cidr: \"10.0.0.1/32\"\n", 0},
		{"denied name", confine.Network{Allow: []confine.Endpoint{{CIDR: "10.0.0.0/8"}}, Deny: []string{"example.org"}}, "egress: []\n", 1},
		{"denied range", confine.Network{Allow: []confine.Endpoint{{CIDR: "10.1.0.0/16"}}, Deny: []string{"10.0.0.0/8"}}, "egress: []\n", 1},
		{"no range", confine.Network{Allow: []confine.Endpoint{{CIDR: "10.0.0.0/99"}}}, "egress: []\n", 1},
		{"mapped address", confine.Network{Allow: []confine.Endpoint{{CIDR: "::ffff:10.0.0.1"}}}, "egress: []\n", 1},
		{"host and range", confine.Network{Allow: []confine.Endpoint{{Host: "10.0.0.1", CIDR: "10.0.0.0/8"}}}, "egress: []\n", 1},
		{"other protocol", confine.Network{Allow: []confine.Endpoint{{CIDR: "10.0.0.0/8", Protocol: "icmp"}}}, "egress: []\n", 1},
		{"stray bits", confine.Network{Allow: []confine.Endpoint{{CIDR: "10.0.0.5/8"}}}, "egress: []\n", 1},
		{"everything denied by address, on a port", confine.Network{Allow: []confine.Endpoint{{Port: 443}}, Deny: []string{"0.0.0.0/0", "::/0"}}, "egress: []\n", 1},
		{"a range less a range", confine.Network{Allow: []confine.Endpoint{{CIDR: "10.0.0.0/8", Less: []confine.Endpoint{{CIDR: "10.1.0.0/16"}}}}},
			"egress:\n  - to:\n      - ipBlock:\n          cidr: \"10.0.0.0/8\"\n          except:\n            - \"10.1.0.0/16\"\n", 0},
		{"a range less an address on one port", confine.Network{Allow: []confine.Endpoint{{CIDR: "10.0.0.0/8", Less: []confine.Endpoint{{Host: "10.1.0.1", Port: 22}}}}},
			"egress:\n  - to:\n      - ipBlock:\n          cidr: \"10.0.0.0/8\"\n          except:\n            - \"10.1.0.1/32\"\n", 1},
		{"a range less a name", confine.Network{Allow: []confine.Endpoint{{CIDR: "10.0.0.0/8", Less: []confine.Endpoint{{Host: "evil.example"}}}}}, "egress: []\n", 1},
		{"a port less a name", confine.Network{Allow: []confine.Endpoint{{Port: 443, Less: []confine.Endpoint{{Host: "evil.example", Port: 443}}}}}, "egress: []\n", 1},
		{"open less a name", confine.Network{Open: true, Less: []confine.Endpoint{{Host: "evil.example"}}, Allow: []confine.Endpoint{{CIDR: "192.0.2.1/32"}}},
			"egress:\n  - to:\n      - ipBlock:\n          cidr: \"192.0.2.1/32\"\n", 1},
		{"open less a port", confine.Network{Open: true, Less: []confine.Endpoint{{Port: 25}}}, "egress: []\n", 1},
		{"open less a range, but for a part of it", confine.Network{Open: true, Less: []confine.Endpoint{{CIDR: "0.0.0.0/0"}}, Allow: []confine.Endpoint{{CIDR: "192.0.2.1/32"}}},
			"egress:\n  - to:\n      - ipBlock:\n          cidr: \"::/0\"\n  - to:\n      - ipBlock:\n          cidr: \"192.0.2.1/32\"\n", 0},
		{"no port", confine.Network{Allow: []confine.Endpoint{{Port: 65536}}}, "egress: []\n", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rules, notes := egress(tt.n)
			var b strings.Builder
			writeObject(&b, object{{"egress", rules}}, 0, false)
			if b.String() != tt.want {
				t.Errorf("got\n%s\nwant\n%s", &b, tt.want)
			}
			if len(notes) != tt.notes {
				t.Errorf("notes %v, want %d", notes, tt.notes)
			}
		})
	}
}

// TestEgressNeverWidens asks random rules for random addresses: what they let through is
// allowed and not denied.
func TestEgressNeverWidens(t *testing.T) {
	ranges := rapid.SampledFrom([]string{"10.0.0.0/8", "10.0.0.0/30", "10.0.0.1", "0.0.0.0/0", "::/0", "fd00::/126", "fd00::1", "bad"})
	less := func(t *rapid.T) (out []confine.Endpoint) {
		for _, cidr := range rapid.SliceOfN(ranges, 0, 2).Draw(t, "less") {
			out = append(out, confine.Endpoint{CIDR: cidr, Port: rapid.SampledFrom([]int{0, 80}).Draw(t, "less port")})
		}
		return out
	}
	rapid.Check(t, func(t *rapid.T) {
		n := confine.Network{Open: rapid.Bool().Draw(t, "open"), Deny: rapid.SliceOfN(ranges, 0, 3).Draw(t, "deny")}
		for _, cidr := range rapid.SliceOfN(ranges, 0, 3).Draw(t, "allow") {
			n.Allow = append(n.Allow, confine.Endpoint{CIDR: cidr, Port: rapid.SampledFrom([]int{0, 80}).Draw(t, "port"), Less: less(t)})
		}
		n.Less = less(t)
		rules, _ := egress(n)
		for _, text := range []string{"10.0.0.1", "10.0.0.2", "10.9.9.9", "192.0.2.1", "fd00::1", "fd00::2", "2001:db8::1"} {
			for _, port := range []int64{80, 81} {
				a := netip.MustParseAddr(text)
				in := func(e confine.Endpoint) bool {
					p, err := prefix(e.CIDR)
					return err == nil && p.Contains(a) && (e.Port == 0 || int64(e.Port) == port)
				}
				exact := len(n.Less) == 0
				allowed := n.Open && !slices.ContainsFunc(n.Less, in)
				for _, e := range n.Allow {
					allowed = allowed || in(e) && !slices.ContainsFunc(e.Less, in)
					exact = exact && len(e.Less) == 0
				}
				for _, d := range n.Deny {
					p, err := prefix(d)
					if err != nil {
						exact = false // a host name: everything may be closed
					} else if p.Contains(a) {
						allowed = false
					}
				}
				got := lets(rules, a, port)
				if got && !allowed || !got && allowed && exact {
					t.Fatalf("%s port %d: let through %v, want %v; %+v gave %v", a, port, got, allowed, n, rules)
				}
			}
		}
	})
}

// lets is the tests' own reading of egress rules.
func lets(rules list, a netip.Addr, port int64) bool {
	get := func(o any, key string) any {
		for _, f := range o.(object) {
			if f.key == key {
				return f.value
			}
		}
		return nil
	}
	for _, r := range rules {
		to, ports := get(r, "to"), get(r, "ports")
		address, open := to == nil, ports == nil
		if to != nil {
			for _, peer := range to.(list) {
				block := get(peer, "ipBlock")
				in := netip.MustParsePrefix(get(block, "cidr").(string)).Contains(a)
				if except, ok := get(block, "except").(list); ok {
					for _, x := range except {
						in = in && !netip.MustParsePrefix(x.(string)).Contains(a)
					}
				}
				address = address || in
			}
		}
		if ports != nil {
			for _, p := range ports.(list) {
				open = open || get(p, "port") == port
			}
		}
		if address && open {
			return true
		}
	}
	return false
}
