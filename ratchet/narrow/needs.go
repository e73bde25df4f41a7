package narrow

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"umwelt/world"
)

// requirement is one permission that the proposal has to give.
type requirement struct {
	kind   kind
	typ    string // of the entity, for the report
	id     string
	tally  *tally
	entity *world.Entity // of a path that does not exist, made on first use
	end    endpoint
	calls  []string // what was asked of a tool that takes commands, where it is known
	bound  float64  // of a measure

	deciders  []decided           // what decides in the current view
	choices   map[string][]choice // of a path that does not exist
	came      []*tally            // of new names, what came and went
	byContent bool                // a directory that appears by what lies in it
}

type kind uint8

// The kinds of requirement.
const (
	seeFile kind = iota
	changeFile
	newNames // below a directory
	seeDir
	allow // a tool, a variable, a program
	reach // an endpoint
	spend // no less of a resource than was measured
)

// endpoint is what an observation says of one.
type endpoint struct {
	host, protocol string
	port           int
}

// endpointOf reads an endpoint of a fact: its attributes, else its id as host:port.
func endpointOf(f fact) (e endpoint, ok bool) {
	host, port := f.id, ""
	if h, p, err := net.SplitHostPort(f.id); err == nil {
		host, port = h, p
	} else if i := strings.LastIndexByte(f.id, ':'); i > 0 && net.ParseIP(f.id) == nil {
		if _, err := strconv.Atoi(f.id[i+1:]); err == nil {
			host, port = f.id[:i], f.id[i+1:]
		}
	}
	if f.more != nil {
		if v := f.more.attrs["host"]; v != "" {
			host = v
		}
		if v := f.more.attrs["port"]; v != "" {
			port = v
		}
		e.protocol = strings.ToLower(f.more.attrs["protocol"])
	}
	e.host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if n, err := strconv.Atoi(port); err == nil && n > 0 && n < 65536 {
		e.port = n
	} else {
		// Without a port, a rule would open them all; and port 0 is where a resolver asks which
		// address it would have.
		return e, false
	}
	return e, nameable(e.host) && !strings.HasPrefix(f.id, "unix:") && e.protocol != "unix"
}

// nameable reports whether a text is a host as compilers and views take one: an address, or
// labels of letters, digits, "-" and "_".
func nameable(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	if host == "" || host[0] == '-' || !utf8.ValidString(host) {
		return false
	}
	for _, label := range strings.Split(host, ".") {
		if label == "" || strings.ContainsFunc(label, func(r rune) bool {
			return !(unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '-' || r == '_')
		}) {
			return false
		}
	}
	return true
}
