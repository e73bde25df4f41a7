//go:build amd64 || arm64

package runner

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// A filter is a program that the kernel runs at every system call. It is made of checks
// in order; the first one that fits decides, and what fits none is allowed.
type check struct {
	nr    uint32 // number of the system call
	tests []test // all of which must hold
	deny  uint16 // the error that the caller gets
}

// test is one question about an argument: whether arg & mask is (or is not) one of values.
// Only the low 32 bits are looked at, since the arguments asked about are of that size in
// the kernel.
type test struct {
	arg    int
	mask   uint32
	values []uint32
	not    bool
}

// The offsets in what the kernel shows a filter.
const (
	offsetNr   = 0
	offsetArch = 4
	offsetArgs = 16
)

// assemble writes checks as a program. A call of another architecture than the one the
// numbers belong to ends the process: its numbers mean something else.
func assemble(checks []check) []unix.SockFilter {
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	ret := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	jump := func(op uint16, k uint32, yes, no int) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, K: k, Jt: uint8(yes), Jf: uint8(no)}
	}
	prog := []unix.SockFilter{
		load(offsetArch), jump(unix.BPF_JEQ, auditArch, 1, 0), ret(unix.SECCOMP_RET_KILL_PROCESS),
		load(offsetNr),
	}
	if otherNumbers != 0 {
		prog = append(prog, jump(unix.BPF_JGE, otherNumbers, 0, 1), ret(unix.SECCOMP_RET_KILL_PROCESS))
	}
	for _, c := range checks {
		var body []unix.SockFilter
		for i := len(c.tests) - 1; i >= 0; i-- {
			t := c.tests[i]
			// After this test stand those that follow, the denial, and the load that makes
			// the number ready for the next check.
			rest := len(body) + 1
			part := []unix.SockFilter{load(uint32(offsetArgs + 8*t.arg)), {Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: t.mask}}
			for j, v := range t.values {
				left := len(t.values) - j - 1
				yes, no := left, 0
				if left == 0 {
					no = rest
				}
				if t.not {
					yes, no = left+rest, 0
				}
				part = append(part, jump(unix.BPF_JEQ, v, yes, no))
			}
			body = append(part, body...)
		}
		body = append(body, ret(unix.SECCOMP_RET_ERRNO|uint32(c.deny)))
		if len(c.tests) > 0 {
			body = append(body, load(offsetNr))
		}
		skip := len(body)
		prog = append(append(prog, jump(unix.BPF_JEQ, c.nr, 0, skip)), body...)
	}
	return append(prog, ret(unix.SECCOMP_RET_ALLOW))
}

// bytesOf is a program as the kernel and bubblewrap read it.
func bytesOf(prog []unix.SockFilter) []byte {
	out := make([]byte, 0, 8*len(prog))
	for _, i := range prog {
		out = binary.NativeEndian.AppendUint16(out, i.Code)
		out = append(out, i.Jt, i.Jf)
		out = binary.NativeEndian.AppendUint32(out, i.K)
	}
	return out
}
