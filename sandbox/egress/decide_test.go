package egress

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"umwelt/compilers/confine"
)

func TestNotPublic(t *testing.T) {
	for _, tt := range []struct{ addr, want string }{
		{"1.1.1.1", ""},
		{"9.255.255.255", ""},
		{"11.0.0.0", ""},
		{"100.63.255.255", ""},
		{"100.128.0.0", ""},
		{"172.15.255.255", ""},
		{"172.32.0.0", ""},
		{"223.255.255.255", ""},
		{"2606:4700::1111", ""},
		{"64:ff9b::1.1.1.1", ""},
		{"::ffff:1.1.1.1", ""},

		{"0.0.0.0", "an unspecified address"},
		{"0.1.2.3", "an unspecified address"},
		{"10.0.0.1", "a private address"},
		{"172.16.0.1", "a private address"},
		{"172.31.255.255", "a private address"},
		{"192.168.1.1", "a private address"},
		{"100.64.0.1", "a carrier's private address"},
		{"100.127.255.255", "a carrier's private address"},
		{"127.0.0.1", "a loopback address"},
		{"127.255.255.254", "a loopback address"},
		{"169.254.169.254", "a link-local address"},
		{"168.63.129.16", "a cloud's own address"},
		{"192.0.0.192", "a reserved address"},
		{"192.0.2.1", "a documentation address"},
		{"198.18.0.1", "a benchmarking address"},
		{"198.19.255.255", "a benchmarking address"},
		{"224.0.0.1", "a multicast address"},
		{"239.255.255.255", "a multicast address"},
		{"240.0.0.1", "a reserved address"},
		{"255.255.255.255", "the broadcast address"},
		{"::", "an unspecified address"},
		{"::1", "a loopback address"},
		{"::127.0.0.1", "a reserved address"},
		{"::ffff:10.0.0.1", "a private address"},
		{"::ffff:0:10.0.0.1", "a reserved address"},
		{"fc00::1", "a private address"},
		{"fd00:ec2::254", "a private address"},
		{"fe80::1", "a link-local address"},
		{"fec0::1", "a reserved address"},
		{"ff02::1", "a multicast address"},
		{"2001:db8::1", "a documentation address"},
		{"3fff::1", "a documentation address"},
		{"2001:2::1", "a benchmarking address"},
		{"2001:20::1", "a reserved address"},
		{"2002:7f00:1::", "a 6to4 address"},
		{"2002:101:101::", "a 6to4 address"},
		{"2001:0:4136:e378:8000:63bf:3fff:fdd2", "a Teredo address"},
		{"64:ff9b::127.0.0.1", "the translation of a loopback address"},
		{"64:ff9b::169.254.169.254", "the translation of a link-local address"},
		{"64:ff9b:1::1.1.1.1", "a reserved address"},
		{"100::1", "a reserved address"},
		{"5f00::1", "a reserved address"},
		{"4000::1", "a reserved address"},
	} {
		if got := notPublic(netip.MustParseAddr(tt.addr)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.addr, got, tt.want)
		}
	}
}

func endpoint(host, cidr, protocol string, port int) confine.Endpoint {
	return confine.Endpoint{Host: host, CIDR: cidr, Protocol: protocol, Port: port}
}

// only are the rules of some endpoints, less some patterns.
func only(deny []string, allow ...confine.Endpoint) confine.Network {
	return confine.Network{Allow: allow, Deny: deny}
}

// but are the rules of one endpoint, less others.
func but(e confine.Endpoint, less ...confine.Endpoint) confine.Network {
	e.Less = less
	return confine.Network{Allow: []confine.Endpoint{e}}
}

// compile fails where a part of the network could not be understood.
func compile(t interface {
	Helper()
	Fatalf(string, ...any)
}, n confine.Network) *Rules {
	t.Helper()
	r, problems := Compile(n)
	if len(problems) > 0 {
		t.Fatalf("%v", problems)
	}
	return r
}

