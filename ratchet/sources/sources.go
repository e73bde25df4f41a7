// Package sources is the list of what the ratchet reads observations from. Each source is
// a package below this one; a program on the path named umwelt-observe-NAME is one more.
package sources

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"umwelt/diag"
	"umwelt/ratchet"
	"umwelt/ratchet/sources/audit"
	"umwelt/ratchet/sources/blq"
	"umwelt/ratchet/sources/claude"
	"umwelt/ratchet/sources/detect"
	"umwelt/ratchet/sources/jsonl"
	"umwelt/ratchet/sources/otel"
	"umwelt/ratchet/sources/strace"
	"umwelt/ratchet/sources/trace"
)

// All are the sources that the tool knows by itself, in order of names.
func All() []ratchet.Source {
	list := []ratchet.Source{
		audit.Source,
		blq.Source,
		claude.Source,
		detect.Source,
		jsonl.Source,
		otel.Source,
		strace.Source,
		trace.Biomata,
		trace.Town,
	}
	slices.SortFunc(list, func(a, b ratchet.Source) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// named is what a source may be called.
var named = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)

// Open finds the source that an argument such as strace://trace.log names, and what it is
// to read. What stands after "://" is taken as it stands. Of what it returns, Input.Dir is
// the caller's to set.
func Open(arg string) (ratchet.Source, ratchet.Input, error) {
	name, rest, ok := strings.Cut(arg, "://")
	switch {
	case !ok:
		return ratchet.Source{}, ratchet.Input{}, fmt.Errorf("%s names no source; write SOURCE://FILE, such as jsonl://events.jsonl (sources: %s)", diag.Quote(arg), strings.Join(names(), ", "))
	case rest == "":
		return ratchet.Source{}, ratchet.Input{}, fmt.Errorf("%s says nothing to read; write what it is after ://", diag.Quote(arg))
	case strings.ContainsRune(rest, 0):
		return ratchet.Source{}, ratchet.Input{}, errors.New("the name of what to read holds a NUL byte")
	}
	all := All()
	if i := slices.IndexFunc(all, func(s ratchet.Source) bool { return s.Name == name }); i >= 0 {
		return all[i], ratchet.Input{Name: rest}, nil
	}
	if !named.MatchString(name) {
		return ratchet.Source{}, ratchet.Input{}, fmt.Errorf("%s is no name of a source, which holds small letters, digits and - only", diag.Quote(name))
	}
	s, err := external(name)
	if err != nil {
		hint := "sources: " + strings.Join(names(), ", ")
		if near := diag.DidYouMean(name, names()); near != "" {
			hint = near
		}
		return ratchet.Source{}, ratchet.Input{}, fmt.Errorf("there is no source %s, and %w; %s", diag.Quote(name), err, hint)
	}
	return s, ratchet.Input{Name: rest}, nil
}

func names() []string {
	var out []string
	for _, s := range All() {
		out = append(out, s.Name)
	}
	return out
}
