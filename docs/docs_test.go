// Package docs holds the documentation. Its tests run every example in it.
package docs

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"umwelt"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/registry"
	"umwelt/world"
)

var update = flag.Bool("update", false, "write the output of the commands into the documents")

// home is where the documents pretend to be; the temporary directory of the test is
// printed as this.
const home = "/home/ada/umwelt"

// block is one fenced block of a document.
type block struct {
	lang string
	line int // of its first line of content, 0-based, in the document's lines
	text []string
}

func documents(t *testing.T) []string {
	t.Helper()
	out := []string{"../README.md"}
	for _, pattern := range []string{"*.md", "targets/*.md", "reference/*.md", "lint/*.md", "ratchet/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, files...)
	}
	return out
}

func blocks(text string) []block {
	var out []block
	open := -1
	lines := strings.Split(text, "\n")
	lang := ""
	for i, line := range lines {
		if !strings.HasPrefix(line, "```") {
			continue
		}
		if open < 0 {
			open, lang = i+1, strings.TrimPrefix(line, "```")
			continue
		}
		out = append(out, block{lang, open, lines[open:i]})
		open = -1
	}
	return out
}

// TestViewsInTheDocumentsAreRight parses and binds every umw block and loads every yaml
// block that is a world file.
func TestViewsInTheDocumentsAreRight(t *testing.T) {
	reg, list := umwelt.Vocabulary(nil)
	if list.HasErrors() {
		t.Fatal(list.Err())
	}
	seen := 0
	for _, path := range documents(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range blocks(string(text)) {
			src := &diag.Source{Name: path, Text: []byte(strings.Repeat("\n", b.line) + strings.Join(b.text, "\n"))}
			var list diag.List
			switch b.lang {
			case "umw":
				v, l := parser.Parse(src)
				list = append(l, reg.Bind(registry.Options{}, v).Diagnostics...)
			case "yaml":
				if filepath.Dir(path) == "targets" {
					continue // what a target reads, tested beside its compiler
				}
				o := umwelt.WorldOptions(umwelt.Options{Root: t.TempDir()}, reg)
				_, list = world.LoadText(src, "", o)
			default:
				continue
			}
			seen++
			for _, d := range list {
				if d.Severity == diag.Error || b.lang == "umw" {
					t.Error(d)
				}
			}
		}
	}
	if seen < 5 {
		t.Errorf("only %d blocks", seen)
	}
}

// TestCommandsInTheDocumentsPrintWhatTheyShow runs the "$ " lines of console blocks in a
// copy of the examples and compares what they print, standard error included. A line
// that is "…" stands for any lines.
func TestCommandsInTheDocumentsPrintWhatTheyShow(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	run(t, "..", append(os.Environ(), "CGO_ENABLED=0"), "go", "build", "-o", filepath.Join(bin, "umwelt"), "./cmd/umwelt")
	for _, tree := range []string{"examples", "testdata/vocabularies"} {
		if err := os.CopyFS(filepath.Join(dir, "umwelt", tree), os.DirFS(filepath.Join("..", tree))); err != nil {
			t.Fatal(err)
		}
	}
	env := append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+dir, "NO_COLOR=1", "LC_ALL=C", "CI=true", "LANG=C.UTF-8")
	seen := 0
	for _, path := range documents(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		all := blocks(string(text))
		got := make([][]string, len(all)) // in the order of the document: one may use what another left
		for i, b := range all {
			if b.lang == "console" {
				seen++
				got[i] = session(t, b, filepath.Join(dir, "umwelt"), env)
			}
		}
		// From the last block to the first, so that an update moves nothing that is still
		// to come.
		for i := len(all) - 1; i >= 0; i-- {
			if all[i].lang != "console" {
				continue
			}
			got := got[i]
			if *update {
				lines = append(lines[:all[i].line], append(got, lines[all[i].line+len(all[i].text):]...)...)
			} else if !fits(all[i].text, got) {
				t.Errorf("%s:%d: got\n%s\nwant\n%s", path, all[i].line+1, strings.Join(got, "\n"), strings.Join(all[i].text, "\n"))
			}
		}
		if *update {
			if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if seen == 0 {
		t.Error("no console blocks")
	}
}

// session runs the commands of a block and gives the block as it should read. Where a
// command's old output was shortened with "…", the new one is kept as it was if it fits.
func session(t *testing.T, b block, dir string, env []string) []string {
	t.Helper()
	var got []string
	for i := 0; i < len(b.text); {
		line := b.text[i]
		if !strings.HasPrefix(line, "$ ") {
			t.Fatalf("line %d of the block at %d is no command", i, b.line)
		}
		next := i + 1
		for next < len(b.text) && !strings.HasPrefix(b.text[next], "$ ") {
			next++
		}
		out := run(t, dir, env, "sh", "-c", strings.TrimPrefix(line, "$ "))
		out = strings.ReplaceAll(out, dir, home)
		var shown []string
		if out = strings.TrimRight(out, "\n"); out != "" {
			shown = strings.Split(out, "\n")
		}
		if old := b.text[i+1 : next]; fits(old, shown) {
			shown = old
		}
		got = append(append(got, line), shown...)
		i = next
	}
	return got
}

// fits reports whether the lines are the pattern's, where "…" stands for any lines.
func fits(pattern, lines []string) bool {
	var re strings.Builder
	re.WriteString(`\A`)
	for _, p := range pattern {
		if strings.TrimSpace(p) == "…" {
			re.WriteString(`(?:.*\n)*?`)
		} else {
			re.WriteString(regexp.QuoteMeta(p) + `\n`)
		}
	}
	re.WriteString(`\z`)
	text := strings.Join(lines, "\n")
	if len(lines) > 0 {
		text += "\n"
	}
	return regexp.MustCompile(re.String()).MatchString(text)
}

// run runs a command and gives what it printed, whatever its exit status; a command that
// cannot start fails the test.
func run(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if name == "go" && !cmd.ProcessState.Success() {
		t.Fatal(out.String())
	}
	return out.String()
}
