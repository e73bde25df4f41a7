package probe

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// attempt tries one kind of operation. An error before done says that it did not go well.
type attempt func(op Op, r *Result) error

var attempts = map[string]attempt{
	"append": appendTo, "burn": burn, "chmod": chmod, "create": create, "create-below": createBelow, "environ": environ,
	"exchange": exchange, "exec": execute, "fds": fds, "fifo": fifo, "fill": fill, "link": link, "list": list, "lstat": lstat,
	"memory": memory, "mkdir": mkdir, "processes": processes, "read": read, "readlink": readlink, "remove": remove, "rename": rename,
	"proxy": throughProxy, "replace": replace, "replace-link": replaceLink, "sleep": sleep, "tcp": tcp, "truncate": truncate, "udp": udp, "unix": unixSocket, "write": write,
}

func try(op Op) (r Result) {
	do, known := attempts[op.Do]
	if !known {
		return Result{Error: fmt.Sprintf("the probe knows no %q", op.Do)}
	}
	if err := do(op, &r); err != nil {
		r.OK, r.Error = false, err.Error()
		return r
	}
	r.OK = true
	return r
}

// after notes what went wrong once an operation had gone well.
func (r *Result) after(what string, err error) {
	if err != nil && r.After == "" {
		r.After = what + ": " + err.Error()
	}
}

// open opens what stands at a path itself, and waits for nobody.
func open(path []byte, flags int) (*os.File, error) {
	fd, err := unix.Open(string(path), flags|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), string(path)), nil
}
