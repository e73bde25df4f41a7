//go:build !linux

package probe

func try(op Op) Result { return Result{Error: "the probe runs on Linux"} }

// Digest is what "read" gives for a content.
func Digest([]byte) []byte { return nil }
