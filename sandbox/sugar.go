package sandbox

import (
	"net/netip"
	"strconv"
	"strings"

	"umwelt/ast"
	"umwelt/diag"
	"umwelt/registry"
)

// items walks the declarations of an at-rule that takes no prelude. Rules and at-rules
// inside it are passed on as they stand.
func items(at *ast.AtRule, out *registry.SugarOutput, each func(*ast.Declaration)) {
	if at.Prelude.Raw != "" || at.Block == nil {
		out.Diagnostics.Errorf(diag.Syntax, at.At, "@%s takes a block and nothing before it", at.Name)
		return
	}
	for _, n := range at.Block.Items {
		if d, ok := n.(*ast.Declaration); ok {
			each(d)
		} else {
			out.Nodes = append(out.Nodes, n)
		}
	}
}

// rewriteTools writes "allow", "deny" and "kit" out as a rule per name; any other
// declaration holds for every tool.
func rewriteTools(at *ast.AtRule, out *registry.SugarOutput) {
	items(at, out, func(d *ast.Declaration) {
		key := strings.ToLower(d.Property)
		verdict, typ := "true", "tool"
		switch key {
		case "allow":
		case "deny":
			verdict = "false"
		case "kit":
			typ = "kit"
		default:
			out.Nodes = append(out.Nodes, rule(d.At, chain(d.At, compound(d.At, "tool")), d))
			return
		}
		for _, v := range d.Values {
			c, ok := named(v, typ)
			if !ok {
				out.Diagnostics.Errorf(diag.BadValue, v.At, "%s is not a name", diag.Quote(text(v))).Hint = "separate names with commas"
				continue
			}
			out.Nodes = append(out.Nodes, rule(d.At, chain(v.At, c), set(d, "allow", verdict)))
		}
	})
}

// named is a compound for a name: "*" is every entity of the type, "x*" those whose name
// begins with x.
func named(v ast.Value, typ string) (*ast.Compound, bool) {
	name := text(v)
	prefix, star := strings.CutSuffix(name, "*")
	switch {
	case v.Kind != ast.String && strings.ContainsAny(name, " \t\n()[]\"'") || name == "" || strings.Contains(prefix, "*"):
		return nil, false
	case star && prefix == "":
		return compound(v.At, typ), true
	case star:
		return compound(v.At, typ, attr(v.At, "name", "^=", prefix)), true
	}
	return compound(v.At, typ, attr(v.At, "name", "=", name)), true
}

// rewriteEnv writes "allow" and "deny" out as a rule per variable, and "set-NAME" as one
// that allows the variable and fixes its value.
func rewriteEnv(at *ast.AtRule, out *registry.SugarOutput) {
	items(at, out, func(d *ast.Declaration) {
		verdict := ""
		switch strings.ToLower(d.Property) {
		case "allow":
			verdict = "true"
		case "deny":
			verdict = "false"
		default:
			if len(d.Property) > 4 && strings.EqualFold(d.Property[:4], "set-") {
				name := d.Property[4:]
				value := *d
				value.Property = "value"
				out.Nodes = append(out.Nodes, rule(d.At, chain(d.At, compound(d.At, "env", attr(d.PropertyAt, "name", "=", name))), set(d, "allow", "true"), &value))
				return
			}
			unknownLine(at, d, out, "allow", "deny", "set-NAME")
			return
		}
		for _, v := range d.Values {
			c, ok := named(v, "env")
			if !ok {
				out.Diagnostics.Errorf(diag.BadValue, v.At, "%s is not the name of a variable", diag.Quote(text(v)))
				continue
			}
			out.Nodes = append(out.Nodes, rule(d.At, chain(v.At, c), set(d, "allow", verdict)))
		}
	})
}

