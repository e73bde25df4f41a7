package lint

import (
	"math/rand/v2"
	"testing"

	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/registry"
)

// fixed is a text after every certain edit.
func fixed(t *testing.T, reg *registry.Registry, in Input) string {
	t.Helper()
	src := in.Views[0].Source
	text, ok := Apply(Run(in, detectors()))[src]
	if !ok {
		return string(src.Text)
	}
	return string(text)
}

func TestFix(t *testing.T) {
	reg := vocabulary(t)
	w := worldOf(t, reg, smellWorld)
	tests := []struct{ name, view, want string }{
		{"nothing", "tool { allow: true; }\n", "tool { allow: true; }\n"},
		{"a declaration of its own line", "tool {\n  allow: true;\n  allow: false;\n}\n", "tool {\n  allow: false;\n}\n"},
		{"a declaration among others", "tool { allow: true; max-level: 2; allow: false }", "tool { max-level: 2; allow: false }"},
		{"a declaration before a comment", "tool {\n  allow: true; /* old */\n  allow: false;\n}", "tool {\n  /* old */\n  allow: false;\n}"},
		{"a rule", "/* x */\ntool#Bash { allow: true; }\r\ntool#Bash { allow: false; }\n", "/* x */\ntool#Bash { allow: false; }\n"},
		{"a rule of a list stays", "tool#Bash, tool#Read { allow: true; }\ntool#Bash { allow: false; }\ntool#Read { allow: false; }\n", "tool#Bash, tool#Read { allow: true; }\ntool#Bash { allow: false; }\ntool#Read { allow: false; }\n"},
		{"importance", "tool { allow: true !important; }", "tool { allow: true; }"},
		{"importance that matters", "tool { allow: true !important; } tool#Bash { allow: false; }", "tool { allow: true !important; } tool#Bash { allow: false; }"},
		{"importance in sugar stays", "@tools { allow: Bash !important; }", "@tools { allow: Bash !important; }"},
		{"a comment that silences nothing", "tool { allow: true; } // lint-ignore drift-away: x\n/* lint-ignore dead-selector: y */\ntool { max-level: 2; }\n", "tool { allow: true; } // lint-ignore drift-away: x\ntool { max-level: 2; }\n"},
		{"what is silenced stays", "tool { allow: true !important; } /* lint-ignore important-use: z */", "tool { allow: true !important; } /* lint-ignore important-use: z */"},
		{"edits inside of each other", "tool { allow: false; allow: true; }\ntool { allow: true !important; }", "tool { allow: true; }\ntool { allow: true; }"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := fixed(t, reg, input(t, reg, w, tt.view)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestFixKeepsThePolicy holds random views to the same answers after every certain edit,
// in other worlds too, and SamePolicy to what it says.
func TestFixKeepsThePolicy(t *testing.T) {
	reg := vocabulary(t)
	w, other := bigWorld(t, reg, 200), bigWorld(t, reg, 2500)
	changed := 0
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 7))
		text := bigView(80, 200, r)
		text += text[:len(text)/3] // so that rules stand there twice
		if _, list := parser.Parse(&diag.Source{Name: "x", Text: []byte(text)}); list.HasErrors() {
			text = bigView(80, 200, r)
		}
		in := input(t, reg, w, text)
		got := fixed(t, reg, in)
		if got == text {
			continue
		}
		changed++
		after := input(t, reg, w, got)
		same := SamePolicy(in.Resolution.Bound(), after.Resolution.Bound())
		if same && !SameAnswers(in.Resolution, after.Resolution) {
			t.Fatalf("seed %d: the answers differ", seed)
		}
		if same && !SameAnswers(resolved(t, cascade.New(other, in.Resolution.Bound())), resolved(t, cascade.New(other, after.Resolution.Bound()))) {
			t.Fatalf("seed %d: the answers differ in another world", seed)
		}
		if !same {
			t.Fatalf("seed %d: edits that are called certain change the policy\n%s\n---\n%s", seed, text, got)
		}
	}
	if changed < 10 {
		t.Errorf("only %d views had anything to mend", changed)
	}
}

func resolved(t *testing.T, e *cascade.Engine) *cascade.Resolution {
	t.Helper()
	r, list := e.Resolve(nil)
	if list.HasErrors() {
		t.Fatal(list)
	}
	return r
}

func TestSamePolicy(t *testing.T) {
	reg := vocabulary(t)
	w := worldOf(t, reg, smellWorld)
	tests := []struct {
		before, after string
		want          bool
	}{
		{"tool { allow: true; }", "tool { allow: true; }", true},
		{"tool { allow: true; }", "tool { allow: false; }", false},
		{"tool { allow: true; }", "", false},
		{"", "tool { allow: true; }", false},
		{"tool { allow: true; } tool { allow: false; }", "tool { allow: false; }", true},
		{"tool { allow: true; } tool { allow: false; }", "tool { allow: true; }", false},
		{"tool.x { allow: true; } tool { allow: false; }", "tool { allow: false; }", false},
		{"tool { allow: true !important; }", "tool { allow: true; }", true},
		{"tool { allow: true !important; } tool#x { allow: false; }", "tool { allow: true; } tool#x { allow: false; }", false},
		{"tool { max-level: 2; } tool { max-level: 3; }", "tool { max-level: 3; }", false},
		{"file { editable: false !locked; }", "file { editable: false; }", false},
		{"@layer a { tool { allow: true; } }", "tool { allow: true; }", false},
	}
	for _, tt := range tests {
		a, b := input(t, reg, w, tt.before), input(t, reg, w, tt.after)
		if got := SamePolicy(a.Resolution.Bound(), b.Resolution.Bound()); got != tt.want {
			t.Errorf("%q and %q: %v", tt.before, tt.after, got)
		}
	}
}
