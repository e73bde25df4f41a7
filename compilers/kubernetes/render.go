package kubernetes

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/diag"
)

// maxObject is the most that the usual store of a cluster takes as one object.
const maxObject = 3 << 19

const podLabel = "umwelt.dev/policy"

// render writes the manifests: the NetworkPolicy first, so that it is there before the
// pod is, then the ConfigMap, then what runs the actor.
func render(c *confine.Confinement, o options) ([]byte, []compilers.Note, diag.List) {
	var l layout
	l.project(c.Plan, o.workdir)
	l.outside(c.System, c.Limits.Tmpfs, o.workdir)
	l.sort()
	rules, netNotes := egress(c.Network)
	limits := readLimits(c.Limits)
	searchPath := c.SearchPath
	if !utf8.ValidString(searchPath) || strings.ContainsRune(searchPath, 0) {
		limits.problems.Errorf(diag.Invalid, diag.Span{}, "kubernetes: the search path %s is not UTF-8 text", diag.Quote(searchPath))
		searchPath = ""
	}
	env, names, envNotes := environment(c.Env, searchPath, o.secret)

	pod := podSpec(o, l, limits, env)
	runner := runner(o, pod, limits.deadline)
	var b strings.Builder
	fmt.Fprintf(&b, "# Policy compiled by umwelt%s. Apply with: kubectl apply -f FILE\n", diag.Escape(blank(o.version)))
	document(&b, networkPolicy(o, rules))
	document(&b, configMap(o, summary(o, l, names, len(rules))))
	before := b.Len()
	document(&b, runner)

	notes := append(append(append(append(c.Notes[:len(c.Notes):len(c.Notes)], l.notes...), netNotes...), envNotes...), limits.notes...)
	problems := append(l.problems, limits.problems...)
	if size := b.Len() - before; size > maxObject {
		problems.Warnf(diag.Invalid, diag.Span{}, "kubernetes: the %s is %d bytes long, and a cluster usually takes %d", o.kind, size, maxObject).
			Hint = "Rules that decide whole directories make fewer mounts."
	}
	return []byte(b.String()), notes, problems
}

func metadata(o options) object {
	m := object{{"name", o.name}}
	if o.namespace != "" {
		m = append(m, field{"namespace", o.namespace})
	}
	return append(m, field{"labels", labels(o)})
}

func labels(o options) object { return object{{podLabel, o.name}} }

func networkPolicy(o options, egress list) object {
	return object{
		{"apiVersion", "networking.k8s.io/v1"},
		{"kind", "NetworkPolicy"},
		{"metadata", metadata(o)},
		{"spec", object{
			{"podSelector", object{{"matchLabels", labels(o)}}},
			{"policyTypes", list{"Ingress", "Egress"}},
			{"ingress", list{}},
			{"egress", egress},
		}},
	}
}

func configMap(o options, summary string) object {
	return object{
		{"apiVersion", "v1"},
		{"kind", "ConfigMap"},
		{"metadata", metadata(o)},
		{"immutable", true},
		{"data", object{{hiddenKey, ""}, {"policy.txt", summary}}},
	}
}

// runner is the Job or Pod. Nothing is retried: a policy allows one run.
func runner(o options, pod object, deadline int64) object {
	if o.kind == "pod" {
		return object{
			{"apiVersion", "v1"},
			{"kind", "Pod"},
			{"metadata", metadata(o)},
			{"spec", withDeadline(pod, deadline)},
		}
	}
	spec := withDeadline(object{{"backoffLimit", int64(0)}}, deadline)
	return object{
		{"apiVersion", "batch/v1"},
		{"kind", "Job"},
		{"metadata", metadata(o)},
		{"spec", append(spec, field{"template", object{
			{"metadata", object{{"labels", labels(o)}}},
			{"spec", pod},
		}})},
	}
}

func withDeadline(o object, seconds int64) object {
	if seconds == 0 {
		return o
	}
	return append(object{{"activeDeadlineSeconds", seconds}}, o...)
}