func TestName(t *testing.T) {
	exact := only(nil, endpoint("example.com", "", "", 0))
	below := only(nil, endpoint("*.example.com", "", "", 0))
	every := only(nil, endpoint("*", "", "", 0))
	secure := only(nil, endpoint("example.com", "", "https", 443))
	clear := only(nil, endpoint("example.com", "", "http", 80))
	raw := only(nil, endpoint("example.com", "", "tcp", 0))
	lan := only(nil, endpoint("", "10.0.0.0/8", "", 0))
	open := confine.Network{Open: true, Deny: []string{"bad.org", "*.evil.org", "ads*.net", "10.1.0.0/16"}}
	for _, tt := range []struct {
		name      string
		network   confine.Network
		authority string
		form      form
		want      string
	}{
		{"the name", exact, "example.com:443", tunnel, ""},
		{"in capitals, with a dot", exact, "EXAMPLE.COM.:1", tunnel, ""},
		{"on plain HTTP", exact, "example.com", plain, ""},
		{"below the name", exact, "www.example.com:443", tunnel, noRule},
		{"longer in front", exact, "badexample.com:443", tunnel, noRule},
		{"longer behind", exact, "example.com.evil.org:443", tunnel, noRule},
		{"shorter", exact, "xample.com:443", tunnel, noRule},
		{"the upper domain", exact, "com:443", tunnel, noRule},
		{"Cyrillic", exact, "еxample.com:443", tunnel, noRule},
		{"wide", exact, "ｅxample.com:443", tunnel, ""},

		{"wildcard: below", below, "www.example.com:443", tunnel, ""},
		{"wildcard: far below", below, "a.b.c.example.com:443", tunnel, ""},
		{"wildcard: itself", below, "example.com:443", tunnel, noRule},
		{"wildcard: itself with a dot", below, "example.com.:443", tunnel, noRule},
		{"wildcard: no boundary", below, "badexample.com:443", tunnel, noRule},
		{"wildcard: behind", below, "www.example.com.evil.org:443", tunnel, noRule},

		{"every name", every, "anything.test:1", tunnel, ""},
		{"every name, no address", every, "1.1.1.1:443", tunnel, noRule},
		{"every name, no IPv6 address", every, "[2606:4700::1111]:443", tunnel, noRule},

		{"https", secure, "example.com:443", tunnel, ""},
		{"https on another port", secure, "example.com:8443", tunnel, noRule},
		{"https, plain", secure, "example.com:443", plain, noRule},
		{"http", clear, "example.com", plain, ""},
		{"http on another port", clear, "example.com:8080", plain, noRule},
		{"http, in a tunnel", clear, "example.com:80", tunnel, noRule},
		{"tcp", raw, "example.com:22", tunnel, ""},
		{"tcp, plain", raw, "example.com", plain, ""},

		{"address in range", lan, "10.2.3.4:443", tunnel, ""},
		{"mapped", lan, "[::ffff:10.2.3.4]:443", tunnel, ""},
		{"mapped in the rule", only(nil, endpoint("", "::ffff:10.0.0.0/104", "", 0)), "10.2.3.4:443", tunnel, ""},
		{"mapped in the rule, out of range", only(nil, endpoint("", "::ffff:10.0.0.0/104", "", 0)), "11.2.3.4:443", tunnel, noRule},
		{"mapped in the pattern", only([]string{"::ffff:10.1.0.0/112"}, endpoint("", "10.0.0.0/8", "", 0)), "10.1.3.4:443", tunnel, isDenied},
		{"address out of range", lan, "11.2.3.4:443", tunnel, noRule},
		{"translated", lan, "[64:ff9b::10.2.3.4]:443", tunnel, noRule},
		{"a range lets no name be looked up", lan, "host.example.com:443", tunnel, noRule},

		{"open", open, "example.com:443", tunnel, ""},
		{"open, denied", open, "BAD.org.:443", tunnel, isDenied},
		{"open, below what is denied", open, "www.bad.org:443", tunnel, ""},
		{"open, denied below", open, "a.b.evil.org:443", tunnel, isDenied},
		{"open, above what is denied", open, "evil.org:443", tunnel, ""},
		{"open, denied by a glob", open, "ads7.net:443", tunnel, isDenied},
		{"open, address", open, "1.1.1.1:443", tunnel, noRule},

		{"deny beats allow", only([]string{"*.example.com"}, endpoint("www.example.com", "", "", 0)), "www.example.com:443", tunnel, isDenied},
		{"the wider allow is cut", only([]string{"www.example.com"}, endpoint("*.example.com", "", "", 0)), "www.example.com:443", tunnel, isDenied},
		{"and the rest stays", only([]string{"www.example.com"}, endpoint("*.example.com", "", "", 0)), "api.example.com:443", tunnel, ""},
		{"denied address in a range", only([]string{"10.1.0.0/16"}, endpoint("", "10.0.0.0/8", "", 0)), "10.1.0.1:443", tunnel, isDenied},
		{"denied mapped address", only([]string{"10.1.0.0/16"}, endpoint("", "10.0.0.0/8", "", 0)), "[::ffff:10.1.0.1]:443", tunnel, isDenied},
		{"denied translated address", only([]string{"1.1.1.1"}, endpoint("", "64:ff9b::/96", "", 0)), "[64:ff9b::1.1.1.1]:443", tunnel, isDenied},
		{"denied 6to4 address", only([]string{"1.1.1.1"}, endpoint("", "2002::/16", "", 0)), "[2002:101:101::]:443", tunnel, isDenied},
		{"denied by a glob of an address", only([]string{"10.1.*"}, endpoint("", "10.0.0.0/8", "", 0)), "10.1.2.3:443", tunnel, isDenied},
		{"everything denied", only([]string{"*"}, endpoint("example.com", "", "", 0)), "example.com:443", tunnel, allClosed},
		{"this host by any name", only([]string{"127.0.0.0/8"}, endpoint("", "0.0.0.0/0", "", 0)), "0.0.0.0:443", tunnel, "an unspecified address"},
		{"literal rule", only(nil, endpoint("10.0.0.5", "", "", 5432)), "10.0.0.5:5432", tunnel, ""},
		{"literal rule, next address", only(nil, endpoint("10.0.0.5", "", "", 5432)), "10.0.0.6:5432", tunnel, noRule},
		{"only a port", only(nil, endpoint("", "", "", 443)), "example.com:443", tunnel, ""},
		{"only a port, another", only(nil, endpoint("", "", "", 443)), "example.com:444", tunnel, noRule},
		{"nothing", confine.Network{}, "example.com:443", tunnel, noRule},

		{"open but for a name", confine.Network{Open: true, Less: []confine.Endpoint{{Host: "evil.com"}}}, "EVIL.com.:443", tunnel, isLeftOut},
		{"open but for a name, another", confine.Network{Open: true, Less: []confine.Endpoint{{Host: "evil.com"}}}, "good.com:443", tunnel, ""},
		{"open but for a wildcard", confine.Network{Open: true, Less: []confine.Endpoint{{Host: "*.evil.com"}}}, "a.evil.com:443", tunnel, isLeftOut},
		{"open but for a glob", confine.Network{Open: true, Less: []confine.Endpoint{{Host: "ads*.net"}}}, "ads1.net:443", tunnel, isLeftOut},
		{"open but for a port", confine.Network{Open: true, Less: []confine.Endpoint{{Port: 25}}}, "example.com:25", tunnel, isLeftOut},
		{"open but for a port, another", confine.Network{Open: true, Less: []confine.Endpoint{{Port: 25}}}, "example.com:26", tunnel, ""},
		{"open but for plain HTTP", confine.Network{Open: true, Less: []confine.Endpoint{{Protocol: "http"}}}, "example.com", plain, isLeftOut},
		{"open but for plain HTTP, a tunnel", confine.Network{Open: true, Less: []confine.Endpoint{{Protocol: "http"}}}, "example.com:80", tunnel, ""},
		{"open but for TLS, which no tunnel tells before", confine.Network{Open: true, Less: []confine.Endpoint{{Protocol: "tls"}}}, "example.com:80", tunnel, isLeftOut},
		{"open but for UDP, which no proxy passes", confine.Network{Open: true, Less: []confine.Endpoint{{Protocol: "udp"}}}, "example.com:80", tunnel, ""},
		{"another rule opens what one leaves out", confine.Network{Open: true, Less: []confine.Endpoint{{Host: "*.evil.com"}}, Allow: []confine.Endpoint{{Host: "a.evil.com"}}}, "a.evil.com:443", tunnel, ""},
		{"a range but for a range", but(endpoint("", "10.0.0.0/8", "", 0), endpoint("", "10.1.0.0/16", "", 0)), "10.1.0.1:443", tunnel, isLeftOut},
		{"a range but for a range, translated", but(endpoint("", "64:ff9b::/96", "", 0), endpoint("", "10.1.0.0/16", "", 0)), "[64:ff9b::10.1.0.1]:443", tunnel, isLeftOut},
		{"a range but for a range, beside it", but(endpoint("", "10.0.0.0/8", "", 0), endpoint("", "10.1.0.0/16", "", 0)), "10.2.0.1:443", tunnel, ""},
		{"a range but for an address", but(endpoint("", "10.0.0.0/8", "", 0), endpoint("10.1.0.1", "", "", 0)), "10.1.0.1:443", tunnel, isLeftOut},
		{"a range but for a range with stray bits", but(endpoint("", "10.0.0.0/8", "", 0), endpoint("", "10.1.0.9/16", "", 0)), "10.1.0.1:443", tunnel, isLeftOut},
		{"a range but for one port of a part", but(endpoint("", "10.0.0.0/8", "", 0), endpoint("", "10.1.0.0/16", "", 22)), "10.1.0.1:443", tunnel, ""},
		{"a port but for a name", but(endpoint("", "", "", 443), endpoint("evil.com", "", "", 443)), "evil.com:443", tunnel, isLeftOut},
		{"a name but for a part of its addresses may be looked up", but(endpoint("example.com", "", "", 0), endpoint("example.com", "1.1.1.0/24", "", 0)), "example.com:443", tunnel, ""},
		{"IDNA in the rule", only(nil, endpoint("*.Bücher.example.", "", "", 0)), "www.xn--bcher-kva.example:443", tunnel, ""},
		{"IDNA in the pattern", only([]string{"*.bücher.example"}, endpoint("*", "", "", 0)), "www.xn--bcher-kva.example:443", tunnel, isDenied},
	} {
		t.Run(tt.name, func(t *testing.T) {
			to, err := parseTarget(tt.authority, tt.form)
			if err != nil {
				t.Fatal(err)
			}
			if got := compile(t, tt.network).name(to); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAddress(t *testing.T) {
	named := endpoint("example.com", "", "tcp", 0)
	secure := endpoint("example.com", "", "https", 0)
	lan := endpoint("", "10.0.0.0/8", "", 0)
	for _, tt := range []struct {
		name    string
		network confine.Network
		host    string
		addr    string
		grant   grant
		reason  string
	}{
		{"public", only(nil, named), "example.com:443", "1.1.1.1", anything, ""},
		{"public, TLS only", only(nil, secure), "example.com:443", "1.1.1.1", onlyTLS, ""},
		{"the wider of two rules", only(nil, secure, named), "example.com:443", "1.1.1.1", anything, ""},
		{"private", only(nil, named), "example.com:443", "10.0.0.1", nothing, "a private address"},
		{"metadata", only(nil, named), "example.com:80", "169.254.169.254", nothing, "a link-local address"},
		{"loopback, mapped", only(nil, named), "example.com:80", "::ffff:127.0.0.1", nothing, "a loopback address"},
		{"with a zone", only(nil, named), "example.com:80", "2606:4700::1%eth0", nothing, errZone.Error()},
		{"private in a range", only(nil, named, lan), "example.com:443", "10.0.0.1", anything, ""},
		{"private in a range, TLS only", only(nil, secure, lan), "example.com:443", "10.0.0.1", onlyTLS, ""},
		{"private in a TLS range", only(nil, named, endpoint("", "10.0.0.0/8", "https", 0)), "example.com:443", "10.0.0.1", onlyTLS, ""},
		{"range on another port", only(nil, named, endpoint("", "10.0.0.0/8", "", 80)), "example.com:443", "10.0.0.1", nothing, "a private address"},
		{"name and range of one rule", only(nil, endpoint("example.com", "10.0.0.0/8", "", 0)), "example.com:443", "10.0.0.1", anything, ""},
		{"outside the rule's range", only(nil, endpoint("example.com", "10.0.0.0/8", "", 0)), "example.com:443", "1.1.1.1", nothing, noRule},
		{"another rule's range", only(nil, named, endpoint("other.com", "10.0.0.0/8", "", 0)), "example.com:443", "10.0.0.1", nothing, "a private address"},
		{"literal", only(nil, lan), "10.0.0.1:443", "10.0.0.1", anything, ""},
		{"literal, TLS only", only(nil, endpoint("", "10.0.0.0/8", "https", 0)), "10.0.0.1:443", "10.0.0.1", onlyTLS, ""},
		{"denied after resolving", only([]string{"1.1.1.0/24"}, named), "example.com:443", "1.1.1.1", nothing, isDenied},
		{"left out after resolving", but(named, endpoint("", "1.1.1.0/24", "", 0)), "example.com:443", "1.1.1.1", nothing, isLeftOut},
		{"left out after resolving, by name", but(named, endpoint("example.com", "1.1.1.0/24", "", 0)), "example.com:443", "1.1.1.1", nothing, isLeftOut},
		{"left out for another name", but(endpoint("", "", "", 0), endpoint("other.com", "1.1.1.0/24", "", 0)), "example.com:443", "1.1.1.1", anything, ""},
		{"left out elsewhere", but(named, endpoint("", "1.1.2.0/24", "", 0)), "example.com:443", "1.1.1.1", anything, ""},
		{"a range cannot lend what it leaves out", confine.Network{Allow: []confine.Endpoint{named, {CIDR: "10.0.0.0/8", Less: []confine.Endpoint{{CIDR: "10.1.0.0/16"}}}}}, "example.com:443", "10.1.0.1", nothing, "a private address"},
		{"denied after resolving, translated", only([]string{"1.1.1.0/24"}, named), "example.com:443", "64:ff9b::101:101", nothing, isDenied},
	} {
		t.Run(tt.name, func(t *testing.T) {
			to, err := parseTarget(tt.host, tunnel)
			if err != nil {
				t.Fatal(err)
			}
			if reason := compile(t, tt.network).name(to); reason != "" && tt.reason == "" {
				t.Errorf("it may not even be asked for: %s", reason)
			}
			g, reason := compile(t, tt.network).address(to, netip.MustParseAddr(tt.addr))
			if g != tt.grant || reason != tt.reason {
				t.Errorf("got %d %q, want %d %q", g, reason, tt.grant, tt.reason)
			}
		})
	}
}

func TestCompileProblems(t *testing.T) {
	for _, tt := range []struct {
		name    string
		network confine.Network
		want    string
	}{
		{"udp", only(nil, endpoint("example.com", "", "udp", 53)), `"udp": only tcp, http, https and tls pass a proxy; the endpoint stays closed`},
		{"made up", only(nil, endpoint("example.com", "", "gopher\x1b", 0)), `"gopher\x1b": only tcp, http, https and tls pass a proxy; the endpoint stays closed`},
		{"wildcard inside", only(nil, endpoint("www.*.com", "", "", 0)), `"www.*.com": not a host name; the endpoint stays closed`},
		{"wildcard without a dot", only(nil, endpoint("*example.com", "", "", 0)), `"*example.com": not a host name; the endpoint stays closed`},
		{"two wildcards", only(nil, endpoint("*.*.com", "", "", 0)), `"*.*.com": not a host name; the endpoint stays closed`},
		{"only a wildcard and a dot", only(nil, endpoint("*.", "", "", 0)), `"*.": no host; the endpoint stays closed`},
		{"a URL", only(nil, endpoint("https://example.com", "", "", 0)), `"https://example.com": not an address; the endpoint stays closed`},
		{"a port in the host", only(nil, endpoint("example.com:443", "", "", 0)), `"example.com:443": not an address; the endpoint stays closed`},
		{"below an address", only(nil, endpoint("*.0.0.1", "", "", 0)), `"*.0.0.1": an address in an unusual writing; the endpoint stays closed`},
		{"below a whole address", only(nil, endpoint("*.10.0.0.1", "", "", 0)), `"*.10.0.0.1": names cannot lie below an address; the endpoint stays closed`},
		{"octal", only(nil, endpoint("0177.0.0.1", "", "", 0)), `"0177.0.0.1": an address in an unusual writing; the endpoint stays closed`},
		{"no range", only(nil, endpoint("", "10.0.0.0", "", 0)), `"10.0.0.0": not an address range; the endpoint stays closed`},
		{"bits outside", only(nil, endpoint("", "10.0.0.1/8", "", 0)), `"10.0.0.1/8": the address has bits outside its range; write 10.0.0.0/8; the endpoint stays closed`},
		{"mixed", only(nil, endpoint("", "::ffff:0:0/90", "", 0)), `"::ffff:0:0/90": the range mixes IPv4 and IPv6; the endpoint stays closed`},
		{"literal outside", only(nil, endpoint("11.0.0.1", "10.0.0.0/8", "", 0)), `"11.0.0.1": the address lies outside its own range; the endpoint stays closed`},
		{"port", only(nil, endpoint("example.com", "", "", 65536)), `"example.com": its port is none; the endpoint stays closed`},
		{"less: no range", but(endpoint("", "10.0.0.0/8", "", 0), endpoint("", "ten", "", 0)), `"ten": the address range of a denied endpoint is none; the endpoint stays closed`},
		{"less: no host", but(endpoint("*", "", "", 0), endpoint("a b", "", "", 0)), `"a b": the host of a denied endpoint is none; the endpoint stays closed`},
		{"less: no port", but(endpoint("*", "", "", 0), endpoint("a.com", "", "", -1)), `"a.com": the port of a denied endpoint is none; the endpoint stays closed`},
		{"open, less: no host", confine.Network{Open: true, Less: []confine.Endpoint{{Host: "a b"}}}, `"a b": the host of a denied endpoint is none; the network stays closed but for single endpoints`},
		{"deny: no host", only([]string{"exa mple.com"}, endpoint("*", "", "", 0)), `"exa mple.com": not a pattern of hosts; everything stays closed`},
		{"deny: a port", only([]string{"example.com:443"}, endpoint("*", "", "", 0)), `"example.com:443": not a pattern of hosts; everything stays closed`},
		{"deny: a glob with a port", only([]string{"*.example.com:*"}, endpoint("*", "", "", 0)), `"*.example.com:*": not a pattern of hosts; everything stays closed`},
		{"deny: a URL", only([]string{"http://*"}, endpoint("*", "", "", 0)), `"http://*": not a pattern of hosts; everything stays closed`},
		{"deny: broken", only([]string{"["}, endpoint("*", "", "", 0)), `"[": not a pattern of hosts; everything stays closed`},
		{"deny: IDNA in a glob", only([]string{"b*ü.example"}, endpoint("*", "", "", 0)), `"b*ü.example": not a pattern of hosts; everything stays closed`},
		{"deny: empty", only([]string{""}, endpoint("*", "", "", 0)), `"": not a pattern of hosts; everything stays closed`},
		{"deny: mixed range", only([]string{"::ffff:0:0/90"}, endpoint("*", "", "", 0)), `"::ffff:0:0/90": not a pattern of hosts; everything stays closed`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, problems := Compile(tt.network)
			if len(problems) != 1 || problems[0].Error() != tt.want {
				t.Fatalf("got %v\nwant %s", problems, tt.want)
			}
			if !r.Empty() {
				t.Errorf("something is allowed: %+v", r)
			}
		})
	}
}

func TestProblemsCloseOnlyTheirOwn(t *testing.T) {
	r, problems := Compile(only(nil, endpoint("a.com", "", "udp", 53), endpoint("b.com", "", "", 0)))
	if len(problems) != 1 || r.Empty() {
		t.Fatalf("got %v, empty %t", problems, r.Empty())
	}
	for authority, want := range map[string]string{"a.com:53": noRule, "b.com:53": ""} {
		to, err := parseTarget(authority, tunnel)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.name(to); got != want {
			t.Errorf("%s: got %q, want %q", authority, got, want)
		}
	}
}

// TestNoOtherHost checks that a rule for a host never lets a host out that is another one
// after normalization, whatever it looks like.
func TestNoOtherHost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := rapid.SampledFrom([]string{"example.com", "*.example.com", "bücher.example", "10.0.0.1"}).Draw(t, "rule")
		r := compile(t, only(nil, endpoint(rule, "", "", 0)))
		text := rapid.OneOf(hostText(), rapid.Map(hostText(), func(s string) string { return s + "example.com" }),
			rapid.Map(hostText(), func(s string) string { return s + ".example.com" })).Draw(t, "host")
		host, err := ParseHost(text)
		if err != nil {
			return
		}
		allowed := r.name(target{host: host, port: 443}) == ""
		want := host.String() == rule || rule == "bücher.example" && host.Name == "xn--bcher-kva.example"
		if under, ok := strings.CutPrefix(rule, "*."); ok {
			labels := strings.Split(host.Name, ".")
			want = len(labels) > 2 && strings.Join(labels[len(labels)-2:], ".") == under
		}
		if allowed != want {
			t.Fatalf("rule %q, host %q (%v): allowed %t, want %t", rule, text, host, allowed, want)
		}
	})
}

