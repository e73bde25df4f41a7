// Package kubernetes compiles a sandbox policy to Kubernetes manifests: a NetworkPolicy,
// a ConfigMap, and a Job or Pod whose pod passes the restricted Pod Security Standard.
//
// The project is a PersistentVolumeClaim that holds the same tree as the project's root.
// Each entry of the mount plan is a mount of a part of it.
package kubernetes

import (
	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/registry"
)

// Compiler is the target "kubernetes".
func Compiler() compilers.Compiler { return compilers.Compiler{Info: info(), Compile: compile} }

func compile(in compilers.Input) compilers.Output {
	c, problems := confine.ForTarget(in, info())
	if problems.HasErrors() {
		return compilers.Output{Diagnostics: problems}
	}
	out := Render(c, in)
	out.Diagnostics = append(problems, out.Diagnostics...)
	return out
}

func info() compilers.Info {
	return compilers.Info{
		Name:        "kubernetes",
		Description: "Job or Pod with NetworkPolicy and ConfigMap, for kubectl apply",
		Altitude:    registry.OS,
		Locality:    "remote",
		Model:       "async",
		Format:      "YAML manifests",
		Options:     targetOptions(),
		Support:     support(),
	}
}

func support() map[string]compilers.Support {
	return map[string]compilers.Support{
		"file.editable":          {Level: compilers.Enforced},
		"file.visible":           {Level: compilers.Enforced},
		"dir.editable":           {Level: compilers.Enforced},
		"dir.visible":            {Level: compilers.Enforced},
		"use.editable":           {Level: compilers.Enforced},
		"use.visible":            {Level: compilers.Enforced},
		"mount.*":                {Level: compilers.Partial, Why: "memory filesystems become volumes; host directories are not mounted, the image provides its own"},
		"network.allow":          {Level: compilers.Enforced, Why: pluginWhy},
		"network.deny":           {Level: compilers.Enforced, Why: pluginWhy},
		"env.allow":              {Level: compilers.Partial, Why: "values come from a Secret; the image's own variables, HOSTNAME and KUBERNETES_* are always there"},
		"env.value":              {Level: compilers.Requested, Why: "the value has to be put into the Secret, it never stands in the text"},
		"exec.search-path":       {Level: compilers.Enforced},
		"resource.memory":        {Level: compilers.Enforced},
		"resource.max-memory":    {Level: compilers.Enforced},
		"resource.cpu":           {Level: compilers.Enforced},
		"resource.max-cpu":       {Level: compilers.Enforced},
		"resource.wall-time":     {Level: compilers.Enforced},
		"resource.max-wall-time": {Level: compilers.Enforced},
		"resource.tmpfs":         {Level: compilers.Enforced},
		"resource.max-tmpfs":     {Level: compilers.Enforced},
		"resource.disk":          {Level: compilers.Partial, Why: diskWhy},
		"resource.max-disk":      {Level: compilers.Partial, Why: diskWhy},

		"resource.cpu-time":          {Level: compilers.Dropped, Why: "a pod has no limit of processor time"},
		"resource.max-cpu-time":      {Level: compilers.Dropped, Why: "a pod has no limit of processor time"},
		"resource.max-fds":           {Level: compilers.Dropped, Why: "a pod has no limit of open files"},
		"resource.max-max-fds":       {Level: compilers.Dropped, Why: "a pod has no limit of open files"},
		"resource.max-processes":     {Level: compilers.Dropped, Why: "the kubelet limits processes, a pod cannot"},
		"resource.max-max-processes": {Level: compilers.Dropped, Why: "the kubelet limits processes, a pod cannot"},
		"exec.allow":                 {Level: compilers.Dropped, Why: "the image decides which programs there are"},
		"exec.path":                  {Level: compilers.Dropped, Why: "the image decides which programs there are"},
		"hook.*":                     {Level: compilers.Dropped, Why: "hooks run locally, after the results are back"},
	}
}

const pluginWhy = "by a network plugin that enforces NetworkPolicy; without one a cluster ignores it"

const diskWhy = "counts what the container writes outside the project, not the claim"

// Render is Compile for a confinement that was computed already. in.Resolution may be
// nil: it only lends its world's name to the objects.
func Render(c *confine.Confinement, in compilers.Input) compilers.Output {
	target, world := info(), ""
	if in.Resolution != nil {
		world = in.Resolution.World().Name
	}
	o, bad := readOptions(func(key string) string { return in.Option(target, key) }, world, in.Version)
	if bad.HasErrors() {
		return compilers.Output{Diagnostics: bad}
	}
	text, notes, problems := render(c, o)
	return compilers.Output{Text: text, Notes: notes, Diagnostics: problems}
}
