package claude

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"umwelt/ratchet"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// told is what reading gave, as lines and then the tally.
func told(t *testing.T, in ratchet.Input) string {
	t.Helper()
	var b []byte
	tally, err := Source.Read(in, func(o ratchet.Observation) error {
		o.At.File = filepath.Base(o.At.File)
		var err error
		b, err = ratchet.Append(b, &o)
		if err == nil {
			if again, perr := ratchet.Parse(bytes.TrimSpace(b[bytes.LastIndexByte(b[:len(b)-1], '\n')+1:])); perr != nil {
				t.Errorf("%+v: %v", again, perr)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	out := bytes.NewBuffer(b)
	fmt.Fprintf(out, "records %d, observations %d\n", tally.Records, tally.Observations)
	for _, g := range tally.Gaps {
		fmt.Fprintf(out, "%s: %d of %s, first at line %d\n", g.Kind, g.Count, g.What, g.First[0].Line)
	}
	if tally.Partial {
		fmt.Fprintf(out, "partial: %s\n", tally.Why)
	}
	return out.String()
}

func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) < 7 {
		t.Fatal(files, err)
	}
	for _, name := range append(files, "testdata") {
		t.Run(filepath.Base(name), func(t *testing.T) {
			got := told(t, ratchet.Input{Name: name})
			if strings.Contains(got, "SECRET ") || strings.Contains(got, `SECRET"`) || strings.Contains(got, "hunter2") || strings.Contains(got, "abcdefgh12345") {
				t.Error("a secret, or what a tool gave back, is in an observation")
			}
			golden := name + ".golden"
			if name == "testdata" {
				golden = "testdata/all.golden"
			}
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil || got != string(want) {
				t.Errorf("%v\ngot\n%s\nwant\n%s", err, got, want)
			}
		})
	}
}

// TestTruth writes a transcript of one call and holds what is read of it to what is known
// to have happened.
func TestTruth(t *testing.T) {
	const user, rule = "The user doesn't want to proceed with this tool use. The tool use was rejected", "Permission to use Bash with command x has been denied."
	for _, tt := range []struct{ name, tool, input, result, want string }{
		{"two commands", "Bash", `{"command": "git log && curl x"}`, `"content": "ok"`, "call tool Bash (git log && curl x)\nexec exec git\nexec exec curl"},
		{"the second is not sure", "Bash", `{"command": "git log && curl x"}`, `"content": "Exit code 1", "is_error": true`, "call tool Bash (git log && curl x)\nexec exec git\nunresolved a command that may not have run"},
		{"neither is sure", "Bash", `{"command": "git log || curl x"}`, `"content": "ok"`, "call tool Bash (git log || curl x)\nexec exec git\nunresolved a command that may not have run"},
		{"refused by the user", "Bash", `{"command": "git log > x"}`, `"content": "` + user + `", "is_error": true`, "call tool Bash (git log > x) denied: the user refused it"},
		{"refused by a rule", "Bash", `{"command": "x"}`, `"content": [{"type": "text", "text": "` + rule + `"}], "is_error": true`, "call tool Bash (x) denied: it was not permitted"},
		{"only quotes a refusal", "Bash", `{"command": "x"}`, `"content": "Exit code 1\n` + user + `", "is_error": true`, "call tool Bash (x)\nexec exec x"},
		{"no error", "Read", `{"file_path": "/w/a"}`, `"content": "` + user + `"`, "call tool Read (/w/a)\nread file /w/a"},
		{"relative", "Edit", `{"file_path": "sub/../b"}`, `"content": ""`, "call tool Edit (sub/../b)\nwrite file /w/b"},
		{"a failure", "Read", `{"file_path": "/w/a"}`, `"content": "no such file", "is_error": true`, "call tool Read (/w/a) failed: the tool reported an error\nread file /w/a failed: the tool reported an error"},
		{"what was written is not told", "Write", `{"file_path": "/w/a", "content": "hush"}`, `"content": "hush"`, "call tool Write (/w/a)\nwrite file /w/a"},
		{"an unknown tool", "New", `{"x": 1}`, `"content": "ok"`, "call tool New ()"},
		{"an MCP tool", "mcp__a_b__c__d", `{"path": "p"}`, `"content": "ok"`, "call tool mcp__a_b__c__d (p) kit a_b"},
		{"redirections", "Bash", `{"command": "cd s && sort < i > ../o 2>> /e; echo x > $F"}`, `"content": "ok"`,
			"call tool Bash (cd s && sort < i > ../o 2>> /e; echo x > $F)\nunresolved a command that may not have run\nunresolved the path of a redirection"},
		{"redirections that are sure", "Bash", `{"command": "cd s && sort < i > ../o 2>> /e"}`, `"content": "ok"`,
			"call tool Bash (cd s && sort < i > ../o 2>> /e)\nread file /w/s/i\nwrite file /w/o\nwrite file /e\nexec exec sort"},
		{"a script", "Bash", `{"command": "./run.sh && /bin/ls"}`, `"content": "ok"`, "call tool Bash (./run.sh && /bin/ls)\nexec exec /w/run.sh\nexec exec /bin/ls"},
		{"a host", "WebFetch", `{"url": "https://u:p@EXAMPLE.com:8443/x"}`, `"content": "ok"`, "call tool WebFetch (https://REDACTED@EXAMPLE.com:8443/x)\nconnect network example.com:8443"},
		{"a host of six", "WebFetch", `{"url": "http://[::1]/"}`, `"content": "ok"`, "call tool WebFetch (http://[::1]/)\nconnect network [::1]:80"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := `{"type":"assistant","cwd":"/w","uuid":"1","message":{"content":[{"type":"tool_use","id":"i","name":"` + tt.tool + `","input":` + tt.input + "}]}}\n" +
				`{"type":"user","cwd":"/w","uuid":"2","message":{"content":[{"type":"tool_result","tool_use_id":"i",` + strings.ReplaceAll(tt.result, "\n", `\n`) + "}]}}\n"
			var got []string
			tally, err := From(strings.NewReader(text), "f", "", func(o ratchet.Observation) error {
				line := fmt.Sprintf("%s %s %s", o.Verb, o.Type, o.ID)
				if o.Verb == ratchet.Call {
					line += " (" + o.Attribute("call") + ")"
				}
				if kit := o.Attribute("kit"); kit != "" {
					line += " kit " + kit
				}
				if o.Outcome != ratchet.Allowed {
					line += " " + string(o.Outcome) + ": " + o.Reason
				}
				got = append(got, line)
				return nil
			})
			for _, g := range tally.Gaps {
				got = append(got, string(g.Kind)+" "+g.What)
			}
			if out := strings.Join(got, "\n"); err != nil || out != tt.want || tally.Partial {
				t.Errorf("%v, partial: %v\ngot  %s\nwant %s", err, tally.Partial, out, tt.want)
			}
		})
	}
}

func TestBounds(t *testing.T) {
	none := func(ratchet.Observation) error { return nil }
	long := `{"type":"user","message":"` + strings.Repeat("x", ratchet.MaxLine) + "\"}\n"
	tally, err := From(strings.NewReader(long+`{"type":"summary"}`+"\n"), "f", "", none)
	if err != nil || tally.Records != 2 || tally.Missed() != 1 || !tally.Partial {
		t.Errorf("%v, %+v", err, tally)
	}
	var b strings.Builder
	for i := range 3 * mostWaiting {
		fmt.Fprintf(&b, `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"%d","name":"Read","input":{"file_path":"/a"}}]}}`+"\n", i)
	}
	s := newSession("", none)
	if err := s.read(strings.NewReader(b.String()), "f"); err != nil || len(s.waiting.calls) > mostWaiting || len(s.waiting.order) > 5*mostWaiting {
		t.Errorf("%v: %d calls wait", err, len(s.waiting.calls))
	}
	s.end()
	if n := s.sink.Tally.Missed(); n != 3*mostWaiting || !s.sink.Tally.Partial {
		t.Errorf("%d of them are counted", n)
	}
	r := remembered{set: map[string]bool{}}
	for i := range mostRemembered + 10 {
		r.add(fmt.Sprint(i))
	}
	if len(r.set) != mostRemembered || len(r.ring) != mostRemembered || !r.add("0") || r.add("100") {
		t.Errorf("%d ids are remembered", len(r.set))
	}
}

func TestWhatIsNoTranscript(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other.txt")
	if err := os.WriteFile(other, []byte("hello\n{\"a\": 1}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{other, dir, filepath.Join(dir, "gone")} {
		if _, err := Source.Read(ratchet.Input{Name: name}, func(ratchet.Observation) error { return nil }); err == nil {
			t.Errorf("%s is read", name)
		}
	}
	stop := fmt.Errorf("stop")
	if _, err := Source.Read(ratchet.Input{Name: "testdata/session.jsonl"}, func(ratchet.Observation) error { return stop }); err != stop {
		t.Errorf("an error of emit is %v", err)
	}
}

func FuzzFrom(f *testing.F) {
	for _, name := range []string{"session", "refused", "stream", "commands"} {
		text, err := os.ReadFile("testdata/" + name + ".jsonl")
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range bytes.SplitAfter(text, []byte("\n")) {
			f.Add(part)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var first []byte
		for range 2 {
			var out []byte
			tally, err := From(bytes.NewReader(text), "f", "/w", func(o ratchet.Observation) error {
				var err error
				from := len(out)
				if out, err = ratchet.Append(out, &o); err != nil {
					t.Fatalf("%+v: %v", o, err)
				}
				if _, err := ratchet.Parse(bytes.TrimSpace(out[from:])); err != nil {
					t.Fatalf("%s: %v", out[from:], err)
				}
				if (o.Type == "file" || o.Type == "dir") && !filepath.IsAbs(o.ID) {
					t.Fatalf("%s is not absolute", o.ID)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			out = fmt.Append(out, tally)
			if first == nil {
				first = out
			} else if !bytes.Equal(first, out) {
				t.Error("two readings differ")
			}
		}
	})
}

// BenchmarkRead reads a transcript over and over, beside the lines alone.
func BenchmarkRead(b *testing.B) {
	text, err := os.ReadFile("testdata/session.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	ids := regexp.MustCompile(`"(t\d\d|session-\d+)"`)
	var all []byte
	for i := range 200 {
		all = append(all, ids.ReplaceAll(text, fmt.Appendf(nil, `"%d-$1"`, i))...)
	}
	b.Run("read", func(b *testing.B) {
		b.SetBytes(int64(len(all)))
		for b.Loop() {
			if _, err := From(bytes.NewReader(all), "f", "", func(ratchet.Observation) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("lines alone", func(b *testing.B) {
		b.SetBytes(int64(len(all)))
		for b.Loop() {
			if _, err := ratchet.Lines(bytes.NewReader(all), func(int64, []byte) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
	})
}
