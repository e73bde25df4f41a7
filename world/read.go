package world

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"umwelt/diag"
)

// readSource reads a world file of bounded size. It does not block on a FIFO and reads
// nothing that is not a regular file. name is what people are shown.
func readSource(file, name string) (*diag.Source, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	text, err := io.ReadAll(io.LimitReader(f, maxSnapshot+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxSnapshot {
		return nil, fmt.Errorf("it is larger than %d bytes", maxSnapshot)
	}
	return &diag.Source{Name: name, Text: text}, nil
}

// errorText is the reason of a file error without its path, which messages quote themselves.
func errorText(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return diag.Escape(err.Error())
}

// resolve is the absolute path of what stands at a path, links resolved.
func resolve(file string) (string, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// below reports whether file lies in dir or is dir. Both are clean, with links resolved.
func below(dir, file string) bool {
	if dir == "" {
		return false
	}
	rel, err := filepath.Rel(dir, file)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// stem is a file's name without directory and without ".world.yml" or another extension.
func stem(file string) string {
	base := filepath.Base(filepath.FromSlash(file))
	for _, ext := range []string{".world.yml", ".world.yaml", ".world.json"} {
		if s, ok := strings.CutSuffix(base, ext); ok && s != "" {
			return s
		}
	}
	if s := strings.TrimSuffix(base, filepath.Ext(base)); s != "" {
		return s
	}
	return base
}
