package confine_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "umwelt/compilers/confine"
)

func TestLayout(t *testing.T) {
	hidden := []Entry{{Path: ".", Mode: Hidden, Kind: Dir}}
	bind := func(path, source string, ro bool) Mount {
		return Mount{Path: path, Source: source, Type: "bind", ReadOnly: ro}
	}
	kinds := map[StepKind]string{Bind: "bind", Cover: "cover", Tmpfs: "tmpfs", Proc: "proc", Dev: "dev", Link: "link"}
	for _, tt := range []struct {
		name    string
		c       Confinement
		workdir string
		want    []string
	}{
		{"the basics", Confinement{Root: "/home/u/p", Plan: hidden}, "/home/u/p",
			[]string{"dev /dev", "proc /proc", "tmpfs /tmp", "tmpfs /home/u/p ro 0555"}},
		{"a project below a system directory", Confinement{Root: "/usr/local/go", Plan: hidden, System: []Mount{bind("/usr", "/usr", true)}}, "/usr/local/go",
			[]string{"dev /dev", "proc /proc", "tmpfs /tmp", "bind /usr ro", "tmpfs /usr/local/go ro 0555"}},
		{"and shown elsewhere", Confinement{Root: "/usr/local/go", Plan: hidden, System: []Mount{bind("/usr", "/usr", true)}}, "/w",
			[]string{"dev /dev", "proc /proc", "tmpfs /tmp", "bind /usr ro", "tmpfs /usr/local/go ro 0000", "tmpfs /w ro 0555"}},
		{"a writable mount above the project", Confinement{Root: "/home/u/p", Plan: hidden, System: []Mount{bind("/home", "/home", false)}}, "/home/u/p",
			[]string{"dev /dev", "bind /home", "bind /home/u", "proc /proc", "tmpfs /tmp", "tmpfs /home/u/p ro 0555"}},
		{"a project in a writable tmpfs", Confinement{Root: "/tmp/a/b/p", Plan: hidden}, "/tmp/a/b/p",
			[]string{"dev /dev", "proc /proc", "tmpfs /tmp", "tmpfs /tmp/a ro 0555", "tmpfs /tmp/a/b/p ro 0555"}},
		{"a mount in the project", Confinement{Root: "/p", Plan: hidden, System: []Mount{{Path: "/p/cache", Type: "tmpfs", Size: 9}, bind("/a", "/b", true)}}, "/p",
			[]string{"bind /a ro", "dev /dev", "proc /proc", "tmpfs /tmp", "tmpfs /p ro 0555", "tmpfs /p/cache size 9"}},
		{"entries", Confinement{Root: "/p", Plan: []Entry{{Path: ".", Mode: ReadOnly, Kind: Dir}, {Path: "f", Kind: File}, {Path: "h", Kind: Dir}, {Path: "h2", Kind: Dir},
			{Path: "h2/x", Mode: ReadWrite, Kind: File}, {Path: "s", Kind: Dir, Shown: true}, {Path: "z", Kind: Special}}}, "/w",
			[]string{"dev /dev", "proc /proc", "tmpfs /tmp", "bind /w ro", "cover /w/f ro", "tmpfs /w/h ro 0000", "tmpfs /w/h2 ro 0555", "bind /w/h2/x", "tmpfs /w/s ro 0555", "cover /w/z ro"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, s := range tt.c.Layout(tt.workdir) {
				line := kinds[s.Kind] + " " + s.Path
				if s.ReadOnly {
					line += " ro"
				}
				if s.Perms != "" {
					line += " " + s.Perms
				}
				if s.Size > 0 {
					line += fmt.Sprint(" size ", s.Size)
				}
				got = append(got, line)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

func TestTemporarySpaceIsLimited(t *testing.T) {
	limit := int64(100)
	c := Confinement{Root: "/p", Plan: []Entry{{Path: ".", Kind: Dir}}, Limits: Limits{Tmpfs: &limit},
		System: []Mount{{Path: "/big", Type: "tmpfs", Size: 1000}, {Path: "/small", Type: "tmpfs", Size: 10}}}
	got := map[string]int64{}
	for _, s := range c.Layout("/p") {
		got[s.Path] = s.Size
	}
	if got["/tmp"] != 100 || got["/big"] != 100 || got["/small"] != 10 {
		t.Errorf("sizes %v", got)
	}
}

func TestWorkdir(t *testing.T) {
	c := Confinement{Root: "/p"}
	for _, tt := range []struct {
		option, want string
		bad          bool
	}{{"", "/p", false}, {"/w", "/w", false}, {"w", "", true}, {"/w/../x", "", true}, {"/", "", true}, {"/w\x00", "", true}, {"/w/", "", true},
		{"/usr", "", true}, {"/etc/x", "", true}, {"/proc/self/root", "", true}, {"/dev", "", true}, {"/usr/bin/x", "", true}, {"/var", "", true},
		{"/usr/src/app", "/usr/src/app", false}, {"/etcetera", "/etcetera", false}} {
		got, problem := c.Workdir(tt.option)
		if got != tt.want || (problem != "") != tt.bad {
			t.Errorf("%q gives %q, %q", tt.option, got, problem)
		}
	}
}

// TestWorkdirAndMounts holds that no mount of the world takes the project's place or has it
// made inside of something else.
func TestWorkdirAndMounts(t *testing.T) {
	for _, tt := range []struct {
		mount Mount
		bad   bool
	}{
		{Mount{Path: "/a/p", Source: "/x", Type: "bind"}, true},
		{Mount{Path: "/a/p", Type: "tmpfs"}, true},
		{Mount{Path: "/a", Source: "/x", Type: "bind"}, true},
		{Mount{Path: "/a", Source: "/x", Type: "symlink"}, true},
		{Mount{Path: "/a", Source: "/a", Type: "bind"}, false},
		{Mount{Path: "/a", Type: "tmpfs"}, false},
		{Mount{Path: "/a/p/x", Source: "/x", Type: "bind"}, false},
		{Mount{Path: "/a/pp", Source: "/x", Type: "bind"}, false},
	} {
		c := Confinement{Root: "/a/p", System: []Mount{tt.mount}}
		if _, problem := c.Workdir(""); (problem != "") != tt.bad {
			t.Errorf("%v: %q", tt.mount, problem)
		}
	}
}

func TestBare(t *testing.T) {
	if len((&Confinement{System: []Mount{{Path: "/proc", Type: "proc"}}}).Bare()) != 1 {
		t.Error("a sandbox without programs is passed over in silence")
	}
	if (&Confinement{System: []Mount{{Path: "/usr", Source: "/usr", Type: "bind"}}}).Bare() != nil {
		t.Error("a sandbox with programs draws a note")
	}
}
