package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// testFiles writes a view and a test of it in the working directory.
func testFiles(t *testing.T, name string) {
	t.Helper()
	t.Chdir(t.TempDir())
	write(t, "v.umw", "tool { allow: true }\n")
	write(t, "v_test.umw.yml", "view: v.umw\nworld: { tools: [Bash] }\ncases:\n  - name: "+name+"\n    allowed: { allow: tool }\n  - name: other\n    denied: { allow: tool }\n")
}

// write makes a file appear at once, so that nobody sees half of it.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".aside", []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".aside", path); err != nil {
		t.Fatal(err)
	}
}

const hostileName = `"a # b \\ <&> \" ' \x1b[2J \u202e ]]> not ok"`

// TestTAP has a real consumer of the protocol read a report with a hostile name in it.
func TestTAP(t *testing.T) {
	need(t, "prove", "perl", have("prove"))
	testFiles(t, hostileName)
	std, out, _ := memoryStreams()
	if status := run([]string{"test", "--format", "tap"}, std); status != exitFindings {
		t.Fatalf("exit status %d\n%s", status, out)
	}
	write(t, "out.tap", out.String())
	text, err := exec.Command("prove", "-v", "-e", "cat", "out.tap").CombinedOutput()
	if err == nil || !strings.Contains(string(text), "Failed test:  2") && !strings.Contains(string(text), "Failed 1/2 subtests") || strings.Contains(string(text), "Parse errors") {
		t.Errorf("%v\n%s", err, text)
	}
	if bytes.ContainsAny(out.Bytes(), "\x1b\u202e") {
		t.Error("a control character is printed")
	}
}

func TestJUnit(t *testing.T) {
	testFiles(t, hostileName)
	std, out, _ := memoryStreams()
	if status := run([]string{"test", "--format", "junit"}, std); status != exitFindings {
		t.Fatalf("exit status %d\n%s", status, out)
	}
	var doc struct {
		Suites []struct {
			Cases []struct {
				Name    string `xml:"name,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
				} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	c := doc.Suites[0].Cases
	if len(c) != 2 || c[0].Failure != nil || c[1].Failure == nil || !strings.Contains(c[0].Name, `# b \ <&> " '`) {
		t.Errorf("%+v", c)
	}
}

// TestWatch changes what was read between two ticks.
func TestWatch(t *testing.T) {
	testFiles(t, "one")
	f := testFlags{format: "text"}
	for _, tt := range []struct {
		name   string
		change func()
		runs   int
	}{
		{"nothing changes", func() {}, 1},
		{"a view", func() { write(t, "v.umw", "tool { allow: false; visible: true }\n") }, 2},
		{"a new test file", func() {
			write(t, "w_test.umw.yml", "view: v.umw\ncases:\n  - name: one\n    denied: { allow: tool }\n")
		}, 2},
		{"a world comes", func() { write(t, "umwelt.world.yml", "tools: [Bash]\n") }, 2},
		{"a test file goes", func() { os.Remove("w_test.umw.yml") }, 2},
		{"a view goes", func() { os.Remove("v.umw") }, 2},
		{"a view comes back", func() { write(t, "v.umw", "tool { allow: false; visible: true }\n") }, 2},
	} {
		std, out, errs := memoryStreams()
		ticks := make(chan time.Time)
		done := make(chan error)
		go func() { done <- f.watchFiles(context.Background(), std, []string{"."}, ticks) }()
		ticks <- time.Time{} // taken only after the first run
		tt.change()
		ticks <- time.Time{}
		close(ticks)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(out.String(), " passed, "); n != tt.runs {
			t.Errorf("%s: %d runs, want %d\n%s%s", tt.name, n, tt.runs, out, errs)
		}
	}
}
