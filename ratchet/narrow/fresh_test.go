package narrow

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFresh(t *testing.T) {
	files := []string{"src/a.py", "src/b.py", "src/c.md", "docs/x.md", "docs/y.md", "README", "out/app"}
	tools := []string{"{ type: tool, id: Bash, attributes: { level: 7 } }", "{ type: tool, id: Read, attributes: { level: 1 } }", "{ type: env, id: HOME }"}
	for _, tt := range []struct {
		name, seen, want string
		made             []string
		note             string
	}{
		{"everything", `
read file /project/src/a.py
read file /project/src/b.py
read file docs/x.md
read file docs/y.md
read file /usr/lib/libc.so
write file out/app
call tool Read call=src/a.py
connect network api.github.com:443 host=api.github.com port=443 protocol=tcp
env env HOME
measure resource memory value=500000000 unit=bytes
--
read file src/a.py
!read file .env`, `
file:glob("docs/*.md") { visible: true; }
file[path="out/app"] { editable: true; }
file:glob("src/*.py") { visible: true; }
network[host="api.github.com"][port="443"][protocol="tcp"] { allow: true; }
env[name="HOME"] { allow: true; }
tool { max-level: 1; }
tool[name="Read"] { allow: true; }
resource { memory: 580MB; }`, nil, ""},
		{"what may have been there before was written", "create file src/a.py existed=unknown kind=file", `file[path="src/a.py"] { editable: true; }`, nil, ""},
		{"what was not there came", "create file src/new.py existed=unknown kind=file",
			`file[path^="src/"]:not([path="src/a.py"], [path="src/b.py"], [path="src/c.md"]) { editable: true; }`, nil, ""},
		{"a directory that was made is given", "create dir build kind=dir\ncreate file build/x.o kind=file", `file[path^="build/"] { editable: true; }`, []string{"build"}, ""},
		{"so is one in another", "create dir build kind=dir\ncreate dir build/deep kind=dir\ncreate file build/deep/x.o kind=file",
			`file[path^="build/"] { editable: true; }`, []string{"build"}, ""},
		{"one that went again is a name that came and went", "create dir src/tmp kind=dir\ndelete dir src/tmp kind=dir",
			`file[path^="src/"]:not([path="src/a.py"], [path="src/b.py"], [path="src/c.md"]) { editable: true; }`, nil, ""},
		{"memory held is no bound", "measure resource memory of=resident value=500000000 unit=bytes\nmeasure resource wall-time value=120 unit=ms",
			`resource { wall-time: 10s; }`, nil, "address space"},
		{"a time is in tens of seconds", "measure resource wall-time value=91000 unit=ms\nmeasure resource cpu-time value=900000 unit=ms",
			`resource { wall-time: 110s; cpu-time: 18m; }`, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := loadWorld(t, snapshot(files, tools...))
			p := propose(t, Input{World: w, Options: Options{Headroom: 0.2}}, seen(t, tt.seen))
			var got []string
			for _, line := range strings.Split(bodyOf(p), "\n") {
				if strings.Contains(line, "{") { // not the rest of the head
					got = append(got, line)
				}
			}
			want := strings.Split(strings.TrimSpace(tt.want), "\n")
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s\n%s", d, p.Text)
			}
			if !slices.Equal(p.Report.Made, tt.made) {
				t.Errorf("made %q, want %q", p.Report.Made, tt.made)
			}
			if tt.note != "" && !strings.Contains(strings.Join(p.Report.Notes, "\n"), tt.note) {
				t.Errorf("notes %q, want %q", p.Report.Notes, tt.note)
			}
		})
	}
}
