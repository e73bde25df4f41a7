package container

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"umwelt/compilers/shell"
)

// service is the name of the only service of a compose file.
const service = "umwelt"

// compose is a compose file. Every string is double-quoted, so that none can be read as a
// number or a boolean, and nothing in it as syntax or as a variable.
func (r *container) compose(version string) []byte {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# Made by %s for compose: docker compose -f FILE run --rm %s COMMAND", strings.TrimSpace("umwelt "+shell.Comment(version)), service)
	line("services:\n  %s:", service)
	field := func(key, value string) { line("    %s: %s", key, value) }
	field("image", scalar(r.image))
	field("pull_policy", "never")
	field("entrypoint", "[]")
	field("stdin_open", "true")
	field("read_only", "true")
	field("cap_drop", `["ALL"]`)
	field("security_opt", `["no-new-privileges"]`)
	field("logging", `{driver: "none"}`)
	switch r.network {
	case "":
	case "none", "host", "bridge":
		field("network_mode", scalar(r.network))
	default:
		field("networks", "["+scalar(r.network)+"]")
	}
	if r.user != "" {
		field("user", scalar(r.user))
	}
	field("working_dir", scalar(r.workdir))
	r.composeLimits(field)
	line("    environment:\n      - %s", scalar("PATH="+r.path))
	for _, names := range [][]string{r.pass, r.set} {
		for _, n := range names {
			if n != "PATH" {
				line("      - %s", scalar(n))
			}
		}
	}
	r.composeMounts(line)
	if r.network != "" && r.network != "none" && r.network != "host" && r.network != "bridge" {
		line("networks:\n  %s: {external: true}", scalar(r.network))
	}
	return []byte(b.String())
}

func (r *container) composeLimits(field func(key, value string)) {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	l := r.limits
	if l.Memory != nil {
		n := number(max(1, *l.Memory))
		field("mem_limit", n)
		field("memswap_limit", n)
	}
	pids := int64(-1)
	if l.MaxProcesses != nil {
		pids = max(1, *l.MaxProcesses)
	}
	field("pids_limit", number(pids))
	if l.CPU != nil {
		field("cpus", cores(*l.CPU))
	}
	if limits := r.rlimits(); limits != nil {
		var items []string
		for _, u := range limits {
			items = append(items, fmt.Sprintf("%s: {soft: %d, hard: %d}", u.name, u.value, u.value))
		}
		field("ulimits", "{"+strings.Join(items, ", ")+"}")
	}
	if l.Tmpfs != nil {
		field("shm_size", number(max(1, *l.Tmpfs)))
	}
}

func (r *container) composeMounts(line func(format string, args ...any)) {
	var volumes, open []mount
	for _, m := range r.mounts {
		if r.byColon(m) {
			open = append(open, m)
		} else {
			volumes = append(volumes, m)
		}
	}
	if open != nil {
		line("    tmpfs:")
		for _, m := range open {
			line("      - %s", scalar(m.target+":"+strings.Join(m.tmpfsOptions(""), ",")))
		}
	}
	if volumes != nil {
		line("    volumes:")
	}
	for _, m := range volumes {
		if m.kind == tmpfs {
			line("      - type: tmpfs\n        target: %s\n        read_only: %v", scalar(m.target), m.readOnly)
			mode, _ := strconv.ParseInt(m.mode, 8, 32) // always octal digits
			size := ""
			if m.size > 0 {
				size = fmt.Sprintf("size: %d, ", m.size)
			}
			line("        tmpfs: {%smode: %d}", size, mode)
			continue
		}
		line("      - type: bind\n        source: %s\n        target: %s", scalar(m.source), scalar(m.target))
		if m.readOnly {
			line("        read_only: true\n        bind: {create_host_path: false, recursive: disabled}")
		} else {
			line("        bind: {create_host_path: false}")
		}
	}
}

// scalar is s, which is UTF-8, as a double-quoted YAML scalar on one line in which compose
// finds no variable.
func scalar(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '$':
			b.WriteString("$$")
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case unicode.IsPrint(c):
			b.WriteRune(c)
		case c < 0x100:
			fmt.Fprintf(&b, `\x%02X`, c)
		case c < 0x10000:
			fmt.Fprintf(&b, `\u%04X`, c)
		default:
			fmt.Fprintf(&b, `\U%08X`, c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
