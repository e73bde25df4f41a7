package landlock

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/compilers/confine/confinetest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got):\n%s", path, d)
	}
}

// The shipped example, in sugar and in rules, gives the same bytes.
func TestExample(t *testing.T) {
	for _, name := range []string{"auth-fix.umw", "auth-fix.rules.umw"} {
		in := compilers.Input{Resolution: confinetest.Example(t, "../..", name), Version: "1.0"}
		out := Compiler.Compile(in)
		if out.Diagnostics.HasErrors() {
			t.Fatal(out.Diagnostics.Err())
		}
		golden(t, "auth-fix.json", out.Text)
		if name == "auth-fix.rules.umw" {
			c := compilers.Cover(Info, in.Resolution, out.Notes)
			golden(t, "auth-fix.coverage", []byte(c.Summary()+"\n\n"+c.Text()))
		}
	}
}

// What is written can be read back, whatever bytes the names hold.
func TestHostileNames(t *testing.T) {
	c := confinetest.Hostile()
	root := &confine.Node{Kind: confine.Dir, Mode: confine.Hidden}
	for _, name := range confinetest.Odd {
		root.Children = append(root.Children, &confine.Node{Name: name, Mode: confine.ReadWrite})
	}
	c.Tree = root
	s, _ := Rules(c)
	got := s.JSON()
	golden(t, "hostile.json", got)
	var back Set
	d := json.NewDecoder(bytes.NewReader(got))
	d.DisallowUnknownFields()
	if err := d.Decode(&back); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(back.JSON(), got) {
		t.Error("the set is another one after reading it back")
	}
	for i, name := range confinetest.Odd {
		if want := c.Root + "/" + name; string(back.Rules[i].Path) != want {
			t.Errorf("rule %d is for %q, want %q", i, back.Rules[i].Path, want)
		}
	}
}

func TestMounts(t *testing.T) {
	tree := &confine.Node{Kind: confine.Dir, Mode: confine.ReadWrite, Children: []*confine.Node{{Name: "tmp", Kind: confine.Dir, Mode: confine.ReadWrite}}}
	bind := func(path, source string, ro bool) confine.Mount {
		return confine.Mount{Path: path, Source: source, Type: "bind", ReadOnly: ro}
	}
	for _, tt := range []struct {
		name   string
		mounts []confine.Mount
		want   []string // path: how many rights
		note   string
	}{
		{"read-only", []confine.Mount{bind("/usr", "/usr", true)}, []string{"/p: write", "/usr: read"}, ""},
		{"writable", []confine.Mount{bind("/data", "/data", false)}, []string{"/p: write", "/data: write"}, ""},
		{"elsewhere", []confine.Mount{bind("/data", "/srv", true)}, []string{"/p: write"}, "only at its own path"},
		{"around the project", []confine.Mount{bind("/", "/", true)}, []string{"/p: write"}, "the project lies in it"},
		{"tighter below", []confine.Mount{bind("/data", "/data", false), bind("/data/keep", "/data/keep", true)},
			[]string{"/p: write", "/data: read", "/data/keep: read"}, "may do less"},
		{"hidden below", []confine.Mount{bind("/data", "/data", false), bind("/data/x", "/srv", true)}, []string{"/p: write"}, "may do less"},
		{"in a temporary directory", []confine.Mount{{Path: "/data", Type: "tmpfs"}, bind("/data/x", "/data/x", true)}, []string{"/p: write"}, "of the sandbox's own"},
		{"in the project", []confine.Mount{{Path: "/p/tmp", Type: "tmpfs"}}, nil, "so the names cannot be listed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, notes := Rules(&confine.Confinement{Root: "/p", Tree: tree, System: tt.mounts})
			var got []string
			for _, r := range s.Rules {
				if strings.HasPrefix(string(r.Path), "/dev/") {
					continue
				}
				level := "read"
				if bits, ok := Bits(r.Access); !ok || bits&writeFile != 0 {
					level = "write"
				}
				got = append(got, string(r.Path)+": "+level)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			text := ""
			for _, n := range notes {
				text += n.Why + "\n"
			}
			if !strings.Contains(text, tt.note) {
				t.Errorf("no note says %q:\n%s", tt.note, text)
			}
		})
	}
}

func TestNetwork(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   confine.Network
		want Network
		note string
	}{
		{"closed", confine.Network{}, Network{Mode: Closed}, ""},
		{"open", confine.Network{Open: true}, Network{Mode: Open}, ""},
		{"all but one", confine.Network{Open: true, Deny: []string{"example.com"}}, Network{Mode: Closed}, "keep single hosts out"},
		{"a port", confine.Network{Allow: []confine.Endpoint{{Port: 443, Protocol: "tcp"}, {Port: 80, Protocol: "TCP"}, {Port: 443, Protocol: "tcp"}}},
			Network{Mode: Ports, Connect: []int{80, 443}}, ""},
		{"a port of any protocol", confine.Network{Allow: []confine.Endpoint{{Port: 53}}}, Network{Mode: Ports, Connect: []int{53}}, "TCP alone"},
		{"open but for an endpoint", confine.Network{Open: true, Less: []confine.Endpoint{{Host: "evil.example"}}}, Network{Mode: Closed}, "keep single hosts out"},
		{"a port but for a host", confine.Network{Allow: []confine.Endpoint{{Port: 443, Protocol: "tcp", Less: []confine.Endpoint{{Host: "evil.example"}}}, {Port: 80, Protocol: "tcp"}}},
			Network{Mode: Ports, Connect: []int{80}}, "keep single hosts out"},
		{"a UDP port", confine.Network{Allow: []confine.Endpoint{{Port: 53, Protocol: "udp"}}}, Network{Mode: Closed}, "TCP alone"},
		{"a host", confine.Network{Allow: []confine.Endpoint{{Host: "example.com", Port: 443, Protocol: "tcp"}}}, Network{Mode: Closed}, "no hosts"},
		{"a protocol", confine.Network{Allow: []confine.Endpoint{{Protocol: "tcp"}}}, Network{Mode: Closed}, "single ports"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, notes := network(tt.in)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			text := ""
			for _, n := range notes {
				text += n.Why
			}
			if !strings.Contains(text, tt.note) || tt.note == "" && text != "" {
				t.Errorf("the notes are %q, want %q", text, tt.note)
			}
		})
	}
}