// rewriteBudget is one rule on the resource.
func rewriteBudget(at *ast.AtRule, out *registry.SugarOutput) {
	var limits []ast.Node
	items(at, out, func(d *ast.Declaration) { limits = append(limits, d) })
	if limits != nil {
		out.Nodes = append(out.Nodes, rule(at.At, chain(at.NameAt, compound(at.NameAt, "resource")), limits...))
	}
}

// rewriteHook is one rule on the hook of the at-rule's event: every line is a command
// that keeps its label, but for "timeout".
func rewriteHook(at *ast.AtRule, out *registry.SugarOutput) {
	var lines []ast.Node
	items(at, out, func(d *ast.Declaration) {
		line := *d
		if !strings.EqualFold(d.Property, "timeout") {
			line.Label, line.Property = d.Property, "run"
		}
		lines = append(lines, &line)
	})
	if lines != nil {
		event := attr(at.NameAt, "event", "=", strings.ToLower(at.Name))
		out.Nodes = append(out.Nodes, rule(at.At, chain(at.NameAt, compound(at.NameAt, "hook", event)), lines...))
	}
}

// rewriteNetwork writes "deny" out as one rule on the whole network, whose patterns add
// up over the lines, and "allow" as a rule per endpoint.
func rewriteNetwork(at *ast.AtRule, out *registry.SugarOutput) {
	var deny *ast.Declaration
	items(at, out, func(d *ast.Declaration) {
		switch strings.ToLower(d.Property) {
		case "deny":
			if deny == nil {
				first := *d
				first.Values = nil
				deny = &first
				out.Nodes = append(out.Nodes, rule(d.At, chain(d.At, compound(d.At, "network")), deny))
			} else if deny.Flag != d.Flag {
				out.Diagnostics.Errorf(diag.BadValue, d.At, "the deny lines of one @network carry one flag").Hint = "write them in two @network blocks"
			}
			for _, v := range d.Values {
				deny.Values = append(deny.Values, ast.Value{At: v.At, Kind: ast.String, Text: text(v), Raw: v.Raw})
			}
		case "allow":
			for _, v := range d.Values {
				tests, problem := endpoint(v)
				if problem != "" {
					out.Diagnostics.Errorf(diag.BadValue, v.At, "%s %s", diag.Quote(text(v)), problem).Hint =
						"write a host, host:port or an address range, such as api.github.com, api.github.com:443 or 10.0.0.0/8"
					continue
				}
				out.Nodes = append(out.Nodes, rule(d.At, chain(v.At, compound(v.At, "network", tests...)), set(d, "allow", "true")))
			}
		default:
			unknownLine(at, d, out, "allow", "deny")
		}
	})
}

// endpoint is the tests that pick one endpoint; none for "*", the whole network.
func endpoint(v ast.Value) (tests []ast.Simple, problem string) {
	s := text(v)
	if s == "*" {
		return nil, ""
	}
	if p, err := netip.ParsePrefix(s); err == nil {
		if p != p.Masked() {
			return nil, "has bits set behind its prefix; the range is " + p.Masked().String()
		}
		return []ast.Simple{attr(v.At, "cidr", "=", s)}, ""
	}
	host, port, hasPort := s, "", false
	if addr, err := netip.ParseAddr(s); err != nil || !addr.Is6() {
		host, port, hasPort = strings.Cut(s, ":")
	}
	if host == "" || strings.ContainsAny(host, " \t\n/:@?#\"'()") {
		return nil, "is no host"
	}
	tests = []ast.Simple{attr(v.At, "host", "=", host)}
	if hasPort {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return nil, "has no port between 1 and 65535"
		}
		tests = append(tests, attr(v.At, "port", "=", port))
	}
	return tests, ""
}

func unknownLine(at *ast.AtRule, d *ast.Declaration, out *registry.SugarOutput, known ...string) {
	out.Diagnostics.Errorf(diag.UnknownProperty, d.PropertyAt, "@%s has no line %s", at.Name, diag.Quote(d.Property)).Hint =
		diag.DidYouMean(d.Property, known)
}
