package discover

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// maxIndex bounds the files of a repository that are read whole.
const maxIndex = 512 << 20

// readSmall reads a regular file of at most limit bytes, without blocking on a FIFO.
func readSmall(name string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
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
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("it is larger than %d bytes", limit)
	}
	return text, err
}

// readIndex lists the paths that a repository tracks, relative to the working tree. A
// repository without an index tracks nothing.
func readIndex(r repository) ([]string, error) {
	hash := 20
	if config, err := readSmall(filepath.Join(r.common, "config"), 1<<20); err == nil && sha256Format.Match(config) {
		hash = 32
	}
	text, err := readSmall(filepath.Join(r.dir, "index"), maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parseIndex(text, hash)
}

var sha256Format = regexp.MustCompile(`(?im)^\s*objectformat\s*=\s*"?sha256"?\s*$`)

var errIndex = errors.New("it is malformed")

// parseIndex reads an index of version 2, 3 or 4, whose object names are hash bytes long.
func parseIndex(text []byte, hash int) ([]string, error) {
	if len(text) < 12+hash || string(text[:4]) != "DIRC" {
		return nil, errIndex
	}
	version := binary.BigEndian.Uint32(text[4:])
	if version < 2 || version > 4 {
		return nil, fmt.Errorf("its version %d is not known", version)
	}
	n := int(binary.BigEndian.Uint32(text[8:]))
	end := len(text) - hash
	fixed := 40 + hash + 2
	if n > (end-12)/(fixed+1) {
		return nil, errIndex
	}
	names := make([]string, 0, n)
	at, last := 12, ""
	total := 0
	for range n {
		start := at
		if at+fixed > end {
			return nil, errIndex
		}
		at += fixed
		if flags := binary.BigEndian.Uint16(text[at-2:]); flags&0x4000 != 0 {
			if version < 3 {
				return nil, errIndex
			}
			at += 2
		}
		strip := 0
		if version == 4 {
			var ok bool
			if strip, at, ok = indexVarint(text[:end], at); !ok || strip > len(last) {
				return nil, errIndex
			}
		}
		if at > end {
			return nil, errIndex
		}
		size := bytes.IndexByte(text[at:end], 0)
		if size < 0 {
			return nil, errIndex
		}
		name := string(text[at : at+size])
		if version == 4 {
			name = last[:len(last)-strip] + name
			at += size + 1
		} else {
			at = start + (at+size-start+8)/8*8
		}
		if at > end {
			return nil, errIndex
		}
		if total += len(name); total > maxIndex {
			return nil, errIndex // long names that share prefixes could fill the memory
		}
		last = name
		if !validIndexName(name) {
			return nil, errIndex
		}
		if !strings.HasSuffix(name, "/") { // a directory of a sparse index is not checked out
			names = append(names, name)
		}
	}
	return names, refuseLinked(text[at:end])
}

// refuseLinked looks at the extensions: with a linked (split) index, the names read so far
// are not all.
func refuseLinked(rest []byte) error {
	for len(rest) >= 8 {
		size := int(binary.BigEndian.Uint32(rest[4:]))
		if string(rest[:4]) == "link" {
			return errors.New("it is a split index; git update-index --no-split-index joins it")
		}
		if size > len(rest)-8 {
			return errIndex
		}
		rest = rest[8+size:]
	}
	return nil
}

// indexVarint reads the variable-length number of version 4 at i.
func indexVarint(text []byte, i int) (n, next int, ok bool) {
	for shift := 0; ; shift++ {
		if i >= len(text) || shift > 4 {
			return 0, i, false
		}
		c := text[i]
		i++
		n = n<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return n, i, true
		}
		n++
	}
}

func validIndexName(name string) bool {
	if name == "" || name[0] == '/' {
		return false
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(name, "/"), "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}

// contains reports whether a sorted list holds s.
func contains(sorted []string, s string) bool {
	_, ok := slices.BinarySearch(sorted, s)
	return ok
}
