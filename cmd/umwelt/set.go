package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"umwelt/compilers"
	"umwelt/compilers/all"
	"umwelt/diag"
)

// target finds a target by name.
func target(name string) (compilers.Compiler, error) {
	for _, c := range all.Compilers() {
		if c.Info.Name == name {
			return c, nil
		}
	}
	if name == "" {
		return compilers.Compiler{}, problem(diag.UnknownTarget, "one of "+strings.Join(targetNames(), ", "), "no --target is named")
	}
	return compilers.Compiler{}, problem(diag.UnknownTarget, hint(name, targetNames()), "there is no target %s", diag.Quote(name))
}

func targetNames() []string {
	var out []string
	for _, c := range all.Compilers() {
		out = append(out, c.Info.Name)
	}
	return out
}

// parseSet reads --set and holds it to what the target takes. Every fault is reported.
func parseSet(info compilers.Info, flags []string) (map[string]string, error) {
	set := map[string]string{}
	var faults diag.List
	for _, flag := range flags {
		key, value, ok := strings.Cut(flag, "=")
		i := slices.IndexFunc(info.Options, func(o compilers.Option) bool { return o.Key == key })
		_, twice := set[key]
		switch {
		case !ok:
			faults.Errorf(diag.BadOption, diag.Span{}, "--set takes key=value, not %s", diag.Quote(flag)).Hint = optionsHint(info, key)
		case i < 0:
			faults.Errorf(diag.BadOption, diag.Span{}, "the target %s has no option %s", info.Name, diag.Quote(key)).Hint = optionsHint(info, key)
		case twice:
			faults.Errorf(diag.BadOption, diag.Span{}, "--set %s is given twice", key)
		case len(info.Options[i].Values) > 0 && !slices.Contains(info.Options[i].Values, value):
			faults.Errorf(diag.BadOption, diag.Span{}, "the option %s of the target %s cannot be %s", key, info.Name, diag.Quote(value)).
				Hint = optionHint("it takes", value, info.Options[i].Values)
		default:
			set[key] = value
		}
	}
	if faults != nil {
		return nil, &problemsError{faults}
	}
	return set, nil
}

func optionsHint(info compilers.Info, word string) string {
	var keys []string
	for _, o := range info.Options {
		keys = append(keys, o.Key)
	}
	if len(keys) == 0 {
		return "it takes no options"
	}
	return optionHint("its options are", word, keys)
}

// optionHint is what was probably meant, where something is near, and the whole list.
func optionHint(lead, word string, values []string) string {
	list := lead + " " + strings.Join(values, ", ")
	if near := diag.DidYouMean(word, values); near != "" {
		return near + " " + list
	}
	return list
}

// targetDocument is the list of targets in JSON.
type targetDocument struct {
	Schema  string       `json:"schema"`
	Targets []targetJSON `json:"targets"`
}

type targetJSON struct {
	Name        string       `json:"name"`
	Description string       `json:"description"`
	Altitude    string       `json:"altitude"`
	Locality    string       `json:"locality"`
	Model       string       `json:"model"`
	Format      string       `json:"format"`
	Options     []optionJSON `json:"options"`
}

type optionJSON struct {
	Key         string   `json:"key"`
	Default     string   `json:"default"`
	Values      []string `json:"values,omitempty"`
	Description string   `json:"description"`
}

func targetsDocument(list []compilers.Compiler) targetDocument {
	doc := targetDocument{Schema: "umwelt.targets/1", Targets: []targetJSON{}}
	for _, c := range list {
		i := c.Info
		t := targetJSON{i.Name, i.Description, i.Altitude.String(), i.Locality, i.Model, i.Format, []optionJSON{}}
		for _, o := range i.Options {
			t.Options = append(t.Options, optionJSON{o.Key, o.Default, o.Values, o.Description})
		}
		doc.Targets = append(doc.Targets, t)
	}
	return doc
}

// targetsText is a table of the targets, or one target with its options.
func targetsText(list []compilers.Compiler) []byte {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "TARGET\tALTITUDE\tLOCALITY\tMODEL\tFORMAT\tWHAT")
	for _, c := range list {
		i := c.Info
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", i.Name, i.Altitude, i.Locality, i.Model, i.Format, i.Description)
	}
	t.Flush()
	if len(list) == 1 {
		for _, o := range list[0].Info.Options {
			fmt.Fprintf(&b, "\n--set %s=%s\n", o.Key, optionValues(o))
			fmt.Fprintf(&b, "    %s\n", o.Description)
		}
	}
	return []byte(b.String())
}

// optionValues are the values of an option with its default first.
func optionValues(o compilers.Option) string {
	values := append([]string{}, o.Values...)
	slices.SortStableFunc(values, func(a, b string) int {
		return boolInt(b == o.Default) - boolInt(a == o.Default)
	})
	switch {
	case len(values) > 0:
		return strings.Join(values, "|")
	case o.Default != "":
		return o.Default
	}
	return "…"
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
