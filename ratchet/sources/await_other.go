//go:build !linux

package sources

import (
	"os/exec"
	"time"
)

// awaitExit gives the program a moment to end. Only Linux tells that it has ended without
// forgetting its number.
func awaitExit(*exec.Cmd) { time.Sleep(drain) }
