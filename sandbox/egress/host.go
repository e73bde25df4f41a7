package egress

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// Host is what a client asks for, in the one form in which it is compared: a name, or an
// address literal.
type Host struct {
	Name string     // lower-case ASCII without a trailing dot; "" for a literal
	Addr netip.Addr // never IPv4 mapped into IPv6, never with a zone; invalid for a name
}

// String is the name, or the address as text without brackets.
func (h Host) String() string {
	if h.Addr.IsValid() {
		return h.Addr.String()
	}
	return h.Name
}

// longest is the length of a DNS name, and of one label, in ASCII form.
const (
	longestName  = 253
	longestLabel = 63
)

var (
	errNoHost    = errors.New("no host")
	errLong      = errors.New("the host name is too long")
	errName      = errors.New("not a host name")
	errLabel     = errors.New("a label of the host name is empty or too long")
	errAddress   = errors.New("not an address")
	errPort      = errors.New("not a port")
	errZone      = errors.New("an address with a zone")
	errWriting   = errors.New("an address in an unusual writing")
	errAmbiguous = errors.New("the host name does not stay itself when normalized again")
)

// ParseHost reads the host part of an authority. IPv6 literals may stand in brackets, as
// they do in URLs. A name is mapped to ASCII by the lookup rules of IDNA, so that all
// writings of a name become one. What ends in a number is an address and must be written
// as four plain decimal numbers: resolvers disagree about all shorter, octal and
// hexadecimal forms.
func ParseHost(text string) (Host, error) {
	switch {
	case text == "":
		return Host{}, errNoHost
	case len(text) > 4*longestName:
		return Host{}, errLong
	case !utf8.ValidString(text):
		return Host{}, errName
	}
	if inner, ok := strings.CutPrefix(text, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		if !ok || !strings.Contains(inner, ":") {
			return Host{}, errAddress
		}
		return parseAddr(inner)
	}
	if strings.Contains(text, ":") {
		return parseAddr(text)
	}
	name, err := normalize(text)
	if err != nil {
		return Host{}, err
	}
	if endsInNumber(name) {
		addr, err := netip.ParseAddr(name)
		if err != nil {
			return Host{}, errWriting
		}
		return Host{Addr: addr}, nil
	}
	return Host{Name: name}, nil
}

func parseAddr(text string) (Host, error) {
	addr, err := netip.ParseAddr(text)
	switch {
	case err != nil:
		return Host{}, errAddress
	case addr.Zone() != "":
		return Host{}, errZone
	}
	return Host{Addr: addr.Unmap()}, nil
}

// normalize is the ASCII form of a name: lower-case, without one trailing dot.
func normalize(text string) (string, error) {
	name, err := idna.Lookup.ToASCII(text)
	if err != nil {
		return "", errName
	}
	name = strings.TrimSuffix(name, ".")
	if len(name) > longestName {
		return "", errLong
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > longestLabel {
			return "", errLabel
		}
		for _, c := range []byte(label) {
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
				return "", errName
			}
		}
	}
	if again, err := idna.Lookup.ToASCII(name); err != nil || again != name {
		return "", errAmbiguous
	}
	return name, nil
}

// endsInNumber reports whether the last label of a name is one that some resolver reads
// as a number: all digits, or hexadecimal after 0x.
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}

// parsePort reads a port in decimal.
func parsePort(text string) (uint16, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 {
		return 0, errPort
	}
	return uint16(n), nil
}
