package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestWriteFileIsWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	read := func(path string) string {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	write := func(path, text string) {
		t.Helper()
		if err := writeFile(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}

	write(path, "one")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	write(path, "two")
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o640 || read(path) != "two" {
		t.Errorf("mode %o, text %q: a file keeps its permission bits", info.Mode().Perm(), read(path))
	}

	link := filepath.Join(dir, "link")
	if err := os.Symlink("out", link); err != nil {
		t.Fatal(err)
	}
	write(link, "three")
	if info, _ := os.Lstat(link); info.Mode()&os.ModeSymlink == 0 || read(path) != "three" {
		t.Errorf("a link must stay a link to the written file, which holds %q", read(path))
	}

	// A reader that opened the file before still sees the old text, whole.
	old, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	write(path, "four")
	before := make([]byte, 8)
	if n, _ := old.Read(before); string(before[:n]) != "three" {
		t.Errorf("an open reader sees %q, want the old text", before[:n])
	}

	dangling := filepath.Join(dir, "dangling")
	if err := os.Symlink("nowhere", dangling); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, dangling, filepath.Join(dir, "no", "such")} {
		if writeFile(path, []byte("x")) == nil {
			t.Errorf("%s was written", path)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 3 {
		t.Errorf("%d entries, want the file and the two links: nothing may stay behind", len(entries))
	}
}

func TestWriteFileLeavesDevicesAndPipesAlone(t *testing.T) {
	if err := writeFile(os.DevNull, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode()&os.ModeDevice == 0 {
		t.Fatal("/dev/null was replaced")
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	got := make(chan string)
	go func() {
		text, _ := os.ReadFile(pipe)
		got <- string(text)
	}()
	if err := writeFile(pipe, []byte("through")); err != nil {
		t.Fatal(err)
	}
	if text := <-got; text != "through" {
		t.Errorf("the pipe carried %q", text)
	}
}
