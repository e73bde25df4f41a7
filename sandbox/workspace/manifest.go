package workspace

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"umwelt/compilers/confine"
	"umwelt/diag"
)

// Schema names the form of the manifest.
const Schema = "umwelt.workspace/1"

// Manifest is what was put into a workspace and what the policy allows there, sorted by
// path, parents first. The first entry is the project's root, ".".
type Manifest struct {
	Schema   string   `json:"schema"`
	Root     Name     `json:"root"` // absolute
	Strategy Strategy `json:"strategy"`
	Entries  []Entry  `json:"entries"`
	// Digest is "sha256:" and the hash of the manifest as JSON with an empty digest. It
	// tells damage and exchange apart from the record that Build returned.
	Digest string `json:"digest"`
}

// Kind is what stands at a path.
type Kind string

// The kinds of entry. KindAbsent is a path that the world knows and the project lacks.
const (
	KindFile    Kind = "file"
	KindDir     Kind = "dir"
	KindSymlink Kind = "symlink"
	KindSpecial Kind = "special"
	KindAbsent  Kind = "absent"
)

// Entry is one path of the project as it was when the workspace was built. Of a hidden
// path nothing but its kind is recorded.
type Entry struct {
	Path Name `json:"path"`
	Kind Kind `json:"kind"`
	// Mode is what the actor may do here; for a directory, what it may do with files that
	// are created below it, outside of the directories that have entries of their own.
	Mode    confine.Mode `json:"-"`
	Present bool         `json:"present,omitempty"` // it stands in the tree
	Linked  bool         `json:"linked,omitempty"`  // in the tree it is a link to the project's file
	Perm    uint32       `json:"-"`                 // the nine permission bits of a file or directory
	Size    int64        `json:"size,omitempty"`
	SHA256  string       `json:"sha256,omitempty"` // of a file's content, in hexadecimal
	Target  Name         `json:"target,omitempty"` // the text of a symbolic link
}

// entryJSON is an entry with its mode and permission bits in words.
type entryJSON struct {
	plainEntry
	Mode string `json:"mode"`
	Perm string `json:"perm,omitempty"`
}

type plainEntry Entry

// MarshalJSON writes the mode as hidden, ro or rw and the permission bits in octal.
func (e Entry) MarshalJSON() ([]byte, error) {
	j := entryJSON{plainEntry: plainEntry(e), Mode: e.Mode.String()}
	if e.Perm != 0 || e.Present && (e.Kind == KindFile || e.Kind == KindDir) {
		j.Perm = fmt.Sprintf("%04o", e.Perm)
	}
	return plainJSON(j)
}

// UnmarshalJSON reads what MarshalJSON writes, and nothing else.
func (e *Entry) UnmarshalJSON(text []byte) error {
	var j entryJSON
	if err := strictJSON(text, &j); err != nil {
		return err
	}
	*e = Entry(j.plainEntry)
	switch j.Mode {
	case "hidden":
	case "ro":
		e.Mode = confine.ReadOnly
	case "rw":
		e.Mode = confine.ReadWrite
	default:
		return fmt.Errorf("there is no mode %s", diag.Quote(j.Mode))
	}
	if j.Perm != "" {
		perm, err := strconv.ParseUint(j.Perm, 8, 32)
		if err != nil || perm > 0o777 {
			return fmt.Errorf("%s are no permission bits", diag.Quote(j.Perm))
		}
		e.Perm = uint32(perm)
	}
	return nil
}

// Name is the exact bytes of a path or a link's text. In JSON it is a string, or, where
// it is not UTF-8, an object that holds the bytes in base 64.
type Name string

type rawName struct {
	Base64 []byte `json:"base64"`
}

// MarshalJSON writes a string or {"base64": "…"}.
func (n Name) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(n)) {
		return plainJSON(string(n))
	}
	return json.Marshal(rawName{[]byte(n)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (n *Name) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err == nil {
		*n = Name(s)
		return nil
	}
	var raw rawName
	err := strictJSON(text, &raw)
	*n = Name(raw.Base64)
	return err
}

func (m *Manifest) encode() ([]byte, error) {
	m.Digest = ""
	text, err := plainJSON(m)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	m.Digest = "sha256:" + hex.EncodeToString(sum[:])
	return plainJSON(m)
}

// decode reads a manifest and refuses one that is damaged or could not have been written
// by this package.
func decode(text []byte) (*Manifest, error) {
	m := &Manifest{}
	if err := strictJSON(text, m); err != nil {
		return nil, err
	}
	if m.Schema != Schema {
		return nil, fmt.Errorf("its schema is %s, not %s", diag.Quote(m.Schema), Schema)
	}
	digest := m.Digest
	if _, err := m.encode(); err != nil {
		return nil, err
	}
	if m.Digest != digest {
		return nil, errors.New("its digest does not fit what it says")
	}
	return m, m.validate()
}

func (m *Manifest) validate() error {
	if root := string(m.Root); !filepath.IsAbs(root) || filepath.Clean(root) != root || strings.ContainsRune(root, 0) {
		return fmt.Errorf("its root %s is no clean absolute path", diag.Quote(root))
	}
	for i := range m.Entries {
		e := &m.Entries[i]
		path := string(e.Path)
		switch {
		case i == 0 && (path != "." || e.Kind != KindDir || !e.Present):
			return errors.New("its first entry is not the root")
		case i > 0 && !validPath(path):
			return fmt.Errorf("the path %s could lead out of the root", diag.Quote(path))
		case i > 1 && confine.ComparePaths(string(m.Entries[i-1].Path), path) >= 0:
			return fmt.Errorf("the path %s is out of order", diag.Quote(path))
		}
		switch e.Kind {
		case KindFile, KindDir, KindSymlink, KindSpecial, KindAbsent:
		default:
			return fmt.Errorf("there is no kind %s", diag.Quote(string(e.Kind)))
		}
	}
	if len(m.Entries) == 0 {
		return errors.New("it has no entries")
	}
	return nil
}

// The longest path that Linux takes.
const maxPath = 4095

// validPath reports whether a path is relative, clean and stays below the root.
func validPath(path string) bool {
	if path == "" || len(path) > maxPath || strings.ContainsRune(path, 0) {
		return false
	}
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}

// plainJSON writes "<", ">" and "&" as they are.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// strictJSON reads one value and refuses keys it does not know.
func strictJSON(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows the end")
	}
	return nil
}
