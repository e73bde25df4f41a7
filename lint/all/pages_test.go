package all_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"umwelt/ast"
	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/lint"
	"umwelt/lint/all"
	"umwelt/parser"
	"umwelt/registry"
	"umwelt/sandbox"
	"umwelt/simulation"
	"umwelt/world"
)

var update = flag.Bool("update", false, "write what is found into the pages of docs/lint")

const pages = "../../docs/lint"

// page is the page of one detector: its fenced blocks by the heading that they stand under
// and by their language.
type page struct {
	path, text string
	blocks     map[string]string
}

func readPage(t *testing.T, name string) page {
	t.Helper()
	p := page{path: filepath.Join(pages, name+".md"), blocks: map[string]string{}}
	text, err := os.ReadFile(p.path)
	if err != nil {
		t.Fatal(err)
	}
	p.text = string(text)
	heading, key := "", ""
	for line := range strings.Lines(p.text) {
		switch {
		case strings.HasPrefix(line, "```") && key == "":
			key = heading + " " + strings.TrimSpace(line[3:])
			p.blocks[key] = ""
		case strings.HasPrefix(line, "```"):
			key = ""
		case key != "":
			p.blocks[key] += line
		case strings.HasPrefix(line, "## "):
			heading = strings.TrimSpace(line[3:])
		}
	}
	return p
}

// vocabulary is what ships with the tool, and what the views define.
func vocabulary(t testing.TB, views ...*ast.View) (*registry.Registry, diag.List) {
	t.Helper()
	reg := registry.New()
	for _, src := range []*diag.Source{simulation.Vocabulary(), sandbox.Vocabulary()} {
		v, list := parser.Parse(src)
		if list.HasErrors() {
			t.Fatal(list)
		}
		views = append([]*ast.View{v}, views...)
	}
	list := reg.Load(registry.Options{}, views...)
	if err := sandbox.Register(reg); err != nil {
		t.Fatal(err)
	}
	return reg, list
}

// findings are what the detectors find in a text over a world.
func findings(t *testing.T, view, worldText, baseline string) []lint.Finding {
	t.Helper()
	v, diags := parser.Parse(&diag.Source{Name: "v.umw", Text: []byte(view)})
	reg, list := vocabulary(t, v)
	w, worldList := world.LoadText(&diag.Source{Name: "w.world.yml", Text: []byte(worldText)}, "", world.Options{Registry: reg, Root: t.TempDir()})
	bound := reg.Bind(registry.Options{}, v)
	if diags = slices.Concat(diags, list, worldList, bound.Diagnostics); len(diags) > 0 {
		t.Fatalf("%v in\n%s%s", diags, view, worldText)
	}
	res, diags := cascade.New(w, bound).Resolve(nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	in := lint.Input{Views: []*ast.View{v}, Resolution: res, Targets: []lint.Target{{Name: "bwrap", Altitude: registry.OS}}}
	if baseline != "" {
		b, err := lint.ReadBaseline("approved.json", []byte(baseline))
		if err != nil {
			t.Fatal(err)
		}
		in.Baseline = b
	}
	disabled := []string{}
	if !strings.Contains(view, "/* for bwrap */") {
		disabled = append(disabled, lint.UnrealizableAltitude.Name)
	}
	return lint.Run(in, all.Detectors(), disabled...)
}

func rendered(t *testing.T, found []lint.Finding) string {
	t.Helper()
	var b bytes.Buffer
	for _, x := range found {
		if x.Silenced == "" {
			if err := diag.Render(&b, x.Diagnostic, false); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b.String()
}

func about(found []lint.Finding, name string) (open, silenced int) {
	for _, x := range found {
		switch {
		case string(x.Code) != name:
		case x.Silenced != "":
			silenced++
		default:
			open++
		}
	}
	return open, silenced
}

func unsilenced(found []lint.Finding) int {
	n := 0
	for _, x := range found {
		if x.Silenced == "" {
			n++
		}
	}
	return n
}

// TestPages runs the examples of every page: the first one has the smell and nothing else,
// what it prints stands behind it, the mended one is clean, and a comment silences it.
func TestPages(t *testing.T) {
	for _, d := range all.Detectors() {
		t.Run(d.Name, func(t *testing.T) {
			p := readPage(t, d.Name)
			if !strings.HasPrefix(p.text, "# "+d.Name+"\n\n") || !strings.Contains(p.text, "\n## Why it matters\n") {
				t.Error("the page does not begin as the others do")
			}
			if gravest := "Gravest severity: " + d.Severity.String(); !strings.Contains(p.text, gravest) {
				t.Errorf("the page does not say %q", gravest)
			}
			worldText, baseline := p.blocks["Example yaml"], p.blocks["Example json"]
			found := findings(t, p.blocks["Example umw"], worldText, baseline)
			if open, _ := about(found, d.Name); open == 0 || open != unsilenced(found) {
				t.Errorf("the example gives\n%s", rendered(t, found))
			}
			if got := rendered(t, found); got != p.blocks["Example text"] {
				if *update {
					text := strings.Replace(p.text, "```text\n"+p.blocks["Example text"]+"```", "```text\n"+got+"```", 1)
					if err := os.WriteFile(p.path, []byte(text), 0o644); err != nil {
						t.Fatal(err)
					}
				} else {
					t.Errorf("the example prints\n%s", got)
				}
			}
			mendedWorld := worldText
			if w, ok := p.blocks["How to mend it yaml"]; ok {
				mendedWorld = w
			}
			mended := p.blocks["How to mend it umw"]
			if mended == "" {
				mended = p.blocks["Example umw"]
			}
			if found := findings(t, mended, mendedWorld, baseline); unsilenced(found) > 0 {
				t.Errorf("what is mended gives\n%s", rendered(t, found))
			}
			if d.Name == lint.UnusedIgnore.Name {
				return
			}
			silencedView, silencedWorld := p.blocks["How to leave it umw"], worldText
			if w, ok := p.blocks["How to leave it yaml"]; ok {
				silencedView, silencedWorld = p.blocks["Example umw"], w
			}
			found = findings(t, silencedView, silencedWorld, baseline)
			if open, silenced := about(found, d.Name); open > 0 || silenced == 0 {
				t.Errorf("the comment leaves %d open and silences %d:\n%s", open, silenced, rendered(t, found))
			}
		})
	}
}

// TestIndex holds the list of pages to the list of detectors.
func TestIndex(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(pages, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := ""
	for _, d := range all.Detectors() {
		rows += fmt.Sprintf("| [%s](%s.md) | %s | %s |\n", d.Name, d.Name, d.Severity, d.Summary)
	}
	if !strings.Contains(string(text), rows) {
		if *update {
			const head = "|---|---|---|\n"
			begin := strings.Index(string(text), head) + len(head)
			end := begin
			for strings.HasPrefix(string(text[end:]), "|") {
				end += strings.IndexByte(string(text[end:]), '\n') + 1
			}
			if err := os.WriteFile(filepath.Join(pages, "README.md"), []byte(string(text[:begin])+rows+string(text[end:])), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		t.Errorf("docs/lint/README.md does not list the detectors; run with -update")
	}
	files, err := filepath.Glob(filepath.Join(pages, "*.md"))
	if err != nil || len(files) != len(all.Detectors())+1 {
		t.Errorf("there are %d pages for %d detectors: %v", len(files), len(all.Detectors()), err)
	}
}
