// Package probe is the program that runs inside a sandbox and tries things. It reads one
// operation a line, tries it, and writes one result a line. It needs nothing but itself: no
// shell, no library and no file.
//
// What goes well is undone at once, so that one operation leaves nothing for the next.
package probe

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
)

// Argument is the command line that makes a program a probe.
const Argument = "__probe"

// Most is how much of a file is read.
const Most = 1 << 16

// Op is one thing to try. Paths hold exact bytes.
type Op struct {
	Do   string `json:"do"`
	Path []byte `json:"path,omitempty"`
	New  []byte `json:"new,omitempty"` // a second path
	N    int64  `json:"n,omitempty"`   // bytes, nanoseconds or a count
}

// Result is what came of it.
type Result struct {
	OK    bool   `json:"ok"`              // what was to be tried went well
	Error string `json:"error,omitempty"` // why it did not
	// After says what went wrong once it had gone well: what was made could not be read, or
	// undone.
	After string   `json:"after,omitempty"`
	Data  []byte   `json:"data,omitempty"` // of a read: the digest of the content; else a text
	Size  int64    `json:"size,omitempty"`
	Dev   uint64   `json:"dev,omitempty"`
	Ino   uint64   `json:"ino,omitempty"`
	List  [][]byte `json:"list,omitempty"`
	N     int64    `json:"n,omitempty"` // how many went well
}

// Main is the whole program, where the command line asks for it; else it returns.
func Main() {
	if len(os.Args) == 2 && os.Args[1] == Argument {
		if Serve(os.Stdin, os.Stdout) != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// Serve answers operations until their end.
func Serve(r io.Reader, w io.Writer) error {
	in := json.NewDecoder(bufio.NewReader(r))
	buffered := bufio.NewWriter(w)
	out := json.NewEncoder(buffered)
	for {
		var op Op
		if err := in.Decode(&op); err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
		if err := out.Encode(try(op)); err != nil {
			return err
		}
		if err := buffered.Flush(); err != nil {
			return err
		}
	}
}
