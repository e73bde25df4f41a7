package container

import (
	"fmt"
	"strconv"
	"strings"
)

// argv is the whole command line up to and with the image. The command to run goes after it.
func (r *container) argv() []string {
	var all []string
	for _, group := range r.groups() {
		all = append(all, group...)
	}
	return all
}

// groups is argv, one flag with its operand a group.
func (r *container) groups() [][]string {
	first := []string{r.tool.Name}
	if r.runtime != "" {
		first = append(first, "--runtime", r.runtime)
	}
	g := [][]string{append(first, "run")}
	add := func(words ...string) { g = append(g, words) }
	add("--rm")
	add("--interactive")
	add("--pull", "never")
	add("--log-driver", "none")
	add("--entrypoint", "")
	for _, f := range r.tool.Flags {
		add(f)
	}
	add("--read-only")
	add("--cap-drop", "ALL")
	add("--security-opt", "no-new-privileges")
	if r.network != "" {
		add("--network", r.network)
	}
	if r.user != "" {
		add("--user", r.user)
	}
	for _, l := range r.limitFlags() {
		add(l...)
	}
	add("--workdir", r.workdir)
	add("--env", "PATH="+r.path)
	for _, names := range [][]string{r.pass, r.set} {
		for _, n := range names {
			if n != "PATH" {
				add("--env", n)
			}
		}
	}
	for _, m := range r.mounts {
		if r.byColon(m) {
			add("--tmpfs", m.target+":"+strings.Join(m.tmpfsOptions(""), ","))
		} else {
			add("--mount", r.mountFlag(m))
		}
	}
	add(r.image)
	return g
}

// limitFlags are the limits. What no rule limits is not limited.
func (r *container) limitFlags() [][]string {
	var g [][]string
	l := r.limits
	if l.Memory != nil {
		n := strconv.FormatInt(max(1, *l.Memory), 10)
		g = append(g, []string{"--memory", n}, []string{"--memory-swap", n})
	}
	pids := int64(-1)
	if l.MaxProcesses != nil {
		pids = max(1, *l.MaxProcesses)
	}
	g = append(g, []string{"--pids-limit", strconv.FormatInt(pids, 10)})
	if l.CPU != nil {
		g = append(g, []string{"--cpus", cores(*l.CPU)})
	}
	if limits := r.rlimits(); limits != nil {
		for _, u := range limits {
			g = append(g, []string{"--ulimit", fmt.Sprintf("%s=%d:%d", u.name, u.value, u.value)})
		}
		if r.tool.Processes != "" {
			g = append(g, []string{"--ulimit", r.tool.Processes})
		}
	}
	if l.Tmpfs != nil {
		g = append(g, []string{"--shm-size", strconv.FormatInt(max(1, *l.Tmpfs), 10)})
	}
	if r.tool.Timeout && r.wall > 0 {
		g = append(g, []string{"--timeout", strconv.FormatInt(r.seconds(), 10)})
	}
	return g
}

// cores is a number of processors, of which less than a hundredth would be no limit.
func cores(n float64) string { return strconv.FormatFloat(max(0.01, n), 'f', -1, 64) }

// byColon reports whether a tmpfs has to be said by "--tmpfs": where "--mount" has no
// word for running programs from it.
func (r *container) byColon(m mount) bool {
	return m.kind == tmpfs && !r.tool.CopyUp && !m.readOnly && !strings.Contains(m.target, ":")
}

// tmpfsOptions are the options of a tmpfs, the ones of its own with a prefix.
func (m mount) tmpfsOptions(prefix string) []string {
	var o []string
	if prefix == "" || !m.readOnly {
		o = append(o, "exec")
	}
	if m.size > 0 {
		o = append(o, prefix+"size="+strconv.FormatInt(m.size, 10))
	}
	return append(o, prefix+"mode="+m.mode)
}

// mountFlag is the operand of "--mount".
func (r *container) mountFlag(m mount) string {
	if m.kind == tmpfs {
		f := []string{"type=tmpfs", "target=" + m.target}
		if m.readOnly {
			f = append(f, "ro")
		}
		if r.tool.CopyUp {
			return fields(append(append(f, "notmpcopyup"), m.tmpfsOptions("tmpfs-")...))
		}
		if m.size > 0 {
			f = append(f, "tmpfs-size="+strconv.FormatInt(m.size, 10))
		}
		return fields(append(f, "tmpfs-mode="+m.mode))
	}
	f := []string{"type=bind", "source=" + m.source, "target=" + m.target}
	if m.readOnly {
		// What is mounted below would stay writable.
		f = append(f, "ro", "bind-nonrecursive=true")
	}
	if m.kind == cover && r.tool.NoDev {
		f = append(f, "nodev")
	}
	return fields(f)
}

// fields is one record of comma-separated values, as both tools read it.
func fields(list []string) string {
	out := make([]string, len(list))
	for i, f := range list {
		if strings.ContainsAny(f, "\",\r\n") {
			f = `"` + strings.ReplaceAll(f, `"`, `""`) + `"`
		}
		out[i] = f
	}
	return strings.Join(out, ",")
}