func podSpec(o options, l layout, limits limits, env list) object {
	container := object{{"name", "actor"}, {"image", o.image}}
	if o.command != "" {
		container = append(container, field{"command", list{"/bin/sh", "-c", literal(o.command)}})
	}
	container = append(container, field{"workingDir", o.workdir})
	if len(env) > 0 {
		container = append(container, field{"env", env})
	}
	if len(limits.resources) > 0 {
		container = append(container, field{"resources", object{{"limits", limits.resources}}})
	}
	container = append(container,
		field{"securityContext", object{
			{"allowPrivilegeEscalation", false},
			{"capabilities", object{{"drop", list{"ALL"}}}},
			{"readOnlyRootFilesystem", true},
		}},
		field{"volumeMounts", volumeMounts(l.mounts)},
	)
	pod := object{
		{"restartPolicy", "Never"},
		{"automountServiceAccountToken", false},
		{"enableServiceLinks", false},
		{"securityContext", object{
			{"runAsNonRoot", true},
			{"runAsUser", o.user},
			{"runAsGroup", o.user},
			{"seccompProfile", object{{"type", "RuntimeDefault"}}},
		}},
	}
	if limits.deadline > 0 {
		// The time ends where the policy says, with no half minute of grace.
		pod = append(pod, field{"terminationGracePeriodSeconds", int64(1)})
	}
	return append(pod, field{"containers", list{container}}, field{"volumes", volumes(o, l)})
}

func volumeMounts(mounts []mount) list {
	var out list
	for _, m := range mounts {
		item := object{{"name", m.volume}, {"mountPath", m.path}}
		if m.subPath != "" {
			item = append(item, field{"subPath", m.subPath})
		}
		out = append(out, append(item, field{"readOnly", m.readOnly}))
	}
	return out
}

// volumes are the volumes that the mounts use.
func volumes(o options, l layout) list {
	used, writable := map[string]bool{}, map[string]bool{}
	for _, m := range l.mounts {
		used[m.volume] = true
		writable[m.volume] = writable[m.volume] || !m.readOnly
	}
	var out list
	if used[projectVolume] {
		out = append(out, object{{"name", projectVolume}, {"persistentVolumeClaim", object{
			{"claimName", o.claim},
			{"readOnly", !writable[projectVolume]},
		}}})
	}
	if used[emptyVolume] {
		out = append(out, object{{"name", emptyVolume}, {"emptyDir", object{{"medium", "Memory"}, {"sizeLimit", "1Mi"}}}})
	}
	if used[fileVolume] {
		out = append(out, emptyFiles(o, fileVolume, []string{hiddenKey}))
	}
	for i, c := range l.covers {
		out = append(out, emptyFiles(o, coverVolume(i), c.places))
	}
	for _, t := range l.tmpfs {
		memory := object{{"medium", "Memory"}}
		if t.size > 0 {
			memory = append(memory, field{"sizeLimit", bytesQuantity(t.size)})
		}
		out = append(out, object{{"name", t.volume}, {"emptyDir", memory}})
	}
	return out
}

// emptyFiles is a volume of empty files that nobody may read.
func emptyFiles(o options, volume string, paths []string) object {
	var items list
	for _, p := range paths {
		items = append(items, object{{"key", hiddenKey}, {"path", p}})
	}
	return object{{"name", volume}, {"configMap", object{
		{"name", o.name},
		{"defaultMode", int64(0)},
		{"items", items},
	}}}
}

// summary tells a person who looks at the ConfigMap what the policy holds.
func summary(o options, l layout, env []string, rules int) string {
	var b strings.Builder
	line := func(key, format string, args ...any) { fmt.Fprintf(&b, key+": "+format+"\n", args...) }
	counts := map[string]int{}
	for _, m := range l.mounts {
		switch {
		case m.volume != projectVolume && m.readOnly:
			counts["hidden"]++
		case m.volume == projectVolume && m.readOnly:
			counts["read-only"]++
		case m.volume == projectVolume:
			counts["read-write"]++
		}
	}
	line("policy", "compiled by umwelt%s", diag.Escape(blank(o.version)))
	line("project", "claim %s at %s", o.claim, diag.Quote(o.workdir))
	line("mounts", "%d read-write, %d read-only, %d hidden", counts["read-write"], counts["read-only"], counts["hidden"])
	line("network", "%s", map[bool]string{true: "closed", false: fmt.Sprintf("%d egress rules", rules)}[rules == 0])
	line("environment", "%s", first(strings.Join(env, " "), "none"))
	if len(env) > 0 {
		line("environment values", "Secret %s", o.secret)
	}
	return b.String()
}

// blank is s with a blank before it, or nothing.
func blank(s string) string {
	if s == "" {
		return ""
	}
	return " " + s
}
