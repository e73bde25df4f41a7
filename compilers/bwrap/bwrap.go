// Package bwrap writes the command line of bubblewrap, for the version that Debian 12
// carries and every later one.
package bwrap

import (
	"strings"

	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/compilers/shell"
	"umwelt/diag"
	"umwelt/registry"
)

// Info declares the target.
var Info = compilers.Info{
	Name:        "bwrap",
	Description: "Command line of bubblewrap, an unprivileged sandbox for Linux",
	Altitude:    registry.OS,
	Locality:    "local",
	Model:       "sync",
	Format:      "argv as JSON, lines or NUL-separated, or a POSIX shell script",
	Options: []compilers.Option{
		{Key: "form", Default: "json", Values: []string{"json", "lines", "nul", "sh"},
			Description: "json: {argv, env, set, wrapper}; lines, nul: options for --args; sh: a script that runs its arguments inside"},
		{Key: "workdir", Description: "absolute path of the project inside; its path on the host where not given"},
		confine.NewFiles,
	},
	Support: support(),
}

func support() map[string]compilers.Support {
	enforced := compilers.Support{Level: compilers.Enforced}
	own := map[string]compilers.Support{
		"env.value": {Level: compilers.Requested, Why: "the value never stands in emitted text, so the one who runs it has to supply it"},
	}

	limits := map[string]compilers.Support{
		"memory":        {Level: compilers.Partial, Why: "it limits the address space of each process, not their sum"},
		"wall-time":     enforced,
		"cpu-time":      {Level: compilers.Partial, Why: "it limits the processor time of each process, not their sum"},
		"max-fds":       enforced,
		"max-processes": {Level: compilers.Partial, Why: "the kernel counts the processes of the user, and does not hold root to it"},
		"tmpfs":         enforced,
		"disk":          {Level: compilers.Partial, Why: "it limits the size of each written file, not their sum"},
	}
	return confine.Support(own, limits)
}

// maxArguments is how many arguments bubblewrap takes in all (9,000), less some room for
// the command.
const maxArguments = 8900

// Compiler is the target.
var Compiler = compilers.Compiler{Info: Info, Compile: compile}

func compile(in compilers.Input) compilers.Output {
	c, problems := confine.ForTarget(in, Info)
	out := Render(c, in)
	out.Diagnostics = append(problems, out.Diagnostics...)
	if out.Diagnostics.HasErrors() {
		out.Text = nil
	}
	return out
}

// Render writes a confinement. Only the options and the version of in are used.
func Render(c *confine.Confinement, in compilers.Input) compilers.Output {
	out := compilers.Output{Notes: c.Notes}
	workdir, problem := c.Workdir(in.Option(Info, "workdir"))
	if problem != "" {
		out.Diagnostics.Errorf(diag.BadOption, diag.Span{}, "%s", problem)
		return out
	}
	form := in.Option(Info, "form")
	whole := form == "json" || form == "sh"
	open, notes := c.Network.AllOrNothing()
	out.Notes = append(append(out.Notes, notes...), c.Bare()...)
	p := program{
		options: options(c, workdir, open, !whole),
		limits:  wrapper(c.Limits),
	}
	for _, e := range c.Env {
		switch {
		case !shell.IsName(e.Name):
			out.Notes = append(out.Notes, note(e.By, compilers.Dropped, "its name is not one that a shell can pass on"))
		case !whole:
			out.Notes = append(out.Notes, note(e.By, compilers.Dropped, "a list of options cannot pass a variable without its value, so it is not set"))
		case e.Set:
			p.set = append(p.set, e.Name)
		default:
			p.pass = append(p.pass, e.Name)
		}
	}
	if !whole && len(p.limits) > 0 {
		out.Notes = append(out.Notes, unwrapped(c.Limits)...)
	}
	if n := len(p.options); n > maxArguments {
		out.Diagnostics.Errorf(diag.TooLarge, diag.Span{}, "the mount plan takes %d arguments, and bubblewrap refuses to start with more than %d", n, maxArguments).
			Hint = shrink(c)
		return out
	}
	switch form {
	case "json":
		out.Text = p.json()
	case "sh":
		out.Text = p.script(in.Version)
	case "nul":
		out.Text = []byte(strings.Join(p.options, "\x00") + "\x00")
	case "lines":
		for _, o := range p.options {
			if strings.Contains(o, "\n") {
				out.Diagnostics.Errorf(diag.Invalid, diag.Span{}, "%s holds a newline, which the form lines cannot say", diag.Quote(o)).
					Hint = "use --set form=nul, sh or json"
			}
		}
		out.Text = []byte(strings.Join(p.options, "\n") + "\n")
	}
	return out
}
