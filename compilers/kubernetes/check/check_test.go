// Package check reads the manifests of package kubernetes with the API's own types. It is
// a module of its own, so that its dependencies stay out of the tool.
package check

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	psa "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/compilers/kubernetes"
)

// manifests is one compiled text, decoded.
type manifests struct {
	network networkingv1.NetworkPolicy
	config  corev1.ConfigMap
	job     *batchv1.Job
	pod     *corev1.Pod
}

// decode reads a text strictly: an unknown field, a wrong type or a key that stands twice
// is an error, and so is a document of another kind.
func decode(text []byte) (manifests, error) {
	var m manifests
	// No string holds a raw line break, so only the documents' own marks begin a line.
	for _, doc := range strings.Split(string(text), "\n---\n")[1:] {
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal([]byte(doc), &kind); err != nil {
			return m, err
		}
		var into any
		switch kind.APIVersion + " " + kind.Kind {
		case "networking.k8s.io/v1 NetworkPolicy":
			into = &m.network
		case "v1 ConfigMap":
			into = &m.config
		case "batch/v1 Job":
			m.job = &batchv1.Job{}
			into = m.job
		case "v1 Pod":
			m.pod = &corev1.Pod{}
			into = m.pod
		default:
			return m, fmt.Errorf("an object of kind %q", kind)
		}
		if err := yaml.UnmarshalStrict([]byte(doc), into); err != nil {
			return m, fmt.Errorf("%w in\n%s", err, doc)
		}
	}
	if m.config.Name == "" || m.network.Name == "" || (m.job == nil) == (m.pod == nil) {
		return m, fmt.Errorf("an object is missing or stands twice")
	}
	return m, nil
}

func (m manifests) template() (metav1.ObjectMeta, corev1.PodSpec) {
	if m.job != nil {
		return m.job.Spec.Template.ObjectMeta, m.job.Spec.Template.Spec
	}
	return m.pod.ObjectMeta, m.pod.Spec
}

// problems are what an API server or the restricted standard would refuse, and what
// would leave the pod less confined than the text says.
func (m manifests) problems() []string {
	var out []string
	bad := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	meta, spec := m.template()

	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		return []string{err.Error()}
	}
	for _, r := range evaluator.EvaluatePod(psa.LevelVersion{Level: psa.LevelRestricted, Version: psa.LatestVersion()}, &meta, &spec) {
		if !r.Allowed {
			bad("restricted standard: %s: %s", r.ForbiddenReason, r.ForbiddenDetail)
		}
	}
	for _, name := range []string{m.network.Name, m.config.Name} {
		for _, why := range validation.IsDNS1123Label(name) {
			bad("name %q: %s", name, why)
		}
	}
	for key, value := range m.network.Spec.PodSelector.MatchLabels {
		if meta.Labels[key] != value {
			bad("the NetworkPolicy does not select the pod: %s=%s", key, value)
		}
	}
	if len(m.network.Spec.PodSelector.MatchLabels) == 0 || len(m.network.Spec.Ingress) > 0 || !slices.Equal(m.network.Spec.PolicyTypes,
		[]networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress}) {
		bad("the NetworkPolicy leaves a direction open")
	}
	if spec.AutomountServiceAccountToken == nil || *spec.AutomountServiceAccountToken || spec.EnableServiceLinks == nil || *spec.EnableServiceLinks {
		bad("the cluster's own token or addresses reach the actor")
	}
	if spec.RestartPolicy != corev1.RestartPolicyNever || m.job != nil && (m.job.Spec.BackoffLimit == nil || *m.job.Spec.BackoffLimit != 0) {
		bad("the actor would run again")
	}
	if len(spec.Containers) != 1 {
		return append(out, "not one container")
	}
	c := spec.Containers[0]
	if c.SecurityContext.ReadOnlyRootFilesystem == nil || !*c.SecurityContext.ReadOnlyRootFilesystem {
		bad("the root filesystem can be written to")
	}
	for _, e := range c.Env {
		for _, why := range validation.IsEnvVarName(e.Name) {
			bad("variable %q: %s", e.Name, why)
		}
		if e.Value != "" && e.Name != "PATH" {
			bad("a value of %s stands in the text", e.Name)
		}
	}
	return append(out, m.mountProblems(spec)...)
}

