package probe

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func run(t *testing.T, ops ...Op) []Result {
	t.Helper()
	var in, out bytes.Buffer
	e := json.NewEncoder(&in)
	for _, op := range ops {
		if err := e.Encode(op); err != nil {
			t.Fatal(err)
		}
	}
	if err := Serve(&in, &out); err != nil {
		t.Fatal(err)
	}
	results := []Result{}
	d := json.NewDecoder(&out)
	for range ops {
		var r Result
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	return results
}

// Every operation does what it says where nothing is in the way, leaves the tree as it
// was, and says so where it cannot.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) []byte { return []byte(filepath.Join(dir, name)) }
	file := string(at("f\n\xff"))
	if err := os.WriteFile(file, []byte("content"), 0o751); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", string(at("l"))); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(string(at("p")), 0o600); err != nil {
		t.Fatal(err)
	}
	f, aside := []byte(file), at("aside")
	for _, tt := range []struct {
		op Op
		ok bool
	}{
		{Op{Do: "read", Path: f}, true}, {Op{Do: "read", Path: at("l")}, false}, {Op{Do: "read", Path: at("none")}, false},
		{Op{Do: "write", Path: f}, true}, {Op{Do: "write", Path: at("none")}, false}, {Op{Do: "append", Path: f}, true}, {Op{Do: "append", Path: at("none")}, false},
		{Op{Do: "truncate", Path: f}, true}, {Op{Do: "chmod", Path: f}, true}, {Op{Do: "chmod", Path: at("none")}, false}, {Op{Do: "lstat", Path: at("l")}, true},
		{Op{Do: "readlink", Path: at("l")}, true}, {Op{Do: "readlink", Path: f}, false}, {Op{Do: "fifo", Path: at("p")}, true}, {Op{Do: "list", Path: []byte(dir)}, true}, {Op{Do: "list", Path: f}, false},
		{Op{Do: "create", Path: aside}, true}, {Op{Do: "create", Path: f}, false}, {Op{Do: "mkdir", Path: aside}, true}, {Op{Do: "mkdir", Path: f}, false},
		{Op{Do: "create-below", Path: at("new/file")}, true}, {Op{Do: "create-below", Path: at("l/file")}, false},
		{Op{Do: "remove", Path: f}, true}, {Op{Do: "remove", Path: at("l")}, true}, {Op{Do: "remove", Path: at("p")}, true}, {Op{Do: "remove", Path: at("none")}, false},
		{Op{Do: "rename", Path: f, New: aside}, true}, {Op{Do: "rename", Path: at("none"), New: aside}, false}, {Op{Do: "exchange", Path: f, New: aside}, true},
		{Op{Do: "exchange", Path: at("none"), New: aside}, false}, {Op{Do: "replace", Path: f, New: aside}, true}, {Op{Do: "replace", Path: []byte(dir), New: aside}, false},
		{Op{Do: "replace-link", Path: []byte(dir), New: aside}, false}, {Op{Do: "link", Path: f, New: aside}, true}, {Op{Do: "link", Path: f, New: at("l")}, false},
		{Op{Do: "exec", Path: f}, true}, {Op{Do: "exec", Path: at("p")}, false}, {Op{Do: "exec", Path: at("none")}, false}, {Op{Do: "nonsense"}, false},
	} {
		r := run(t, tt.op)[0]
		if r.OK != tt.ok || r.After != "" || r.OK == (r.Error != "") {
			t.Errorf("%s %q: %+v", tt.op.Do, tt.op.Path, r)
		}
		content, err := os.ReadFile(file)
		info, _ := os.Lstat(file)
		if err != nil || string(content) != "content" || info.Mode().Perm() != 0o751 {
			t.Fatalf("after %s %q the file is %q, %v, %v", tt.op.Do, tt.op.Path, content, info, err)
		}
		entries, _ := os.ReadDir(dir)
		if len(entries) != 3 {
			t.Fatalf("after %s %q there is %v", tt.op.Do, tt.op.Path, entries)
		}
	}
	r := run(t, Op{Do: "read", Path: f}, Op{Do: "list", Path: []byte(dir)}, Op{Do: "readlink", Path: at("l")})
	if !bytes.Equal(r[0].Data, Digest([]byte("content"))) || r[0].Size != 7 || len(r[1].List) != 3 || string(r[2].Data) != "nowhere" {
		t.Errorf("%+v", r)
	}
	if r := run(t, Op{Do: "replace-link", Path: f, New: aside})[0]; !r.OK {
		t.Errorf("%+v", r)
	}
}

func TestUses(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Write([]byte(Greeting))
			c.Close()
		}
	}()
	t.Setenv("UMWELT_TEST", "value")
	big := filepath.Join(t.TempDir(), "big")
	for _, tt := range []struct {
		op Op
		ok bool
		n  int64
	}{
		{Op{Do: "tcp", Path: []byte(l.Addr().String())}, true, 0}, {Op{Do: "tcp", Path: []byte("127.0.0.1:1")}, false, 0}, {Op{Do: "udp", Path: []byte("127.0.0.1:1")}, false, 0},
		{Op{Do: "unix", Path: []byte("@umwelt-nobody")}, false, 0}, {Op{Do: "memory", N: 1 << 20}, true, 1 << 20}, {Op{Do: "memory", N: 1 << 60}, false, 0}, {Op{Do: "fds", N: 10}, true, 10},
		{Op{Do: "fds", N: 1 << 30}, false, -1}, {Op{Do: "processes", N: 3}, true, 3}, {Op{Do: "sleep", N: 1000}, true, 0}, {Op{Do: "burn", N: 1000}, true, 0},
		{Op{Do: "fill", Path: []byte(big), N: 100_000}, true, 100_000}, {Op{Do: "fill", Path: []byte("/none/x"), N: 1}, false, 0},
	} {
		r := run(t, tt.op)[0]
		if r.OK != tt.ok || tt.n >= 0 && r.N != tt.n {
			t.Errorf("%s %q: %+v", tt.op.Do, tt.op.Path, r)
		}
	}
	if _, err := os.Stat(big); !os.IsNotExist(err) {
		t.Error("what was written stays behind")
	}
	r := run(t, Op{Do: "environ"})[0]
	if !slices.ContainsFunc(r.List, func(v []byte) bool { return string(v) == "UMWELT_TEST=value" }) {
		t.Errorf("%q", r.List)
	}
}

func TestGarbage(t *testing.T) {
	var out bytes.Buffer
	if err := Serve(strings.NewReader(`{"do":"sleep"} nonsense`), &out); err == nil || !strings.Contains(out.String(), `"ok":true`) {
		t.Errorf("%v, %q", err, out.String())
	}
}
