package container

import (
	"fmt"
	"strings"
	"time"

	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/diag"
)

func (t Tool) compile(info compilers.Info, in compilers.Input) compilers.Output {
	c, problems := confine.ForTarget(in, info)
	out := t.render(info, c, in)
	out.Diagnostics = append(problems, out.Diagnostics...)
	if out.Diagnostics.HasErrors() {
		out.Text = nil
	}
	return out
}

// Render writes a confinement. Only the options and the version of in are used.
func (t Tool) Render(c *confine.Confinement, in compilers.Input) compilers.Output {
	return t.render(t.info(), c, in)
}

func (t Tool) render(info compilers.Info, c *confine.Confinement, in compilers.Input) compilers.Output {
	r := t.read(info, c, in)
	if r.out.Diagnostics.HasErrors() {
		return r.out
	}
	form := in.Option(info, "form")
	r.carried(form)
	switch form {
	case "json":
		r.out.Text = r.json()
	case "sh":
		r.out.Text = r.script(in.Version)
	case "compose":
		r.out.Text = r.compose(in.Version)
	case "nul":
		r.out.Text = []byte(strings.Join(r.argv()[1:], "\x00") + "\x00")
	case "lines":
		for _, w := range r.argv() {
			if strings.Contains(w, "\n") {
				r.out.Diagnostics.Errorf(diag.Invalid, diag.Span{}, "%s holds a newline, which the form lines cannot say", diag.Quote(w)).
					Hint = "use --set form=nul, sh or json"
			}
		}
		r.out.Text = []byte(strings.Join(r.argv()[1:], "\n") + "\n")
	}
	if form != "compose" {
		r.fits()
	}
	return r.out
}

// maxArguments is how many bytes of arguments Linux passes to a program by default (2 MiB),
// less some room for the command and the environment.
const maxArguments = 1_900_000

func (r *container) fits() {
	size := 0
	for _, w := range r.argv() {
		size += len(w) + 9 // its end and its pointer
	}
	if size > maxArguments {
		r.out.Diagnostics.Warnf(diag.Invalid, diag.Span{}, "the arguments take %d bytes, and Linux passes no more than about %d to a program", size, maxArguments).
			Hint = "let rules speak of directories (a path prefix, a descendant), so that a directory is one mount; or use --set form=compose"
	}
}

// carried notes what a form leaves out or gives less exactly.
func (r *container) carried(form string) {
	whole := form == "json" || form == "sh"
	for _, l := range r.limits.By {
		note := func(level compilers.Level, why string) {
			r.out.Notes = append(r.out.Notes, compilers.Note{Rule: l.Rule, Declaration: l.Declaration, Level: level, Why: why})
		}
		switch name := strings.TrimPrefix(l.Name, "max-"); {
		case name != "wall-time":
		case form == "compose" || !r.tool.Timeout && !whole:
			note(compilers.Dropped, "this form carries no such limit; the forms json and sh do")
		case r.tool.Timeout && r.wall != time.Duration(r.seconds())*time.Second:
			note(compilers.Partial, fmt.Sprintf("the tool counts whole seconds, so the limit is %d s", r.seconds()))
		}
	}
}

// seconds is the wall time in whole seconds. A limit of 0 would be none.
func (r *container) seconds() int64 { return max(1, int64(r.wall/time.Second)) }
