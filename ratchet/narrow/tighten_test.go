package narrow

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"umwelt/diag"
	"umwelt/parser"
	"umwelt/registry"
)

// pinsOf are the entities that a view names, for the world that it is loaded with.
func pinsOf(t tb, view string) []registry.Entity {
	t.Helper()
	v, list := parser.Parse(&diag.Source{Name: "v.umw", Text: []byte(view)})
	b := vocabulary.Bind(registry.Options{}, v)
	if list.HasErrors() || b.Diagnostics.HasErrors() {
		t.Fatalf("%v %v", list.Err(), b.Diagnostics.Err())
	}
	return append(b.Pins(), b.Entities...)
}

func TestTighten(t *testing.T) {
	files := []string{"src/a.py", "src/b.py", "src/c.md", "docs/x.md", "docs/y.md", "tmp/", "README"}
	tools := []string{"{ type: tool, id: Bash, attributes: { level: 7 } }", "{ type: tool, id: Read, attributes: { level: 1 } }", "{ type: tool, id: Edit, attributes: { level: 3 } }"}
	for _, tt := range []struct {
		name, view, seen string
		slack            int
		want             string
	}{
		{"what fired stays", `
/* the sources */
file[path^="src/"] { visible: true; } // all of them
file[path="README"] { visible: true; }`, "read file src/a.py\nread file src/b.py\nread file src/c.md", 0, `
/* the sources */
file[path^="src/"] { visible: true; } // all of them`},
		{"what is wider is replaced in its place", `
/* the sources */
file[path^="src/"] { visible: true; }

/* the rest */
file[path="README"] { visible: true; }`, "read file src/a.py\nread file src/b.py\nread file README", 0, `
/* the sources */
file:glob("src/*.py") { visible: true; }
/* the rest */
file[path="README"] { visible: true; }`},
		{"slack keeps it", `file[path^="src/"] { visible: true; }`, "read file src/a.py\nread file src/b.py", 1, `file[path^="src/"] { visible: true; }`},
		{"where something restricts elsewhere", `
file { visible: true; editable: true; }
file[name$=".md"] { editable: false; }`, "write file src/a.py\nread file README", 0, `
file[path="src/a.py"] { editable: true; }
file[path="README"] { visible: true; }`},
		{"where something restricts, the old selector stays with a condition", `
file { visible: true; }
file[path^="src/"] { visible: false; }
file[path="src/a.py"] { visible: true; }
file[name$=".py"] { visible: false; }
file:glob("src/*.py") { visible: true; }`, "read file src/a.py\nread file README", 0, `
file[path="README"] { visible: true; }
file[path^="src/"] { visible: false; }
file[name$=".py"] { visible: false; }
file:glob("src/*.py"):where([path="src/a.py"]) { visible: true; }`},
		{"qualifiers stay", `mode#implement file[path^="src/"] { editable: true; }`, "write file src/a.py", 0, `mode#implement file[path="src/a.py"] { editable: true; }`},
		{"another mode is not looked at", `mode#review file { visible: true; } mode#implement file { visible: true; }`, "read file README", 0, `
mode#review file { visible: true; }
mode#implement file[path="README"] { visible: true; }`},
		{"sugar stays where all of it does", `@source("src") { * { visible: true; } } @tools { allow: Read; }`, "read file src/a.py\nread file src/b.py\nread file src/c.md\ncall tool Read call=x", 0, `
@source("src") { * { visible: true; } }
@tools { allow: Read; }`},
		{"a name goes out of a list", `@tools { allow: Read, Edit, Bash; }`, "call tool Read call=x\ncall tool Edit call=y", 0, `@tools { allow: Read, Edit; }`},
		{"sugar is replaced", `@source("src") { * { visible: true; } }`, "read file src/a.py", 0, `file[path="src/a.py"] { visible: true; }`},
		{"all tools", `tool { allow: true; }`, "call tool Read call=x", 0, `tool[name="Read"] { allow: true; }`},
		{"bounds", `@budget { memory: 2GB; wall-time: 10m; } tool { allow: true; max-level: 8; }`,
			"measure resource memory value=104857600 unit=bytes\nmeasure resource wall-time value=700000 unit=ms\ncall tool Read call=x", 0, `
@budget { memory: 120MB; wall-time: 10m; }
tool { max-level: 1; }
tool[name="Read"] { allow: true; }`},
		{"patterns", `tool[name="Bash"] { allow: true; allow-pattern: "git *", "curl *"; }`, "call tool Bash call=git_log", 0, `tool[name="Bash"] { allow: true; allow-pattern: "git *"; }`},
		{"calls are bounded", `@tools { allow: Bash; }`, "call tool Bash call=git_log_-1\ncall tool Bash call=git_log_-2\ncall tool Bash call=ls", 0, `
@tools { allow: Bash; }
tool[name="Bash"] { allow-pattern: "git log *", "ls"; }`},
		{"new names", `file[path^="tmp/"] { editable: true; } file[path^="docs/"] { editable: true; }`, "create file tmp/a1\ndelete file tmp/a1\ncreate file docs/z\nwrite file docs/x.md", 0, `
file[path^="tmp/"] { editable: true; }
file[path^="docs/"]:not([path="docs/y.md"]) { editable: true; }`},
		{"speaking of it shows it", `@source("docs") { * { editable: false; } }`, "read file docs/x.md", 0, `file[path="docs/x.md"] { visible: true; }`},
		{"layers", "@layer a { file[path^=\"src/\"] { visible: true; } file[path=\"README\"] { visible: true; } }", "read file src/a.py", 0, `
@layer a { file[path="src/a.py"] { visible: true; } }`},
		{"nested", `mode#implement { file[path^="src/"] { visible: true; } tool[name="Read"] { allow: true; } }`, "read file src/a.py\ncall tool Read call=x", 0, `
mode#implement { tool[name="Read"] { allow: true; } }
mode#implement file[path="src/a.py"] { visible: true; }`},
		{"the network", `network { allow: true; }`, "connect network api.github.com:443 protocol=tcp", 0, `network[host="api.github.com"][port="443"][protocol="tcp"] { allow: true; }`},
		{"what others give", `file[path^="src/"] { editable: true; } file[path="src/a.py"] { editable: true; }`, "write file src/a.py", 0, `file[path="src/a.py"] { editable: true; }`},
		{"env is not judged without a source that tells of it", `@env { allow: CI; }`, "read file README", 0, `@env { allow: CI; }`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := loadWorld(t, snapshot(files, tools...), pinsOf(t, tt.view)...)
			o := Options{Headroom: 0.2, Slack: tt.slack, Context: nil}
			in := Input{World: w, View: parseView(t, tt.view), Options: o}
			if strings.Contains(tt.view, "mode#") {
				in.Context = refs("mode", "implement")
			}
			p := propose(t, in, seen(t, tt.seen))
			if d := cmp.Diff(strings.TrimSpace(tt.want), bodyOf(p)); d != "" {
				t.Errorf("-want +got:\n%s\n%s\nremoved %+v\nkept %+v\nnot allowed %+v", d, p.Text, p.Report.Removed, p.Report.Kept, p.Report.NotAllowed)
			}
			again := in
			again.View = parseView(t, string(p.Text))
			q := propose(t, again, seen(t, tt.seen))
			if d := cmp.Diff(string(p.Text), string(q.Text)); d != "" {
				t.Errorf("not idempotent:\n%s\nremoved %+v", d, q.Report.Removed)
			}
		})
	}
}
