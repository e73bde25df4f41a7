package main

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
)

// restUntil is the memory, in bytes, up to which the garbage collector rests. A policy over
// 100,000 files takes less than half of it, so that most commands end without collecting.
const restUntil = 256 << 20

// rest lets the garbage collector rest until this process has some memory, and work as usual
// from then on. Whoever sets GOGC or GOMEMLIMIT has his way.
func rest() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(restUntil)
	// The first collection finds that nobody holds this.
	runtime.SetFinalizer(new([16]byte), func(*[16]byte) {
		debug.SetGCPercent(100)
		debug.SetMemoryLimit(math.MaxInt64)
	})
}
