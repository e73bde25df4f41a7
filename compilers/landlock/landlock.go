// Package landlock writes rule sets for Landlock, the access control of the Linux kernel
// that a process without privileges lays on itself. The runner of this tool applies them,
// with no helper program.
package landlock

import (
	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/registry"
)

// Info declares the target.
var Info = compilers.Info{
	Name:        "landlock",
	Description: "Rule set of Landlock, which umwelt run applies with no helper program",
	Altitude:    registry.OS,
	Locality:    "local",
	Model:       "sync",
	Format:      "JSON, schema " + Schema,
	Options:     []compilers.Option{confine.NewFiles},
	Support:     support(),
}

func support() map[string]compilers.Support {
	enforced := compilers.Support{Level: compilers.Enforced}
	own := map[string]compilers.Support{
		"exec.allow": {Level: compilers.Partial, Why: "a program that may be read can still be run by way of the dynamic loader of one that may be run"},
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

// Compiler is the target.
var Compiler = compilers.Compiler{Info: Info, Compile: compile}

func compile(in compilers.Input) compilers.Output {
	c, problems := confine.ForTarget(in, Info)
	if problems.HasErrors() {
		return compilers.Output{Diagnostics: problems}
	}
	r, notes := Rules(c)
	return compilers.Output{Text: r.JSON(), Notes: append(c.Notes, notes...), Diagnostics: problems}
}

// What holds of every rule set, whatever the policy.
const (
	remarkNames   = "Landlock guards the content of files and the names in directories: whoever knows a hidden path can still learn that it exists, its size and its times"
	remarkSockets = "Landlock of this kernel generation does not guard sockets that are files, so no such socket can be opened"
)

// Rules is the rule set of a confinement, and what it does not get exactly.
func Rules(c *confine.Confinement) (Set, []compilers.Note) {
	s := Set{
		Schema: Schema, ABI: abi, Workdir: Text(c.Root), SearchPath: Text(c.SearchPath),
		Handled: Handled{Files: names(allFiles), Network: []string{"bind_tcp", "connect_tcp"}, Scoped: []string{"abstract_unix_socket", "signal"}},
	}
	notes := []compilers.Note{{Level: compilers.Partial, Why: remarkNames}, {Level: compilers.Partial, Why: remarkSockets}}
	system, inside, more := mounts(c)
	notes = append(notes, more...)
	grants, lowered := confine.Grants(c.Tree, inside...)
	notes = append(notes, confine.LoweringNotes(lowered)...)
	for _, g := range grants {
		at := c.Root
		if g.Path != "." {
			at += "/" + g.Path
		}
		s.Rules = append(s.Rules, Rule{Path: Text(at), Project: true, Access: names(accessOf(g))})
	}
	s.Rules = append(s.Rules, system.rules...)
	s.Private = system.private
	if c.Allowed != nil {
		s.Execute = &[]Text{}
		for _, path := range c.Allowed {
			*s.Execute = append(*s.Execute, Text(path))
		}
	}
	s.Network, more = network(c.Network)
	notes = append(notes, more...)
	s.Pass, s.Fixed = []Text{}, []Text{}
	for _, e := range c.Env {
		if e.Set {
			s.Fixed = append(s.Fixed, Text(e.Name))
		} else {
			s.Pass = append(s.Pass, Text(e.Name))
		}
	}
	s.Limits = limits(c.Limits)
	return s, notes
}

// accessOf is the rights of a grant as Landlock has them.
func accessOf(g confine.Grant) uint64 {
	var a uint64
	for _, has := range []struct {
		right confine.Access
		is    uint64
	}{{confine.Read, readFiles}, {confine.Write, writeFiles}, {confine.List, readDir}, {confine.Change, changeDirs}} {
		if g.Access&has.right != 0 {
			a |= has.is
		}
	}
	if g.Kind != confine.Dir {
		a &= ofFiles
	}
	return a
}
