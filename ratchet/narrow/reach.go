package narrow

import (
	"net/netip"
	"path"
	"strings"

	"umwelt/compilers/confine"
)

// reaches is whether an endpoint may be reached.
func (t *trial) reaches(e endpoint) answer {
	for _, p := range t.net.Deny {
		if denies(p, e) {
			return answer{}
		}
	}
	var a answer
	for _, open := range t.net.Allow {
		if holds(open, e) && !anyHolds(open.Less, e) {
			a.ok = true
			a.by = append(a.by, decided{open.By.Rule, open.By.Declaration})
		}
	}
	if a.ok {
		return a
	}
	if t.net.Open && !anyHolds(t.net.Less, e) {
		a.ok = true
		a.by = append(a.by, decided{t.net.By.Rule, t.net.By.Declaration})
	}
	return a
}

func anyHolds(list []confine.Endpoint, e endpoint) bool {
	for _, x := range list {
		if mayHold(x, e) {
			return true
		}
	}
	return false
}

// holds is whether an endpoint of the policy certainly takes in an observed one.
func holds(x confine.Endpoint, e endpoint) bool {
	if x.Port != 0 && x.Port != e.port || x.Protocol != "" && !sameProtocol(x.Protocol, e.protocol) {
		return false
	}
	addr, isAddr := address(e.host)
	if x.CIDR != "" {
		p, ok := prefix(x.CIDR)
		if !ok || !isAddr || !p.Contains(addr) {
			return false
		}
	}
	if x.Host == "" || x.Host == "*" {
		return true
	}
	return sameHost(x.Host, e.host)
}

// mayHold is holds where what is not known of the observed one counts as taken in.
func mayHold(x confine.Endpoint, e endpoint) bool {
	if e.port == 0 {
		x.Port = 0
	}
	if e.protocol == "" {
		x.Protocol = ""
	}
	if _, isAddr := address(e.host); !isAddr && x.CIDR != "" {
		return true // a name may stand for any address
	}
	return holds(x, e)
}

func sameHost(pattern, host string) bool {
	pattern = strings.ToLower(strings.TrimSuffix(strings.Trim(pattern, "[]"), "."))
	if a, ok := address(pattern); ok {
		b, ok := address(host)
		return ok && a == b
	}
	fits, err := path.Match(pattern, host)
	return pattern == host || err == nil && fits
}

func address(host string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return a.Unmap().WithZone(""), err == nil
}

func prefix(text string) (netip.Prefix, bool) {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		a, ok := address(text)
		return netip.PrefixFrom(a, a.BitLen()), ok
	}
	return p, true
}

// sameProtocol is whether what the policy names takes in the observed one. A protocol that
// was not observed is taken in by none.
func sameProtocol(policy, seen string) bool {
	policy = strings.ToLower(policy)
	return policy == seen || policy == "tcp" && (seen == "http" || seen == "https" || seen == "tls")
}

func denies(pattern string, e endpoint) bool {
	if p, ok := prefix(pattern); ok {
		addr, isAddr := address(e.host)
		return isAddr && p.Contains(addr)
	}
	return pattern == "*" || sameHost(pattern, e.host)
}
