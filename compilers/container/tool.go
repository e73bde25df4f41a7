// Package container writes command lines and compose files of container tools. The tools
// differ in few flags; what is theirs alone stands in a Tool.
package container

import (
	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/registry"
)

// Tool is one container tool.
type Tool struct {
	Name  string // the program, and the name of the target
	Title string // for people
	Image string // that is run where no option names one
	User  string // who the command runs as where no option says so; "" is the caller's own user

	Flags     []string // of "run", beside those that every tool takes
	Processes string   // the flag "--ulimit" of processes that has to stand where any other stands; "" for none

	Runtime bool // it takes "--runtime", and the option of that name
	NoDev   bool // a bind can be kept from opening devices, so that /dev/null covers a file for good
	CopyUp  bool // a tmpfs starts as a copy of what it covers unless it is told not to
	Timeout bool // "run" holds a time limit itself
	Compose bool // its compose files can say all that a plan needs
}

// Compiler is the target of a tool.
func (t Tool) Compiler() compilers.Compiler {
	info := t.info()
	return compilers.Compiler{Info: info, Compile: func(in compilers.Input) compilers.Output { return t.compile(info, in) }}
}

func (t Tool) info() compilers.Info {
	i := compilers.Info{
		Name:        t.Name,
		Description: "Command line of " + t.Title,
		Altitude:    registry.OS,
		Locality:    "local",
		Model:       "sync",
		Format:      "argv as JSON, lines or NUL-separated, or a POSIX shell script",
		Options: []compilers.Option{
			{Key: "form", Default: "json", Values: []string{"json", "lines", "nul", "sh"},
				Description: "json: {argv, env, set, wrapper}; lines, nul: arguments of " + t.Name + "; sh: a script that runs its arguments inside"},
			confine.NewFiles,
			{Key: "workdir", Description: "absolute path of the project inside; its path on the host where not given"},
			{Key: "image", Default: t.Image, Description: "image that is run; it has to be there already"},
			{Key: "user", Default: t.User, Description: "user inside, as UID[:GID] or by name; the caller in a script, else the image's, where not given"},
			{Key: "network", Description: "network to join where the policy opens it whole; the tool's default where not given"},
		},
		Support: t.support(),
	}
	if t.Compose {
		i.Format = "argv as JSON, lines or NUL-separated, a POSIX shell script, or a compose file"
		i.Options[0].Values = append(i.Options[0].Values, "compose")
		i.Options[0].Description += "; compose: a compose file with one service"
	}
	if t.Runtime {
		i.Options = append(i.Options,
			compilers.Option{Key: "runtime", Default: "runc", Description: "OCI runtime"},
			compilers.Option{Key: "max-fds", Description: "open files where no rule limits them, for a host where the tool's own default cannot be had"})
	}
	if !t.NoDev {
		i.Options = append(i.Options, compilers.Option{Key: "cover", Description: "absolute path of an empty file on the host that nobody may read, to cover hidden files with; a script makes one itself"})
	}
	return i
}

func (t Tool) support() map[string]compilers.Support {
	enforced := compilers.Support{Level: compilers.Enforced}
	own := map[string]compilers.Support{
		"env.value": {Level: compilers.Requested, Why: "the value never stands in emitted text, so the one who runs it has to supply it"},
	}

	group := enforced
	if t.Timeout {
		group = compilers.Support{Level: compilers.Partial, Why: "rootless, it needs cgroup v2, and is ignored without"}
	}
	limits := map[string]compilers.Support{
		"memory":        group,
		"wall-time":     enforced,
		"cpu-time":      {Level: compilers.Partial, Why: "it limits the processor time of each process, not their sum"},
		"max-fds":       enforced,
		"max-processes": group,
		"tmpfs":         enforced,
		"disk":          {Level: compilers.Partial, Why: "it limits the size of each written file, not their sum"},
		"cpu":           group,
	}
	return confine.Support(own, limits)
}
