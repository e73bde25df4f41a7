package narrow

import "testing"

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
	t.Logf("\n%s\n%+v", p.Text, p.Report)
}
