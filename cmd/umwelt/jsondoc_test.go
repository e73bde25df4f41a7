package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the examples of docs/json.md")

// block is a fenced block of docs/json.md after the comment that says what it is:
// "file: NAME" for a file of the example, else a command, or several with " && " between
// them, and what the last one writes.
var block = regexp.MustCompile("(?s)<!-- ([^\n]*) -->\n+```[a-z]*\n(.*?)```")

// words are the words of a command; single quotes keep blanks in one.
var words = regexp.MustCompile(`'[^']*'|\S+`)

// TestJSONReference runs every example of docs/json.md and compares what it prints.
func TestJSONReference(t *testing.T) {
	path, err := filepath.Abs("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "0")
	t.Chdir(t.TempDir())
	commands := 0
	got := block.ReplaceAllStringFunc(string(page), func(b string) string {
		m := block.FindStringSubmatch(b)
		if name, ok := strings.CutPrefix(m[1], "file: "); ok {
			if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(m[2]), 0o666); err != nil {
				t.Fatal(err)
			}
			return b
		}
		commands++
		text := ""
		for command := range strings.SplitSeq(m[1], " && ") {
			std, out, errs := memoryStreams()
			var args []string
			for _, word := range words.FindAllString(command, -1)[1:] {
				args = append(args, strings.Trim(word, "'"))
			}
			if status := run(args, std); status == exitUnusable {
				t.Fatalf("%s: exit status %d\n%s", m[1], status, errs)
			}
			text = out.String()
		}
		if report, err := os.ReadFile("coverage.json"); err == nil {
			text = string(report)
			os.Remove("coverage.json")
		}
		return b[:strings.Index(b, "```json\n")] + "```json\n" + text + "```"
	})
	if commands < 8 {
		t.Errorf("%d examples were run: are the comments still read?", commands)
	}
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != string(page) {
		t.Errorf("docs/json.md does not show what the commands print: go test ./cmd/umwelt -run JSONReference -update, and look at the difference")
	}
}
