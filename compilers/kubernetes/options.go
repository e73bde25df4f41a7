package kubernetes

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/diag"
)

// options are the target options, checked and with their defaults filled in.
type options struct {
	kind      string // "job" or "pod"
	name      string // a DNS label, of every object
	namespace string // "" to leave it to the reader
	claim     string // the PersistentVolumeClaim that holds the project
	secret    string // the Secret that holds the values of environment variables
	image     string
	command   string // for /bin/sh -c; "" for the image's own
	workdir   string // absolute and clean: where the project stands
	user      int64
	version   string // of the tool; may be empty
}

func targetOptions() []compilers.Option {
	return []compilers.Option{
		{Key: "kind", Default: "job", Description: "the object that runs the actor", Values: []string{"job", "pod"}},
		{Key: "name", Description: "name of the objects (default: the world's name, made a DNS label)"},
		{Key: "namespace", Description: "namespace of the objects (default: whatever the reader of the text uses)"},
		{Key: "claim", Default: "workspace", Description: "PersistentVolumeClaim that holds the project"},
		{Key: "env-secret", Description: "Secret that holds the values of environment variables (default: NAME-env)"},
		{Key: "image", Default: "debian:stable-slim", Description: "container image"},
		{Key: "command", Description: "command line for /bin/sh -c in the container (default: the image's own command)"},
		{Key: "workdir", Default: "/workspace", Description: "absolute path at which the project stands in the container"},
		confine.NewFiles,
		{Key: "user", Default: "1000", Description: "user and group number the actor runs as; not 0"},
	}
}

// readOptions checks the target options. world is the name to fall back on. What refers
// to an object that exists elsewhere is taken as it is or refused: changing it would
// point at another object.
func readOptions(get func(key string) string, world, version string) (options, diag.List) {
	var bad diag.List
	o := options{
		kind:      get("kind"),
		name:      dnsLabel(first(get("name"), world, "umwelt")),
		namespace: get("namespace"),
		claim:     get("claim"),
		secret:    get("env-secret"),
		image:     get("image"),
		command:   get("command"),
		workdir:   get("workdir"),
		version:   version,
	}
	o.secret = first(o.secret, o.name+"-env")
	wrong := func(key, want string) {
		bad.Errorf(diag.BadOption, diag.Span{}, "kubernetes: %s=%s is not %s", key, diag.Quote(get(key)), want)
	}
	if o.kind != "job" && o.kind != "pod" {
		wrong("kind", "job or pod")
	}
	if o.namespace != "" && !isLabel(o.namespace) {
		wrong("namespace", "a DNS label")
	}
	if !isSubdomain(o.claim) {
		wrong("claim", "the name of a PersistentVolumeClaim")
	}
	if !isSubdomain(o.secret) {
		wrong("env-secret", "the name of a Secret")
	}
	if !isImage(o.image) {
		wrong("image", "an image reference")
	}
	if !utf8.ValidString(o.command) || strings.ContainsRune(o.command, 0) {
		wrong("command", "UTF-8 text without NUL")
	}
	if badMountPath(o.workdir) != "" || !path.IsAbs(o.workdir) || path.Clean(o.workdir) != o.workdir || o.workdir == "/" {
		wrong("workdir", "a clean absolute path below /, in UTF-8 and without a colon")
	}
	var err error
	if o.user, err = strconv.ParseInt(get("user"), 10, 32); err != nil || o.user < 1 {
		wrong("user", "a user number from 1 to 2147483647")
	}
	return o, bad
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

const maxLabel = 63

var (
	labelPattern     = pattern(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	subdomainPattern = pattern(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	notLabel         = pattern(`[^a-z0-9]+`)
)

func isLabel(s string) bool     { return len(s) <= maxLabel && labelPattern().MatchString(s) }
func isSubdomain(s string) bool { return len(s) <= 253 && subdomainPattern().MatchString(s) }

func isImage(s string) bool {
	return s != "" && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	})
}

// dnsLabel makes a DNS label of any text. A text that is not one already gets a suffix
// from its hash, so that two different texts keep different names.
func dnsLabel(s string) string {
	if isLabel(s) {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	suffix := hex.EncodeToString(sum[:4])
	stem := strings.Trim(notLabel().ReplaceAllString(strings.ToLower(s), "-"), "-")
	stem = strings.TrimRight(stem[:min(len(stem), maxLabel-len(suffix)-1)], "-")
	return first(stem, "umwelt") + "-" + suffix
}

// pattern compiles an expression when it is first used: most runs of the tool use none.
func pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