// FuzzDecide checks decisions against what the rules say in other words.
func FuzzDecide(f *testing.F) {
	for _, s := range []string{"example.com:443", "a.example.org:80", "x.bad.example.org:1", "10.0.0.1:443", "[::ffff:10.1.0.1]:443", "0x0a.1:80"} {
		f.Add(s, true, []byte{10, 0, 0, 1})
	}
	r := compile(f, only([]string{"*.bad.example.org", "10.1.0.0/16"},
		endpoint("example.com", "", "https", 443), endpoint("*.example.org", "", "", 0), endpoint("", "10.0.0.0/8", "", 0)))
	lan, cut := netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("10.1.0.0/16")
	f.Fuzz(func(t *testing.T, authority string, isTunnel bool, raw []byte) {
		to := plain
		if isTunnel {
			to = tunnel
		}
		asked, err := parseTarget(authority, to)
		if err != nil {
			return
		}
		host := asked.host.String()
		inside := func(a netip.Addr) bool { return lan.Contains(a) && !cut.Contains(a) }
		want := inside(asked.host.Addr) ||
			host == "example.com" && asked.port == 443 && isTunnel ||
			strings.HasSuffix(host, ".example.org") && !strings.HasSuffix(host, ".bad.example.org")
		if got := r.name(asked) == ""; got != want {
			t.Fatalf("%q (%v): allowed %t, want %t", authority, asked, got, want)
		}
		addr, ok := netip.AddrFromSlice(raw)
		if !ok || asked.host.Addr.IsValid() {
			return
		}
		g, _ := r.address(asked, addr)
		if g == nothing {
			return
		}
		addr = addr.Unmap()
		if !want || !inside(addr) && notPublic(addr) != "" || addr.IsLoopback() || addr.IsLinkLocalUnicast() || addr.IsMulticast() || addr.IsUnspecified() {
			t.Fatalf("%q may be reached at %s", authority, addr)
		}
	})
}

func BenchmarkDecide(b *testing.B) {
	var ends []confine.Endpoint
	for i := range 200 {
		ends = append(ends, endpoint(fmt.Sprintf("*.host%d.example", i), "", "https", 443))
	}
	r, _ := Compile(only(nil, ends...))
	addr := netip.MustParseAddr("1.1.1.1")
	b.Run("200-rules", func(b *testing.B) {
		for b.Loop() {
			to, _ := parseTarget("api.host199.example:443", tunnel)
			if r.name(to) != "" {
				b.Fatal("refused")
			}
			if _, reason := r.address(to, addr); reason != "" {
				b.Fatal(reason)
			}
		}
	})
	b.Run("peer-suffix-scan", func(b *testing.B) {
		for b.Loop() {
			found := false
			for _, e := range ends {
				found = found || strings.HasSuffix("api.host199.example", e.Host[1:])
			}
			if !found {
				b.Fatal("refused")
			}
		}
	})
}
