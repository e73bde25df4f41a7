//go:build amd64 || arm64

package runner

import (
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// That a program may be run gives nobody the right to read: what it is a link to, or what
// stands on its first line, is the actor's to choose.
func TestAllowedProgramsOpenNoFiles(t *testing.T) {
	if landlockABI() < abiTruncate {
		t.Skip("this kernel has no Landlock to try this on")
	}
	s := newScene(t, way{target: "landlock"})
	s.plantOutside()
	secret := s.dir + "/outside.txt"
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Symlink(secret, s.root+"/out/link"))
	must(os.WriteFile(s.root+"/out/script", []byte("#!"+s.root+"/.env\n"), 0o755))
	must(os.WriteFile(s.root+"/out/honest", []byte("#!/bin/sh\ncat keep/k.txt\n"), 0o755))
	must(unix.Mkfifo(s.root+"/out/fifo", 0o644))
	s.c.Allowed = []string{"/bin/cat", "/bin/sh", "out/fifo", "out/honest", "out/link", "out/script"}
	for _, tt := range []struct {
		command []string
		exit    int
		output  string
	}{
		{[]string{"cat", "keep/k.txt"}, 0, "content of k.txt"},
		{[]string{"out/honest"}, 0, "content of k.txt"},
		{[]string{"sh", "-c", "env"}, ExitCannot, ""},
		{[]string{"cat", secret}, 1, ""},
		{[]string{"cat", ".env"}, 1, ""},
		{[]string{"out/link"}, ExitCannot, ""},
	} {
		out, err := os.CreateTemp(s.dir, "out-")
		must(err)
		over := time.AfterFunc(20*time.Second, func() { panic("the run hangs: " + strings.Join(tt.command, " ")) })
		r, err := Run(landlockTarget, Spec{Confinement: s.c, Command: tt.command, Stdout: out})
		over.Stop()
		must(err)
		text, err := os.ReadFile(out.Name())
		must(err)
		if r.Exit != tt.exit || string(text) != tt.output {
			t.Errorf("%q: exit status %d and %q, want %d and %q; %q", tt.command, r.Exit, text, tt.exit, tt.output, r.Remarks)
		}
	}
}
