package discover

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// inLargePages asks the kernel to back a large new slice by large pages, since taking in one
// small page after the other is most of what it costs to fill. It changes nothing else, and
// need not be heard.
func inLargePages[T any](s []T) []T {
	const large = 2 << 20
	if size := cap(s) * int(unsafe.Sizeof(*new(T))); size >= 2*large {
		_ = unix.Madvise(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), size), unix.MADV_HUGEPAGE)
	}
	return s
}