func (m manifests) mountProblems(spec corev1.PodSpec) []string {
	var out []string
	bad := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	volumes := map[string]bool{}
	for _, v := range spec.Volumes {
		if volumes[v.Name] || len(validation.IsDNS1123Label(v.Name)) > 0 {
			bad("volume name %q", v.Name)
		}
		volumes[v.Name] = true
		if v.ConfigMap == nil {
			continue
		}
		if v.ConfigMap.Name != m.config.Name {
			bad("volume %s is of another ConfigMap", v.Name)
		}
		for _, i := range v.ConfigMap.Items {
			if _, ok := m.config.Data[i.Key]; !ok || !relative(i.Path) || strings.HasPrefix(i.Path, "..") {
				bad("item %+v", i)
			}
		}
	}
	seen, last := map[string]bool{}, ""
	for _, mount := range spec.Containers[0].VolumeMounts {
		if !volumes[mount.Name] {
			bad("no volume %q", mount.Name)
		}
		if seen[mount.MountPath] || !path.IsAbs(mount.MountPath) || strings.ContainsRune(mount.MountPath, ':') {
			bad("mount path %q", mount.MountPath)
		}
		seen[mount.MountPath] = true
		if mount.SubPath != "" && !relative(mount.SubPath) || mount.SubPathExpr != "" {
			bad("subPath %q", mount.SubPath)
		}
		if strings.HasPrefix(last, mount.MountPath+"/") {
			bad("%q comes after what lies below it", mount.MountPath)
		}
		last = mount.MountPath
	}
	return out
}

func relative(p string) bool {
	return p != "" && !path.IsAbs(p) && !slices.Contains(strings.Split(p, "/"), "..")
}

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("../testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden files", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m, err := decode(text)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, p := range m.problems() {
			t.Errorf("%s: %s", file, p)
		}
	}
}

// TestChecksCanFail shows that the checks see what they look for.
func TestChecksCanFail(t *testing.T) {
	text, err := os.ReadFile("../testdata/auth-fix.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new string }{
		{"runAsNonRoot: true", "runAsNonRoot: false"},
		{`- "ALL"`, `- "NET_RAW"`},
		{`type: "RuntimeDefault"`, `type: "Unconfined"`},
		{"allowPrivilegeEscalation: false", "allowPrivilegeEscalation: true"},
		{`    - "Egress"` + "\n", ""},
		{"automountServiceAccountToken: false", "automountServiceAccountToken: true"},
		{`subPath: "src/auth"`, `subPath: "../auth"`},
		{"backoffLimit: 0", "backoffLimit: 1"},
		{"restartPolicy", "restartPolice"},
		{"emptyDir:", "hostPath:"},
		{"  namespace:", "  name: \"twice\"\n  namespace:"},
	} {
		changed := strings.Replace(string(text), c.old, c.new, 1)
		if changed == string(text) {
			t.Fatalf("no %q in the golden file", c.old)
		}
		if m, err := decode([]byte(changed)); err == nil && m.problems() == nil {
			t.Errorf("nothing complains about %q", c.new)
		}
	}
}

