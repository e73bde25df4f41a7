package bwrap

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/compilers/shell"
)

// shells are the POSIX shells of this machine, with how a script is run in each.
func shells(t *testing.T) [][]string {
	t.Helper()
	var out [][]string
	for _, s := range [][]string{{"dash"}, {"bash"}, {"busybox", "sh"}} {
		if _, err := exec.LookPath(s[0]); err == nil {
			out = append(out, s)
		}
	}
	if len(out) < 2 {
		if os.Getenv("UMWELT_REQUIRE_TOOLS") == "1" {
			t.Fatalf("dash and bash are needed, and there is %v", out)
		}
		t.Skipf("dash and bash are needed, and there is %v", out)
	}
	return out
}

// manyFiles is a project of n files that are mounts of their own, with paths of more than 3,500 bytes.
func manyFiles(n int) *confine.Node {
	long := strings.Repeat("long-name'\n", 22)
	deep := node(long, confine.Dir, confine.Hidden)
	for i := range n {
		deep.Children = append(deep.Children, node(fmt.Sprintf("%04d%s", i, long), confine.File, confine.ReadOnly))
	}
	for range 14 {
		deep = node(long, confine.Dir, confine.Hidden, deep)
	}
	return node("", confine.Dir, confine.Hidden, deep)
}

func script(t *testing.T, c *confine.Confinement) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.sh")
	if err := os.WriteFile(path, sandbox{t: t, c: c, form: "sh"}.compile(), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// A plan of thousands of mounts reaches bubblewrap byte for byte.
func TestWordsOfLongScript(t *testing.T) {
	plan, _ := confine.Plan(manyFiles(2900))
	c := &confine.Confinement{Root: "/p", Plan: plan}
	path := script(t, c)
	fake := t.TempDir()
	if err := os.WriteFile(filepath.Join(fake, "bwrap"), []byte("#!/bin/sh\nexec cat <&3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	nul := strings.Replace(string(sandbox{t: t, c: c, form: "nul"}.compile()), "--clearenv\x00", "", 1)
	for _, shell := range shells(t) {
		cmd := exec.Command(shell[0], append(shell[1:], path)...)
		cmd.Env = []string{"PATH=" + fake + ":" + os.Getenv("PATH")}
		if out, err := cmd.Output(); err != nil || string(out) != nul {
			t.Errorf("%s: %v, %d bytes, want %d", shell[0], err, len(out), len(nul))
		}
	}
}

// A plan that is more than a command line holds runs from the script all the same, with
// the command's own input and exit status.
func TestLongScriptForReal(t *testing.T) {
	needBwrap(t)
	path, count := script(t, planted(t, manyFiles(290))), 290
	if text, err := os.ReadFile(path); err != nil || len(text) < 2<<20 {
		t.Fatalf("%d bytes are no long script (%v)", len(text), err)
	}
	for _, shell := range shells(t) {
		t.Run(shell[0], func(t *testing.T) {
			cmd := exec.Command(shell[0], append(shell[1:], path, "sh", "-c", `find . -type f -print0 | tr -cd '\000' | wc -c; cat; ls -l /proc/self/fd | grep -c umwelt; exit 7`)...)
			cmd.Stdin = strings.NewReader("from outside\n")
			var errors bytes.Buffer
			cmd.Stderr = &errors
			out, err := cmd.Output()
			if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 7 {
				t.Errorf("exit status: %v, %.300s", err, errors.String())
			}
			if want := fmt.Sprintf("%d\nfrom outside\n0\n", count); string(out) != want {
				t.Errorf("got %q, want %q", out, want)
			}
		})
		// bubblewrap takes seconds for so many mounts, so one shell has to do.
		path, count = script(t, planted(t, manyFiles(3))), 3
	}
}

// Where the options cannot all be collected, nothing runs: with a part of them more would
// be shown.
func TestScriptWithoutRoomForReal(t *testing.T) {
	needBwrap(t)
	path := script(t, planted(t, manyFiles(20)))
	ran := filepath.Join(t.TempDir(), "ran")
	fake := t.TempDir()
	if err := os.WriteFile(filepath.Join(fake, "bwrap"), []byte("#!/bin/sh\n: > "+shell.Quote(ran)+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, shell := range shells(t) {
		cmd := exec.Command(shell[0], append(shell[1:], "-c", `ulimit -f 8; trap '' XFSZ; exec "$@"`, "x", shell[0])...)
		cmd.Args = append(append(cmd.Args, shell[1:]...), path, "true")
		cmd.Env = []string{"PATH=" + fake + ":" + os.Getenv("PATH")}
		if out, err := cmd.CombinedOutput(); err == nil {
			t.Errorf("%s: went well: %s", shell[0], out)
		}
		if _, err := os.Stat(ran); err == nil {
			t.Errorf("%s: bubblewrap was started with a part of its options", shell[0])
		}
	}
}

// A hidden path that goes away between compiling and running is not made anew on the host.
func TestVanishedPathsForReal(t *testing.T) {
	for _, name := range []string{"src/key.pem", "src/vault", "out", "docs/a.md"} {
		t.Run(name, func(t *testing.T) {
			tree := smallTree()
			tree.Children[2].Children = append(tree.Children[2].Children, node("vault", confine.Dir, confine.Hidden, node("x", confine.File, confine.Hidden)))
			tree.Children = append(tree.Children, node("z", confine.Dir, confine.ReadWrite))
			tree.Children[1].Children[0].Mode = confine.Hidden
			tree.Children = append([]*confine.Node{tree.Children[0], tree.Children[1], node("out", confine.Dir, confine.ReadWrite)}, tree.Children[2:]...)
			c := planted(t, tree)
			for _, form := range []string{"json", "lines", "nul", "sh"} {
				s := sandbox{t: t, c: c, form: form}
				if out, err := s.command("true").CombinedOutput(); err != nil {
					t.Fatalf("%s: %v: %s", form, err, out)
				}
			}
			if err := os.RemoveAll(filepath.Join(c.Root, name)); err != nil {
				t.Fatal(err)
			}
			before := listing(t, c.Root)
			for _, form := range []string{"json", "lines", "nul", "sh"} {
				s := sandbox{t: t, c: c, form: form}
				if out, err := s.command("true").CombinedOutput(); err == nil {
					t.Errorf("%s: it ran: %s", form, out)
				}
			}
			if after := listing(t, c.Root); after != before {
				t.Errorf("the tree changed:\n%s\nwas\n%s", after, before)
			}
		})
	}
}

// The hint of a plan that is too long names what makes it so.
func TestHintOfTooManyMounts(t *testing.T) {
	c := &confine.Confinement{Root: "/p", Plan: []confine.Entry{{Path: ".", Kind: confine.Dir}}}
	for i := range 3200 {
		c.Plan = append(c.Plan, confine.Entry{Path: fmt.Sprint(i), Mode: confine.ReadOnly, Why: "v.umw:7"})
	}
	hint := func() string { return Render(c, compilers.Input{}).Diagnostics[0].Hint }
	if got := hint(); !strings.Contains(got, "v.umw:7") {
		t.Error(got)
	}
	c.ByName = []confine.Source{{}}
	if got := hint(); !strings.Contains(got, "new-files=usual") || !strings.Contains(got, "fixed constraint") {
		t.Error(got)
	}
	c.Usual = true
	if got := hint(); strings.Contains(got, "new-files=usual") {
		t.Error(got)
	}
}
