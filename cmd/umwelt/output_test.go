package main

import (
	"errors"
	"io"
	"io/fs"
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
		if err := writeFile(path, false, plainText(text)); err != nil {
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
		if writeFile(path, false, plainText("x")) == nil {
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

// plainText is a text as writeFile takes it.
func plainText(text string) func(io.Writer) error {
	return func(to io.Writer) error {
		_, err := io.WriteString(to, text)
		return err
	}
}

// A file that has to be new takes the place of nothing, and leaves nothing aside.
func TestWriteFileNew(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	if err := writeFile(path, true, plainText("one")); err != nil {
		t.Fatal(err)
	}
	if err := writeFile(path, true, plainText("two")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("the second time gives %v", err)
	}
	// One that appears while the text is made stays, too.
	late := filepath.Join(dir, "late")
	err := writeFile(late, true, func(to io.Writer) error { return os.WriteFile(late, []byte("theirs"), 0o600) })
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file that appeared meanwhile gives %v", err)
	}
	for path, want := range map[string]string{path: "one", late: "theirs"} {
		if text, err := os.ReadFile(path); err != nil || string(text) != want {
			t.Errorf("%s holds %q (%v), want %q", path, text, err, want)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("%d entries, want the two files (%v)", len(entries), err)
	}
}

func TestWriteFileLeavesDevicesAndPipesAlone(t *testing.T) {
	if err := writeFile(os.DevNull, false, plainText("x")); err != nil {
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
	if err := writeFile(pipe, false, plainText("through")); err != nil {
		t.Fatal(err)
	}
	if text := <-got; text != "through" {
		t.Errorf("the pipe carried %q", text)
	}
}
