package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"time"

	"umwelt"
	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/sandbox/runner"
	"umwelt/sandbox/workspace"
)

// runReport collects what a run reports.
type runReport struct {
	policy      *umwelt.Policy
	confinement *confine.Confinement
	assessment  runner.Assessment
	command     []string
	context     []string
	set         map[string]string // options of the target
	protected   []string          // files of the policy that the view would have made editable
	absent      []string          // world files that are not there and that the next run would find
	appeared    []string
	result      runner.Result
	workspace   *virtual
	applied     *workspace.Report
	hooks       []hookResult
	observed    *observed // nil where nothing is to be observed
	stop        <-chan os.Signal
}

// runDocument is the report in JSON. No value of a variable stands in it.
type runDocument struct {
	Schema     string            `json:"schema"`
	Version    string            `json:"version"`
	Views      []digestJSON      `json:"views"`
	World      worldJSON         `json:"world"`
	Context    []string          `json:"context"`
	Target     runTarget         `json:"target"`
	Command    []string          `json:"command"`
	Argv       []string          `json:"argv"`
	Mounts     []runMount        `json:"mounts"`
	Limits     []runLimit        `json:"limits"`
	Variables  []string          `json:"variables"`
	Network    string            `json:"network"`
	Harness    []string          `json:"left_to_harness"`
	Protected  []string          `json:"protected"`
	Appeared   []string          `json:"appeared,omitempty"`
	Exit       runExit           `json:"exit"`
	Started    string            `json:"started"`
	DurationMS float64           `json:"duration_ms"`
	Usage      runUsage          `json:"usage"`
	Remarks    []string          `json:"remarks"`
	Hooks      []hookResult      `json:"hooks"`
	Workspace  *workspace.Report `json:"workspace,omitempty"`
	Coverage   json.RawMessage   `json:"coverage"`
}

type digestJSON struct {
	File   string `json:"file"`
	Digest string `json:"digest"`
}

type worldJSON struct {
	Name   string `json:"name"`
	Root   string `json:"root"`
	Digest string `json:"digest"`
}

type runTarget struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// runMount is one line of the mount plan, or a mount from outside the project.
type runMount struct {
	Path string `json:"path"`
	Mode string `json:"mode"` // hidden, ro, rw
	Kind string `json:"kind"` // file, dir, symlink, special; bind, tmpfs, proc, dev
	Why  string `json:"why,omitempty"`
}

type runLimit struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	How    string `json:"how"`
	Strict bool   `json:"strict"`
}

type runExit struct {
	Status   int  `json:"status"`
	Signal   int  `json:"signal,omitempty"`
	TimedOut bool `json:"timed_out"`
}

type runUsage struct {
	UserMS   float64 `json:"user_ms"`
	SystemMS float64 `json:"system_ms"`
	MaxRSS   int64   `json:"max_rss_bytes"`
}

func (r *runReport) document(t runner.Target) runDocument {
	c, res := r.confinement, r.result
	doc := runDocument{
		Schema: "umwelt.run/1", Version: buildInfo().Version, Views: []digestJSON{},
		World:   worldJSON{utf8Text(r.policy.World.Name), utf8Text(r.policy.World.Root), r.policy.World.Digest()},
		Context: utf8Texts(r.context), Target: runTarget{t.Info.Name, t.Version()},
		Command: utf8Texts(r.command), Argv: utf8Texts(res.Argv), Mounts: []runMount{}, Limits: []runLimit{}, Variables: []string{},
		Network: networkText(c.Network), Harness: described(r.assessment.Harness), Protected: utf8Texts(r.protected), Appeared: utf8Texts(r.appeared),
		Exit: runExit{res.Exit, res.Signal, res.TimedOut}, Started: res.Started.UTC().Format(time.RFC3339Nano), DurationMS: milliseconds(res.Duration),
		Usage:     runUsage{milliseconds(res.Usage.User), milliseconds(res.Usage.System), res.Usage.MaxRSS},
		Remarks:   utf8Texts(res.Remarks),
		Hooks:     append([]hookResult{}, r.hooks...),
		Workspace: r.applied,
		Coverage:  r.assessment.Coverage.JSON(),
	}
	for _, v := range r.policy.Views {
		sum := sha256.Sum256(v.Source.Text)
		doc.Views = append(doc.Views, digestJSON{utf8Text(v.Source.Name), "sha256:" + hex.EncodeToString(sum[:])})
	}
	for _, m := range c.System {
		mode := "rw"
		if m.ReadOnly {
			mode = "ro"
		}
		doc.Mounts = append(doc.Mounts, runMount{utf8Text(m.Path), mode, m.Type, "the world"})
	}
	for _, e := range c.Plan {
		kind := [...]string{"file", "dir", "symlink", "special"}[e.Kind]
		path := c.Root
		if e.Path != "." {
			path += "/" + e.Path
		}
		doc.Mounts = append(doc.Mounts, runMount{utf8Text(path), e.Mode.String(), kind, utf8Text(e.Why)})
	}
	for _, l := range res.Limits {
		doc.Limits = append(doc.Limits, runLimit(l))
	}
	for _, e := range c.Env {
		doc.Variables = append(doc.Variables, utf8Text(e.Name))
	}
	return doc
}

// networkText is the network in a word.
func networkText(n confine.Network) string {
	switch {
	case n.Whole():
		return "open"
	case n.Open || len(n.Allow) > 0:
		return "endpoints"
	}
	return "closed"
}

func described(list []compilers.Lost) []string {
	out := []string{}
	for _, l := range list {
		out = append(out, runner.Describe(l))
	}
	return out
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// utf8Texts are texts for JSON; none are an empty array.
func utf8Texts(list []string) []string {
	out := make([]string, 0, len(list))
	for _, s := range list {
		out = append(out, utf8Text(s))
	}
	return out
}
