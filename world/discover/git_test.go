package discover

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"umwelt/world"
)

// repo runs git in a directory with no settings from outside.
type repo struct {
	t    *testing.T
	git  string
	root string
}

func newRepo(t *testing.T, args ...string) repo {
	path, err := exec.LookPath("git")
	r := repo{t, needTool(t, "git", path, err), t.TempDir()}
	r.run(append([]string{"init", "-q"}, args...)...)
	return r
}

func (r repo) run(args ...string) string {
	r.t.Helper()
	cmd := exec.Command(r.git, append([]string{"-c", "core.excludesFile=/dev/null", "-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
	cmd.Dir = r.root
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.root, "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (r repo) names(args ...string) []string {
	out := strings.Split(strings.TrimSuffix(r.run(append(args, "-z")...), "\x00"), "\x00")
	slices.Sort(out)
	return slices.Compact(out)
}

func (r repo) write(name, text string) {
	r.t.Helper()
	mustWrite(r.t, r.root, name)
	if err := os.WriteFile(filepath.Join(r.root, name), []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// found are the paths of the files that a recipe finds.
func (r repo) found(recipe string) []string {
	r.t.Helper()
	w, l := load(r.t, Host{}, r.root, recipe)
	if w == nil {
		r.t.Fatal(l)
	}
	var out []string
	for i := range w.Entities {
		if e := &w.Entities[i]; e.Type.Name == fileType && e.Provenance.Origin == world.Discovered {
			out = append(out, e.Path())
		}
	}
	slices.Sort(out)
	return out
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\ngot  %q\nwant %q", what, got, want)
	}
}

func TestGitTracked(t *testing.T) {
	for _, version := range []string{"2", "3", "4"} {
		for _, format := range []string{"sha1", "sha256"} {
			t.Run(version+format, func(t *testing.T) {
				r := newRepo(t, "--object-format="+format)
				for i := range 40 {
					r.write(fmt.Sprintf("src/%s/file%02d.go", strings.Repeat("x", i%9), i), "")
				}
				r.write("odd\nname \xff", "")
				r.write("untracked", "")
				r.write("gone", "")
				r.run("add", "src", "odd\nname \xff", "gone")
				if version == "3" {
					r.write("later", "")
					r.run("add", "-N", "later") // sets an extended flag, which needs version 3
				}
				r.run("update-index", "--index-version", version)
				text, err := os.ReadFile(filepath.Join(r.root, ".git/index"))
				if err != nil || fmt.Sprint(text[7]) != version {
					t.Fatalf("git wrote another version: %v %v", text[7], err)
				}
				want := r.names("ls-files")
				names, err := readIndex(repository{dir: filepath.Join(r.root, ".git"), common: filepath.Join(r.root, ".git")})
				if err != nil {
					t.Fatal(err)
				}
				slices.Sort(names)
				equal(t, "index", names, want)
				if err := os.Remove(filepath.Join(r.root, "gone")); err != nil {
					t.Fatal(err)
				}
				want = slices.DeleteFunc(want, func(s string) bool { return s == "gone" })
				equal(t, "tracked", r.found("{matcher: git, tracked: true}"), want)
				equal(t, "below src", r.found("{matcher: git, root: src}"), slices.DeleteFunc(want, func(s string) bool { return !strings.HasPrefix(s, "src/") }))
			})
		}
	}
}

func TestGitIgnored(t *testing.T) {
	r := newRepo(t)
	for _, name := range []string{
		"a.log", "keep.log", "build/x", "src/build/y", "src/a.o", "src/keep.o", "src/deep/b.o", "doc/frotz/z", "a/doc/frotz/z",
		"foo/bar/baz", "foo/x/bar/q", "x{1}", "x1", "abc1", "abcd", "trail ", "#hash", "!bang", "tmp/in/side", "tmp/keep/me",
		"sub/only/here", "sub/a.txt", "deep/er/still/f", "q?", "qq", "node_modules/p/i.js", "info-excluded", "tracked.log",
	} {
		r.write(name, "")
	}
	r.write(".gitignore", "# comment\n*.log\n!keep.log\n/build\n*.o\ndoc/frotz/\nfoo/**/bar\nx{1}\nabc[0-9]\n\\#hash\n\\!bang\ntrail\\ \ntmp/**\n!tmp/keep/\nnode_modules/\nq\\?\n[[:digit:]]none\ndeep/**/f\n")
	r.write("src/.gitignore", "!keep.o\n/deep/\n")
	r.write("sub/.gitignore", "*\n!a.txt\n")
	r.write(".git/info/exclude", "info-excluded\n")
	r.run("add", "-f", "tracked.log", "src/deep/b.o")
	want := append(r.names("ls-files", "--others", "--exclude-standard"), r.names("ls-files")...)
	slices.Sort(want)
	equal(t, "not ignored", r.found("{matcher: git, ignored: false}"), want)
	all := slices.Compact(slices.Sorted(slices.Values(append(r.names("ls-files", "--others"), r.names("ls-files")...))))
	equal(t, "all", r.found("{matcher: git, tracked: false}"), all)
	equal(t, "tracked", r.found("{matcher: git}"), r.names("ls-files"))
}

func TestGitWorktreeAndSubmodule(t *testing.T) {
	r := newRepo(t)
	r.write("a", "")
	r.run("add", "a")
	r.run("commit", "-q", "-m", "one")
	linked := filepath.Join(t.TempDir(), "linked")
	r.run("worktree", "add", "-q", linked)
	mustWrite(t, linked, "untracked")
	equal(t, "linked", repo{t, r.git, linked}.found("{matcher: git}"), []string{"a"})
	mustWrite(t, r.root, "inner/b")
	inner := repo{t, r.git, filepath.Join(r.root, "inner")}
	inner.run("init", "-q")
	inner.run("add", "b")
	inner.run("commit", "-q", "-m", "two")
	r.run("add", "inner") // as a link to a commit
	equal(t, "outer", r.found("{matcher: git}"), []string{"a"})
	equal(t, "inner", r.found("{matcher: git, root: inner}"), []string{"inner/b"})
}

func TestGitSplitIndexIsRefused(t *testing.T) {
	r := newRepo(t)
	r.write("a", "")
	r.run("add", "a")
	r.run("update-index", "--split-index")
	if _, l := load(t, Host{}, r.root, "{matcher: git}"); !l.HasErrors() {
		t.Error("a split index was read as a whole one")
	}
}

func FuzzParseIndex(f *testing.F) {
	one := append([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01"), make([]byte, 60)...)
	one = append(one, 0, 1, 'a', 0, 0, 0, 0, 0, 0, 0, 0, 0)
	f.Add(append(one, make([]byte, 20)...))
	v4 := bytes.Clone(one)
	v4[7] = 4
	f.Add(append(v4, make([]byte, 20)...))
	f.Fuzz(func(t *testing.T, text []byte) {
		names, err := parseIndex(text, 20)
		if err != nil {
			return
		}
		for _, n := range names {
			if !validIndexName(n) {
				t.Fatalf("the name %q came through", n)
			}
		}
	})
}

func FuzzParseIgnore(f *testing.F) {
	f.Add("*.log\n!keep\n/a/**/b/\n[a-z]\\ ", "a/b/c.log")
	f.Fuzz(func(_ *testing.T, text, name string) {
		if len(text) < 1<<10 && len(name) < 1<<8 && name != "" {
			lastMatch(parseIgnore(text), name, false)
		}
	})
}
