package parser

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"umwelt/ast"
	"umwelt/diag"
)

// benchText is about n bytes of a view as people write them: comments, several lines a
// rule, one-line rules, nesting, qualifiers, sugar and long values.
func benchText(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, `/* Package %[1]d: what a fix of the login flow may touch. */
file[path^="src/pkg%[1]d/"] { editable: true; }
file[path="src/pkg%[1]d/config.py"], file:glob("src/pkg%[1]d/**/*_test.py") {
  editable: false;   // generated
  show: signature;
}

mode#review.strict tool[name="Bash"] {
  allow: true;
  max-level: %[2]d;
  allow-pattern: "git status", "git diff *", "pytest tests/pkg%[1]d/ *";
  deny-pattern: "rm -rf *" !important;
}
world#ci {
  resource { memory: 512MB; wall-time: 1.5h; cpu: 50%%; }
  & > network[host="api%[1]d.example.com"]:not(.internal, #legacy) { allow: true }
}
@source("src/pkg%[1]d") {
  * { editable: true; }
  .fn#login_%[1]d { show: body; }
}
hook[event="after-change"] {
  run: pytest tests/pkg%[1]d/ -x --maxfail=1;
  run: ruff check src/pkg%[1]d;
  timeout: 60s;
}

`, i, i%9)
	}
	return b.String()
}

// BenchmarkParse reads 1 MB beside the reflective grammar on the same text.
func BenchmarkParse(b *testing.B) {
	src := &diag.Source{Name: "bench.umw", Text: []byte(benchText(1 << 20))}
	b.Run("hand-written", func(b *testing.B) {
		b.SetBytes(int64(len(src.Text)))
		b.ReportAllocs()
		for b.Loop() {
			if _, diags := Parse(src); len(diags) > 0 {
				b.Fatal(diags[0])
			}
		}
	})
	b.Run("participle", func(b *testing.B) {
		b.SetBytes(int64(len(src.Text)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := reference.ParseBytes("", src.Text); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkPrint lays the same text out again.
func BenchmarkPrint(b *testing.B) {
	src := &diag.Source{Name: "bench.umw", Text: []byte(benchText(1 << 20))}
	v, _ := Parse(src)
	b.SetBytes(int64(len(src.Text)))
	for b.Loop() {
		if err := ast.Print(io.Discard, v); err != nil {
			b.Fatal(err)
		}
	}
}
