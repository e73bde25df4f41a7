package umwelt_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"umwelt"
	"umwelt/compilers"
	"umwelt/compilers/bwrap"
	"umwelt/compilers/confine"
	"umwelt/compilers/nsjail"
)

func write(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, link := strings.CutPrefix(text, "-> "); link {
			err = os.Symlink(target, name)
		} else {
			err = os.WriteFile(name, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// linkedProject is a directory that a world mounts, with a project in it, and names that
// lead to both through links.
func linkedProject(t *testing.T) (top string) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	sys := filepath.Join(top, "sys")
	write(t, map[string]string{
		filepath.Join(sys, "src/p/open.txt"):       "open\n",
		filepath.Join(sys, "src/p/secret.txt"):     "s3cr3t\n",
		filepath.Join(sys, "src/p/deep/secret.md"): "s3cr3t\n",
		filepath.Join(sys, "other.txt"):            "other\n",
		filepath.Join(top, "link"):                 "-> sys/src/p",
		filepath.Join(top, "through"):              "-> sys/src",
		filepath.Join(top, "sys2"):                 "-> sys",
		filepath.Join(top, "v.umw"):                `file { visible: true } file[name^="secret"] { visible: false } mount { readonly: true }`,
		filepath.Join(top, "w.world.yml"): "name: w\ndiscover:\n  - { matcher: filesystem }\n  - { matcher: system }\nentities:\n" +
			"  - { type: mount, id: sys, attributes: { path: " + sys + ", source: " + sys + " } }\n" +
			"  - { type: mount, id: data, attributes: { path: /data, source: " + top + "/sys2 } }\n",
	})
	return top
}

func loadLinked(t *testing.T, top, root string) *umwelt.Policy {
	t.Helper()
	p := umwelt.Load(umwelt.Options{Root: root, World: filepath.Join(top, "w.world.yml")}, filepath.Join(top, "v.umw"))
	if err := p.Err(); err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(top, "sys/src/p"); p.World.Root != want {
		t.Errorf("the root is %s, not %s", p.World.Root, want)
	}
	return p
}

// TestRootThroughLinks names the root in several ways. Whatever it is called, nothing hidden
// shows at any path inside, and what is visible stands at the real path.
func TestRootThroughLinks(t *testing.T) {
	if _, err := exec.LookPath("bwrap"); err != nil {
		if os.Getenv("UMWELT_REQUIRE_TOOLS") == "1" {
			t.Fatal("bwrap is missing: apt-get install bubblewrap")
		}
		t.Skip("bwrap is missing: apt-get install bubblewrap")
	}
	top := linkedProject(t)
	real := filepath.Join(top, "sys/src/p")
	for _, tt := range []struct{ root, workdir string }{
		{"sys/src/p", ""}, {"link", ""}, {"through/p", ""}, {"sys2/src/p", ""}, {"link", "/work"}, {"link", top + "/link"},
	} {
		t.Run(tt.root+" "+strings.TrimPrefix(tt.workdir, top), func(t *testing.T) {
			p := loadLinked(t, top, filepath.Join(top, tt.root))
			inside := real
			set := map[string]string{"form": "sh"}
			if tt.workdir != "" {
				inside, set["workdir"] = tt.workdir, tt.workdir
			}
			out := bwrap.Compiler.Compile(compilers.Input{Resolution: p.Resolution, Set: set})
			if err := out.Diagnostics.Err(); err != nil {
				t.Fatal(err)
			}
			script := filepath.Join(t.TempDir(), "run.sh")
			write(t, map[string]string{script: string(out.Text)})
			said, err := exec.Command("sh", script, "sh", "-c", "pwd; cat open.txt; cat "+top+"/sys/other.txt /data/other.txt").CombinedOutput()
			if err != nil || string(said) != inside+"\nopen\nother\nother\n" {
				t.Errorf("what is visible: %v, %s", err, said)
			}
			said, _ = exec.Command("sh", script, "sh", "-c", "cat secret.txt deep/secret.md "+real+"/secret.txt "+real+"/deep/secret.md /data/src/p/secret.txt "+
				top+"/link/secret.txt "+top+"/through/p/secret.txt; find / -name 'secret*' -exec cat {} + 2>&1").CombinedOutput()
			if strings.Contains(string(said), "s3cr3t") {
				t.Errorf("what is hidden shows: %s", said)
			}
		})
	}
}

// TestRootThroughLinksForNsjail holds nsjail's text to the same: the cover of the project
// stands at its real path, wherever that is mounted.
func TestRootThroughLinksForNsjail(t *testing.T) {
	top := linkedProject(t)
	p := loadLinked(t, top, filepath.Join(top, "link"))
	c, problems := confine.From(p.Resolution)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	out := nsjail.Render(c, compilers.Input{Set: map[string]string{"workdir": "/work"}})
	for _, at := range []string{top + "/sys/src/p", "/data/src/p"} {
		if !strings.Contains(string(out.Text), `dst: "`+at+`"`) {
			t.Errorf("nothing stands at %s:\n%s", at, out.Text)
		}
	}
}

// TestRootThatIsNone refuses what is no directory, or not there.
func TestRootThatIsNone(t *testing.T) {
	top := linkedProject(t)
	write(t, map[string]string{filepath.Join(top, "dangling"): "-> nowhere", filepath.Join(top, "circle"): "-> circle"})
	for _, root := range []string{"absent", "dangling", "circle", "v.umw"} {
		p := umwelt.Load(umwelt.Options{Root: filepath.Join(top, root)}, filepath.Join(top, "v.umw"))
		if err := p.Err(); err == nil || !strings.Contains(err.Error(), "the root") {
			t.Errorf("%s: got %v", root, err)
		}
	}
}
