package bwrap

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sort"
	"testing"

	"golang.org/x/sys/unix"
)

// The test binary is also the program that runs inside: with the argument "probe" it
// reads operations as JSON from standard input, tries each, and prints what happened.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "probe" {
		probe()
		return
	}
	os.Exit(m.Run())
}

// op is one thing to try. Paths are bytes, so that JSON leaves them alone.
type op struct {
	Do        string
	Path, New []byte `json:",omitempty"`
}

// result is what came of it. Error is "" where it went well.
type result struct {
	Error  string
	Data   []byte   `json:",omitempty"`
	Names  [][]byte `json:",omitempty"`
	Values []string `json:",omitempty"`
}

func probe() {
	var ops []op
	if err := json.NewDecoder(os.Stdin).Decode(&ops); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	results := make([]result, len(ops))
	for i, o := range ops {
		results[i] = try(o)
	}
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		os.Exit(2)
	}
}

func try(o op) (r result) {
	path, other := string(o.Path), string(o.New)
	var err error
	switch o.Do {
	case "read":
		r.Data, err = readSome(path)
	case "write": // opens for writing and changes nothing
		var fd int
		if fd, err = unix.Open(path, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0); err == nil {
			unix.Close(fd)
		}
	case "fifo":
		var fd int
		if fd, err = unix.Open(path, unix.O_RDWR|unix.O_NONBLOCK, 0); err == nil {
			unix.Close(fd)
		}
	case "connect":
		err = dial(path)
	case "list":
		var entries []os.DirEntry
		entries, err = os.ReadDir(path)
		for _, e := range entries {
			r.Names = append(r.Names, []byte(e.Name()))
		}
	case "lstat":
		_, err = os.Lstat(path)
	case "readlink":
		var target string
		target, err = os.Readlink(path)
		r.Data = []byte(target)
	case "create": // and removes it again
		if err = os.WriteFile(path, []byte("new"), 0o600); err == nil {
			err = os.Remove(path)
		}
	case "mkdir":
		if err = os.Mkdir(path, 0o700); err == nil {
			err = os.Remove(path)
		}
	case "mkdir-create": // in a directory of its own, and removes both again
		dir := filepath.Dir(path)
		if err = os.Mkdir(dir, 0o700); err == nil {
			err = os.WriteFile(path, []byte("new"), 0o600)
			os.Remove(path)
			os.Remove(dir)
		}
	case "append":
		err = appendTo(path)
	case "remove":
		err = os.Remove(path)
	case "rename":
		err = os.Rename(path, other)
	case "exchange":
		err = unix.Renameat2(unix.AT_FDCWD, path, unix.AT_FDCWD, other, unix.RENAME_EXCHANGE)
	case "link":
		if err = os.Link(path, other); err == nil {
			err = os.Remove(other)
		}
	case "chmod":
		err = os.Chmod(path, 0o777)
	case "truncate":
		err = os.Truncate(path, 0)
	case "umount":
		err = unix.Unmount(path, unix.MNT_DETACH)
	case "remount":
		err = unix.Mount("", path, "", unix.MS_REMOUNT|unix.MS_BIND, "")
	case "environ":
		r.Values = os.Environ()
		sort.Strings(r.Values)
	case "getwd":
		var wd string
		wd, err = os.Getwd()
		r.Data = []byte(wd)
	case "dial":
		var c net.Conn
		if c, err = net.Dial("tcp", path); err == nil {
			c.Close()
		}
	default:
		err = fmt.Errorf("unknown operation %q", o.Do)
	}
	if err != nil {
		r.Error = err.Error()
	}
	return r
}

func readSome(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	buf := make([]byte, 4096)
	n, err := unix.Read(fd, buf)
	return bytes.Clone(buf[:max(n, 0)]), err
}

func appendTo(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString("changed")
	return err
}

// dial connects to a socket by a short path, since a long one does not fit an address.
func dial(path string) error {
	if err := os.Chdir(filepath.Dir(path)); err != nil {
		return err
	}
	c, err := net.Dial("unix", "./"+filepath.Base(path))
	if err != nil {
		return err
	}
	return c.Close()
}
