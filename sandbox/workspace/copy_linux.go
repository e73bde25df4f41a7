package workspace

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// blockSize is how much of a file is in memory at a time, and the least hole that a copy
// keeps.
const blockSize = 256 << 10

var errChanging = errors.New("it was changed while it was read")

// hashFile is the SHA-256 of an open file's content in hexadecimal and its length. It
// fails where the file is longer or shorter than size, so that a file that grows for ever
// cannot be read for ever.
func hashFile(f *os.File, size int64) (string, error) {
	h := sha256.New()
	n, err := io.CopyBuffer(h, struct{ io.Reader }{io.LimitReader(f, size+1)}, make([]byte, min(blockSize, size+1)))
	if err != nil {
		return "", err
	}
	if n != size {
		return "", errChanging
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// copyFile copies the content of an open file into an empty one and gives its length and
// hash. Where the filesystem can, the two share their blocks. Holes stay holes.
func copyFile(to, from *os.File, step func()) (int64, string, error) {
	before, err := stamp(from)
	if err != nil {
		return 0, "", err
	}
	size := before.size
	var sum string
	step()
	if unix.IoctlFileClone(int(to.Fd()), int(from.Fd())) == nil {
		sum, err = hashFile(to, size)
	} else {
		sum, err = stream(to, from, size, step)
	}
	if err != nil {
		return 0, "", err
	}
	if after, err := stamp(from); err != nil || after != before {
		return 0, "", errChanging
	}
	return size, sum, nil
}

// zeros is compared with and never written to.
var zeros [blockSize]byte

func stream(to, from *os.File, size int64, step func()) (string, error) {
	h := sha256.New()
	buf := make([]byte, min(blockSize, size+1))
	for at := int64(0); at <= size; {
		n, err := from.ReadAt(buf[:min(int64(len(buf)), size+1-at)], at)
		if err != nil && err != io.EOF {
			return "", err
		}
		if n == 0 {
			if at != size {
				return "", errChanging
			}
			break
		}
		if at+int64(n) > size {
			return "", errChanging
		}
		h.Write(buf[:n])
		if n < blockSize || !bytes.Equal(buf[:n], zeros[:]) {
			step()
			if _, err := to.WriteAt(buf[:n], at); err != nil {
				return "", err
			}
		}
		at += int64(n)
	}
	// A hole at the end has no last byte to give the file its length.
	step()
	if err := to.Truncate(size); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// fingerprint tells whether what stands at a path is still what it was, without reading
// it. Its change time cannot be set by a program.
type fingerprint struct {
	dev, ino   uint64
	size       int64
	ctime      unix.Timespec
	mtime      unix.Timespec
	mode, uid  uint32
	gid, nlink uint64
}

func fingerprintOf(st *unix.Stat_t) fingerprint {
	return fingerprint{
		dev: uint64(st.Dev), ino: st.Ino, size: st.Size, ctime: st.Ctim, mtime: st.Mtim, mode: st.Mode,
		uid: st.Uid, gid: uint64(st.Gid), nlink: uint64(st.Nlink),
	}
}

// still reports whether a later fingerprint is of the same, unchanged file. A file with
// several names may have lost some of them: that changes its change time.
func (f fingerprint) still(later fingerprint) bool {
	if f.nlink > 1 {
		f.nlink, f.ctime = later.nlink, later.ctime
	}
	return f == later
}

func stamp(f *os.File) (fingerprint, error) {
	var st unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &st)
	return fingerprintOf(&st), err
}
