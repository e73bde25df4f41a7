package main

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// The collector rests, and works as usual from its first collection on.
func TestRest(t *testing.T) {
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	defer func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}()
	t.Setenv("GOGC", "50")
	rest()
	if got := debug.SetMemoryLimit(-1); got != limit {
		t.Errorf("the limit is %d although GOGC is set", got)
	}
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	rest()
	if got := debug.SetMemoryLimit(-1); got != restUntil {
		t.Errorf("the limit is %d, want %d", got, restUntil)
	}
	runtime.GC()
	for range 500 {
		if debug.SetMemoryLimit(-1) == math.MaxInt64 {
			if got := debug.SetGCPercent(100); got != 100 {
				t.Errorf("after a collection, the percentage is %d", got)
			}
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the collector rests for good")
}
