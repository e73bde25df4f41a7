// Package nsjail writes the protobuf text that nsjail reads with --config.
package nsjail

import (
	"slices"
	"strings"

	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/diag"
	"umwelt/registry"
)

// Info declares the target.
var Info = compilers.Info{
	Name:        "nsjail",
	Description: "Configuration of nsjail, a process isolation tool for Linux",
	Altitude:    registry.OS,
	Locality:    "local",
	Model:       "sync",
	Format:      "protobuf text for nsjail --config",
	Options: []compilers.Option{
		{Key: "workdir", Description: "absolute path of the project inside; its path on the host where not given"},
		confine.NewFiles,
		{Key: "limits", Default: "cgroup", Values: []string{"cgroup", "rlimit"},
			Description: "cgroup: memory, processes and cores are held together, which needs a cgroup that nsjail may write; rlimit: each process by itself"},
	},
	Support: support(),
}

func support() map[string]compilers.Support {
	enforced := compilers.Support{Level: compilers.Enforced}
	own := map[string]compilers.Support{
		"env.value": {Level: compilers.Requested, Why: "the value never stands in emitted text, so the variable is not set; give it with nsjail --env"},
	}

	limits := map[string]compilers.Support{
		"memory": enforced, "wall-time": enforced, "max-fds": enforced, "max-processes": enforced, "tmpfs": enforced, "cpu": enforced,
		"cpu-time": {Level: compilers.Partial, Why: "it limits the processor time of each process, not their sum"},
		"disk":     {Level: compilers.Partial, Why: "it limits the size of each written file, not their sum"},
	}
	return confine.Support(own, limits)
}

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
	open, notes := c.Network.AllOrNothing()
	out.Notes = append(append(out.Notes, notes...), c.Bare()...)

	t := &text{}
	t.comment("Made by " + strings.TrimSpace("umwelt "+diag.Escape(in.Version)) + " for nsjail.")
	t.comment("Run it with: nsjail --config FILE -- COMMAND")
	t.blank()
	t.str("name", "umwelt")
	t.word("mode", "ONCE")
	t.str("cwd", workdir)
	t.num("nice_level", 0) // its own default would make everything slow
	t.blank()
	out.Notes = append(out.Notes, environment(t, c)...)
	t.blank()
	t.flag("clone_newnet", !open)
	t.blank()
	out.Notes = append(out.Notes, limits(t, c.Limits, in.Option(Info, "limits"))...)
	t.blank()
	for _, s := range c.Layout(workdir) {
		mount(t, s)
	}
	if slices.ContainsFunc(c.Plan, func(e confine.Entry) bool { return e.Kind == confine.Dir && e.Mode == confine.ReadOnly }) {
		out.Notes = append(out.Notes, compilers.Note{Level: compilers.Partial,
			Why: "nsjail binds one filesystem read-only, so that another one mounted on the host below a read-only directory stays writable"})
	}
	out.Text = []byte(t.b.String())
	return out
}

// defaultPath is where programs are looked up where no rule sets a search path.
const defaultPath = "/usr/local/bin:/usr/bin:/bin"

// environment names the variables that pass. "NAME" passes the value from outside, so a
// name with "=" in it would set a value instead.
func environment(t *text, c *confine.Confinement) []compilers.Note {
	var notes []compilers.Note
	t.flag("keep_env", false)
	path := c.SearchPath
	if path == "" {
		path = defaultPath
	}
	t.str("envar", "PATH="+path)
	for _, e := range c.Env {
		switch {
		case e.Name == "PATH":
			// The search path stands already.
		case strings.ContainsAny(e.Name, "=\x00") || e.Name == "":
			notes = append(notes, note(e.By, compilers.Dropped, "no variable can have this name"))
		case e.Set:
			// By its name alone it would pass the value from outside, which the policy replaces.
		default:
			t.str("envar", e.Name)
		}
	}
	return notes
}

func note(by confine.Source, level compilers.Level, why string) compilers.Note {
	return compilers.Note{Rule: by.Rule, Declaration: by.Declaration, Level: level, Why: why}
}
