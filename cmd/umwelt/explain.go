package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"umwelt"
	"umwelt/diag"
	"umwelt/registry"
)

// explainFlags are the flags of explain alone.
type explainFlags struct {
	policyFlags
	format, output, whyNot, call string
	asksCall                     bool // call was given, if only as ""
	limit                        int
}

func explainCommand(std *streams) *cobra.Command {
	var f explainFlags
	c := &cobra.Command{
		Use:   "explain VIEW… SELECTOR [PROPERTY]",
		Short: "Prove an answer: what won, what lost and why",
		Long: `Explain shows, for every entity that the selector fits, the value of a property (or of all),
where it came from, the declaration that won, every one that lost with the reason, the
context that held, and the fixed constraint or derivation that changed the value.

With --why-not it says why the property does not have that value instead: who asked for
it and lost, which rules would set it and do not fit, and what would have to change. A path that does not exist yet is
answered as if it did, and the answer says so. JSON has the schema umwelt.explain/1.

With --call it says instead whether what the selector fits may be called in this way: a
command, an address. It shows which property decides, and the pattern, and exits with 1
where some call is refused.`,
		Example: `  umwelt explain auth-fix.umw 'file[path="src/auth/login.py"]' editable
  umwelt explain auth-fix.umw 'tool#Bash'
  umwelt explain review.umw 'file#"src/new.py"' editable --context mode=review --why-not true
  umwelt explain review.umw 'tool#Bash' --call 'git log && curl x'`,
		Args: args(2, -1, "a view, a selector and, if you like, a property"),
	}
	c.ValidArgsFunction = f.completeExplain
	check := formatFlag(c, &f.format, "text", "json")
	c.Flags().IntVar(&f.limit, "limit", 20, "how many entities to show at most; 0 for all")
	c.Flags().StringVar(&f.whyNot, "why-not", "", "say why the property does not have this `value`")
	c.Flags().StringVar(&f.call, "call", "", "say whether this `call` is allowed")
	f.add(c)
	outputFlag(c, &f.output)
	c.RunE = func(c *cobra.Command, given []string) error {
		if err := check(); err != nil {
			return err
		}
		views, selector, property, err := splitExplain(given)
		if err != nil {
			return err
		}
		if f.whyNot != "" && property == "" {
			return problem(diag.BadOption, "name the property after the selector", "--why-not asks about one property")
		}
		f.asksCall = c.Flags().Changed("call")
		if f.asksCall && (property != "" || f.whyNot != "") {
			return problem(diag.BadOption, "", "--call asks about all properties that decide it, so it takes no property and no --why-not")
		}
		if f.limit < 0 {
			return problem(diag.BadOption, "", "--limit takes a number from 0, not %d", f.limit)
		}
		p, err := f.load(std, views)
		if err != nil {
			return err
		}
		return f.explain(std, p, selector, property)
	}
	return c
}

// splitExplain tells the views from the selector: the first argument is a view, and so
// are those after it that are named like one and are there.
func splitExplain(given []string) (views []string, selector, property string, err error) {
	n := 1
	for n < len(given)-1 && filepath.Ext(given[n]) == ".umw" {
		if _, err := os.Lstat(given[n]); err != nil {
			break
		}
		n++
	}
	views, rest := given[:n], given[n:]
	if len(rest) > 2 {
		return nil, "", "", problem(diag.BadOption, "put a selector with blanks in it in quotes", "%s is too much after the selector and the property", diag.Quote(rest[2]))
	}
	if len(rest) == 2 {
		property = rest[1]
	}
	return views, rest[0], property, nil
}

func (f *explainFlags) explain(std *streams, p *umwelt.Policy, selector, property string) error {
	std.doing("looking for the entities")
	picked, err := p.Select(selector)
	if err != nil {
		return asProblem(err)
	}
	if err := hasProperty(picked, selector, property); err != nil {
		return err
	}
	doc := explainDocument{
		Schema: "umwelt.explain/1", Selector: utf8Text(selector), Matched: len(picked), Hypothetical: !picked[0].Exists(),
		Context: contextOf(p), Answers: []answer{}, Diagnostics: diagnostics(p.Diagnostics),
	}
	refused := 0
	for i, e := range picked {
		if f.limit > 0 && i == f.limit && !f.asksCall {
			break
		}
		var a answer
		if f.asksCall {
			a, err = callAnswerOf(p, e, f.call)
		} else {
			a, err = answerOf(p, e, property, f.whyNot)
		}
		if err != nil {
			return err
		}
		if a.Call != nil && !a.Call.Allowed {
			refused++
		}
		if f.limit == 0 || i < f.limit {
			doc.Answers = append(doc.Answers, a)
		}
	}
	if f.format == "json" {
		err = std.writeJSON(f.output, doc)
	} else {
		std.render(p.Diagnostics)
		err = std.write(f.output, []byte(doc.text()))
	}
	if err == nil && refused > 0 {
		return findingsError{}
	}
	return err
}

// hasProperty refuses a property that none of the picked entities' types has.
func hasProperty(picked []umwelt.Subject, selector, property string) error {
	if property == "" {
		return nil
	}
	var names []string
	seen := map[*registry.EntityType]bool{}
	for _, e := range picked {
		t := e.Entity.Type
		if t.Property(property) != nil {
			return nil
		}
		if seen[t] {
			continue
		}
		seen[t] = true
		for _, p := range t.Properties {
			names = append(names, p.Name)
		}
	}
	h := diag.DidYouMean(property, names)
	switch {
	case len(names) == 0:
		h = "it has none"
	case h == "":
		h = "its properties are " + strings.Join(names, ", ")
	}
	return problem(diag.UnknownProperty, h, "what %s picks has no property %s", diag.Quote(selector), diag.Quote(property))
}
