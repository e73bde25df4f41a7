package audit

import (
	"fmt"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"umwelt/ratchet/sources/internal/sourcetest"
)

func TestGolden(t *testing.T) { sourcetest.Golden(t, Source, "*.log") }

func TestBounded(t *testing.T) {
	// No event is ended: what is held must not grow with their number.
	sourcetest.Bounded(t, Source, "", func(i int) string {
		return fmt.Sprintf(`type=SYSCALL msg=audit(1790000001.100:%[1]d): arch=c000003e syscall=257 success=yes exit=3 a0=ffffff9c a1=7ffc a2=80000 a3=0 items=1 pid=1000 comm="cat" exe="/usr/bin/cat" key="watch"
type=CWD msg=audit(1790000001.100:%[1]d): cwd="/home/ada"
type=PATH msg=audit(1790000001.100:%[1]d): item=0 name="f%[1]d" inode=42 dev=08:01 mode=0100644 nametype=NORMAL
`, i)
	})
}

func FuzzAudit(f *testing.F) {
	sourcetest.Fuzz(f, Source, "*.log",
		"type=SYSCALL msg=audit(1.000:1): arch=c000003e syscall=42 success=yes\ntype=SOCKADDR msg=audit(1.000:1): saddr=0A\n",
		"type=1300 audit(1.000:1): arch=c000003e syscall=59 success=yes\ntype=1309 audit(1.000:1): argc=1 a0_len=2 a0[0]=41\ntype=1302 audit(1.000:1): name=\"/a\"\n")
}

// TestNumbersAreTheKernels holds the tables to the numbers that this machine was built with.
func TestNumbersAreTheKernels(t *testing.T) {
	table := map[string]func() map[string]string{"amd64": x86, "arm64": arm}[runtime.GOARCH]
	if table == nil {
		t.Skipf("there is no table for %s", runtime.GOARCH)
	}
	for number, name := range map[int]string{
		unix.SYS_OPENAT: "openat", unix.SYS_EXECVE: "execve", unix.SYS_CONNECT: "connect", unix.SYS_BIND: "bind", unix.SYS_UNLINKAT: "unlinkat",
		unix.SYS_RENAMEAT2: "renameat2", unix.SYS_OPENAT2: "openat2", unix.SYS_STATX: "statx", unix.SYS_READ: "read", unix.SYS_FACCESSAT2: "faccessat2",
	} {
		if got := table()[fmt.Sprint(number)]; got != name {
			t.Errorf("%d is %q, want %q", number, got, name)
		}
	}
}

// TestCallsAreCalls holds that every system call whose meaning is written is one.
func TestCallsAreCalls(t *testing.T) {
	known := map[string]bool{"fstatat": true} // as strace and older tables call it
	for _, table := range []map[string]string{x86(), arm()} {
		for _, name := range table {
			known[name] = true
		}
	}
	for name := range calls {
		if !known[name] {
			t.Errorf("%s is no system call", name)
		}
	}
}