// TestRandom decodes what random confinements with hostile names render to, and finds the
// names again exactly.
func TestRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := draw(t)
		set := map[string]string{
			"kind":    rapid.SampledFrom([]string{"job", "pod"}).Draw(t, "kind"),
			"name":    rapid.String().Draw(t, "name"),
			"command": rapid.StringMatching(`[^\x00]*`).Draw(t, "command"),
		}
		out := kubernetes.Render(&c, compilers.Input{Set: set, Version: rapid.String().Draw(t, "version")})
		if err := out.Diagnostics.Err(); err != nil {
			t.Fatal(err)
		}
		m, err := decode(out.Text)
		if err != nil {
			t.Fatal(err)
		}
		if p := m.problems(); p != nil {
			t.Fatalf("%s\n%s", strings.Join(p, "\n"), out.Text)
		}
		_, spec := m.template()
		container := spec.Containers[0]
		if want := strings.ReplaceAll(set["command"], "$", "$$"); want != "" && container.Command[2] != want {
			t.Fatalf("command %q, want %q", container.Command[2], want)
		}
		for _, e := range c.Plan[1:] {
			i := slices.IndexFunc(container.VolumeMounts, func(v corev1.VolumeMount) bool { return v.MountPath == "/workspace/"+e.Path })
			if i < 0 {
				t.Fatalf("%q is not mounted", e.Path)
			}
			mount := container.VolumeMounts[i]
			if e.Mode != confine.Hidden && mount.SubPath != e.Path || mount.ReadOnly != (e.Mode != confine.ReadWrite) {
				t.Fatalf("%+v is mounted as %+v", e, mount)
			}
		}
		limits := container.Resources.Limits
		if n := c.Limits.Memory; n != nil && limits.Memory().Value() != *n {
			t.Fatalf("memory %v, want %d", limits.Memory(), *n)
		}
		if n := c.Limits.CPU; n != nil && limits.Cpu().MilliValue() > max(1, int64(*n*1000+0.5)) {
			t.Fatalf("cpu %v, want at most %v", limits.Cpu(), *n)
		}
	})
}

// draw makes a confinement whose plan is one visible directory with named things in it.
func draw(t *rapid.T) confine.Confinement {
	name := rapid.Custom(func(t *rapid.T) string {
		return strings.NewReplacer("/", "", ":", "", "\x00", "").Replace(rapid.String().Draw(t, "text"))
	}).Filter(func(s string) bool { return s != "" && s != "." && s != ".." })
	c := confine.Confinement{
		Plan:       []confine.Entry{{Path: ".", Mode: confine.ReadOnly, Kind: confine.Dir}},
		SearchPath: rapid.StringMatching(`[^\x00]*`).Draw(t, "path"),
	}
	for _, n := range rapid.SliceOfNDistinct(name, 0, 6, rapid.ID).Draw(t, "names") {
		c.Plan = append(c.Plan, confine.Entry{
			Path: n,
			Mode: confine.Mode(rapid.IntRange(0, 2).Draw(t, "mode")),
			Kind: confine.Kind(rapid.IntRange(0, 1).Draw(t, "kind")),
		})
	}
	for _, n := range rapid.SliceOfN(rapid.String(), 0, 4).Draw(t, "variables") {
		c.Env = append(c.Env, confine.Env{Name: n, Set: rapid.Bool().Draw(t, "set")})
	}
	for range rapid.IntRange(0, 3).Draw(t, "endpoints") {
		c.Network.Allow = append(c.Network.Allow, confine.Endpoint{
			Host:     rapid.SampledFrom([]string{"", "*", "example.org", "192.0.2.1", "::1", "a\nb"}).Draw(t, "host"),
			CIDR:     rapid.SampledFrom([]string{"", "10.1.2.3/8", "2001:db8::/32", "no"}).Draw(t, "cidr"),
			Protocol: rapid.SampledFrom([]string{"", "tcp", "UDP", "icmp"}).Draw(t, "protocol"),
			Port:     rapid.IntRange(-1, 70000).Draw(t, "port"),
		})
	}
	c.Network.Open = rapid.Bool().Draw(t, "open")
	c.Network.Deny = rapid.SliceOfN(rapid.SampledFrom([]string{"*", "10.0.0.0/9", "evil.example", "::1"}), 0, 2).Draw(t, "deny")
	c.System = []confine.Mount{{Path: "/" + rapid.String().Draw(t, "mount"), Type: "tmpfs", Size: rapid.Int64Range(0, 1<<40).Draw(t, "size")}}
	if rapid.Bool().Draw(t, "limits") {
		memory, wall, cpu := rapid.Int64Min(1).Draw(t, "memory"), rapid.Int64().Draw(t, "wall"), rapid.Float64Range(1e-6, 1e4).Draw(t, "cpu")
		c.Limits = confine.Limits{Memory: &memory, WallTime: &wall, CPU: &cpu, Tmpfs: &memory}
	}
	return c
}
