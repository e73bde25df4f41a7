package narrow

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const freshView = `/* Proposed by umwelt ratchet from 14 observations in 2 runs. */

file[path^="build/"]   { editable: true; } /* observed: 1 creation, 1 removal of 1 file in 1 run */
file:glob("docs/*.md") { visible: true; }  /* observed: 2 reads of 2 files in 1 run */
file[path="out/app"]   { editable: true; } /* observed: 1 write of 1 file in 1 run */
file:glob("src/*.py")  { visible: true; }  /* observed: 3 reads of 2 files in 2 runs */

network[host="api.github.com"][port="443"][protocol="tcp"] { allow: true; } /* observed: 1 connection in 1 run */

env[name="HOME"] { allow: true; } /* observed: 1 use in 1 run */

tool              { max-level: 1; }
tool[name="Read"] { allow: true; } /* observed: 1 call in 1 run */

resource { memory: 580MB; } /* observed: 1 measure in 1 run */
`

func TestFresh(t *testing.T) {
	w := loadWorld(t, snapshot([]string{"src/a.py", "src/b.py", "src/c.md", "docs/x.md", "docs/y.md", "build/", "README", "out/app"},
		"{ type: tool, id: Bash, attributes: { level: 7 } }", "{ type: tool, id: Read, attributes: { level: 1 } }", "{ type: env, id: HOME }"))
	p := propose(t, Input{World: w, Options: Options{Headroom: 0.2}}, seen(t, `
read file /project/src/a.py
read file /project/src/b.py
read file docs/x.md
read file docs/y.md
read file /usr/lib/libc.so
create file build/tmp1.o
delete file build/tmp1.o
write file out/app
call tool Read call=src/a.py
connect network api.github.com:443 protocol=tcp
env env HOME
measure resource memory value=500000000 unit=bytes
--
read file src/a.py
!read file .env
`))
	if d := cmp.Diff(freshView, string(p.Text)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if c := p.Report.Check; !c.Sound || !c.Monotone || c.Needs != 11 {
		t.Errorf("%+v", c)
	}
}
