package main

import (
	"crypto/sha256"
	"encoding/base64"
	"html"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// hostileAudit is the page of a policy whose every name tries to be markup.
func hostileAudit(t *testing.T) string {
	t.Helper()
	t.Chdir(t.TempDir())
	const name = `</code></style><script>alert(1)</script>\" onload=\"x' {{.}} <!-- \x1b[2J \u202e`
	for path, text := range map[string]string{
		"umwelt.world.yml": "name: \"" + name + "\"\nmodes: [\"" + name + "\"]\nentities:\n  - { type: tool, id: \"" + name + "\", classes: [\"" + name + "\"] }\n" +
			"  - { type: file, id: \"" + name + "\", attributes: { path: \"" + name + "\" } }\n",
		"v.umw":   "tool { allow: true; deny-pattern: \"</code><script>\"; require: \"</style><script>\" }\nfile { visible: true }\n",
		"old.umw": "tool { allow: false; deny-pattern: \"<b>\" }\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	std, out, errs := memoryStreams()
	if status := run([]string{"audit", "v.umw", "--baseline", "old.umw", "--format", "html"}, std); status != exitFindings {
		t.Fatalf("exit status %d\n%s", status, errs)
	}
	return out.String()
}

// TestAuditIsInert finds nothing in the page but the tags and attributes that the template
// writes.
func TestAuditIsInert(t *testing.T) {
	page := hostileAudit(t)
	style := regexp.MustCompile(`(?s)<style>(.*?)</style>`)
	rest := style.ReplaceAllString(page, "")
	tags := strings.Fields("html head meta title style body header h1 h2 h3 p span nav a main section table thead tbody tr th td details summary article small code dl dt dd br ul li b div")
	attributes := strings.Fields("lang charset http-equiv content name class href id")
	seen := 0
	for _, m := range regexp.MustCompile(`<[^>]*>`).FindAllString(rest, -1) {
		seen++
		words := regexp.MustCompile(`^</?([a-z0-9]+)((?: [a-z-]+="[^"<>]*")*)>$`).FindStringSubmatch(m)
		if m == "<!doctype html>" {
			continue
		}
		if words == nil || !slices.Contains(tags, words[1]) {
			t.Fatalf("the page holds %q", m)
		}
		for _, a := range regexp.MustCompile(` ([a-z-]+)="([^"]*)"`).FindAllStringSubmatch(words[2], -1) {
			if !slices.Contains(attributes, a[1]) || a[1] == "href" && !strings.HasPrefix(a[2], "#") {
				t.Fatalf("the page holds %q", m)
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d tags were looked at", seen)
	}
	if strings.ContainsAny(page, "\x1b\u202e") {
		t.Error("a control character is written")
	}
}

// TestAuditAllowsItsStyle holds the page to its own policy: the one style that a browser
// may apply is the one that is there.
func TestAuditAllowsItsStyle(t *testing.T) {
	page := hostileAudit(t)
	style := regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindAllStringSubmatch(page, -1)
	policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)
	if len(style) != 1 || policy == nil {
		t.Fatalf("%d styles, policy %q", len(style), policy)
	}
	sum := sha256.Sum256([]byte(style[0][1]))
	want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
	if got := html.UnescapeString(policy[1]); got != want {
		t.Errorf("the policy is %q, want %q", got, want)
	}
}
