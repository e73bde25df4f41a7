//go:build amd64 || arm64

package runner

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"umwelt/compilers"
	"umwelt/compilers/bwrap"
	"umwelt/compilers/confine"
)

var bwrapTarget = Target{
	Info: runnable(bwrap.Info), start: startBwrap,
	available: func() error {
		_, err := helper("bwrap", "bubblewrap", "")
		return err
	},
	version: func() string {
		out, _ := exec.Command("bwrap", "--version").Output()
		return strings.TrimSpace(string(out))
	},
	notes: func(c *confine.Confinement) []compilers.Note {
		_, notes := c.Network.AllOrNothing()
		if _, ok := throughProxy(c.Network); ok {
			notes = proxyNotes(c.Network)
		}
		return append(slices.Clone(c.Notes), notes...)
	},
}

// helper finds an outside program. One that lies in the project is none: whoever may
// write there would decide what holds him.
func helper(name, pkg, root string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", &MissingError{name, name + " is not installed", "apt-get install " + pkg}
	}
	if real, err := filepath.EvalSymlinks(path); root != "" && (err != nil || lies(real, root) || lies(path, root)) {
		return "", &MissingError{name, "the " + name + " on the search path lies in the project", "put the system's directories before the project's in PATH"}
	}
	return path, nil
}

func startBwrap(s *Spec, r *Result) (*process, error) {
	path, err := helper("bwrap", "bubblewrap", s.Confinement.Root)
	if err != nil {
		return nil, err
	}
	if err := findInside(s); err != nil {
		return nil, err
	}
	out := bwrap.Render(s.Confinement, compilers.Input{Set: map[string]string{"form": "nul", "workdir": s.at()}})
	if out.Diagnostics.HasErrors() {
		return nil, out.Diagnostics.Err()
	}
	// The environment is handed over by inheritance, so that no value stands in a list of
	// arguments: it must not be cleared on the way.
	options := strings.Split(strings.TrimSuffix(string(out.Text), "\x00"), "\x00")
	var kept []string
	for _, o := range options {
		if o != "--clearenv" {
			kept = append(kept, o)
		}
	}
	open, _ := s.Confinement.Network.AllOrNothing()
	scoped := landlockABI() >= abiScopes
	prog := filter(policy{sockets: sockets{inet: true, unix: open && scoped}, affinity: s.Confinement.Limits.CPU != nil})
	return launchBwrap(s, r, path, kept, bytesOf(prog), scoped)
}

// The descriptors that bubblewrap gets.
const (
	bwrapArgs = 3 + iota
	bwrapFilter
	bwrapStatus
	bwrapBlock
)

func launchBwrap(s *Spec, r *Result, path string, options []string, prog []byte, scoped bool) (*process, error) {
	args, err := memory("options", []byte(strings.Join(options, "\x00")+"\x00"))
	if err != nil {
		return nil, err
	}
	defer args.Close()
	filter, err := memory("filter", prog)
	if err != nil {
		return nil, err
	}
	defer filter.Close()
	statusR, statusW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	blockR, blockW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer blockW.Close()
	env := environment(s, s.at())
	var out *handover
	var config []byte
	rules, proxied := throughProxy(s.Confinement.Network)
	argv := []string{"bwrap", "--args", strconv.Itoa(bwrapArgs), "--seccomp", strconv.Itoa(bwrapFilter),
		"--json-status-fd", strconv.Itoa(bwrapStatus), "--block-fd", strconv.Itoa(bwrapBlock)}
	if proxied {
		// The network is made before bubblewrap starts, so that it has to keep it.
		argv = append(argv, "--share-net")
	}
	argv = append(append(argv, "--"), s.Command...)
	streams, err := relay(s)
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{Path: path, Args: argv, Env: env}
	if proxied {
		cmd = stageCommand(stageNet)
		cmd.Env = proxyEnvironment(env)
		if out, err = newHandover(); err != nil {
			return nil, err
		}
		if config, err = json.Marshal(netConfig{path, bytesOfAll(argv)}); err != nil {
			return nil, err
		}
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = streams.inside[0], streams.inside[1], streams.inside[2]
	cmd.ExtraFiles = []*os.File{args, filter, statusW, blockR}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL}
	if proxied {
		f, err := memory("configuration", config)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		cmd.ExtraFiles = append(cmd.ExtraFiles, f, out.theirs)
		inNetwork(cmd.SysProcAttr)
	}
	r.Argv = append(append([]string{"bwrap"}, options...), append([]string{"--"}, s.Command...)...)
	p, err := begin(cmd, func() error {
		if os.Geteuid() == 0 {
			if err := guardDevices(); err != nil {
				r.Remarks = append(r.Remarks, "permissions and times of devices such as /dev/null can be changed from inside: "+err.Error())
			}
		}
		if !scoped {
			return nil
		}
		return scope()
	})
	statusW.Close()
	blockR.Close()
	streams.started()
	if out != nil {
		out.theirs.Close()
	}
	if err != nil {
		statusR.Close()
		if out != nil {
			out.mine.Close()
		}
		return nil, fmt.Errorf("bwrap cannot be started: %w", err)
	}
	if out != nil {
		if p.proxy, err = out.serve(s, rules); err != nil {
			_ = cmd.Process.Kill()
			<-p.exited
			statusR.Close()
			return nil, err
		}
	}
	status := json.NewDecoder(bufio.NewReader(statusR))
	var info struct {
		ChildPid int `json:"child-pid"`
	}
	if status.Decode(&info) != nil || info.ChildPid <= 0 {
		<-p.exited
		statusR.Close()
		return nil, errors.New("bwrap could not set the sandbox up; what it says stands above")
	}
	p.leader = info.ChildPid
	// The first process inside is bubblewrap.
	p.group = newGroup(p.leader, s.Confinement.Limits, 1)
	p.drain = func() { streams.wait(r) }
	err = standing(p.leader, p.exited, s.Confinement, s.at())
	if err == nil {
		err = limitProcess(p.leader, s.Confinement.Limits)
	}
	if err == nil {
		stand := Stand{Root: s.at()}
		if proxied {
			stand.Proxy = proxyAddress
		}
		err = p.watch(s, stand)
	}
	if err != nil {
		p.end()
		statusR.Close()
		return nil, err
	}
	if _, err := blockW.Write([]byte{0}); err != nil {
		p.end()
		statusR.Close()
		return nil, errors.New("bwrap ended while the sandbox was set up; what it says stands above")
	}
	p.outcome = func(own syscall.WaitStatus) (syscall.WaitStatus, bool) {
		defer statusR.Close()
		var end struct {
			Exit *int `json:"exit-code"`
		}
		if status.Decode(&end) != nil || end.Exit == nil {
			return own, false
		}
		return syscall.WaitStatus(*end.Exit << 8), true
	}
	return p, nil
}

// limitProcess sets the limits of a process that waits to become the command.
func limitProcess(pid int, l confine.Limits) error {
	for _, limit := range rlimits(l) {
		var now unix.Rlimit
		if err := unix.Prlimit(pid, limit.Resource, nil, &now); err != nil {
			return fmt.Errorf("resource limit %d cannot be read: %w", limit.Resource, err)
		}
		value := min(limit.Value, now.Max)
		if err := unix.Prlimit(pid, limit.Resource, &unix.Rlimit{Cur: value, Max: value}, nil); err != nil {
			return fmt.Errorf("resource limit %d cannot be set: %w", limit.Resource, err)
		}
	}
	if l.CPU == nil {
		return nil
	}
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(pid, &set); err != nil {
		return err
	}
	left := first(set, cores(*l.CPU))
	return unix.SchedSetaffinity(pid, &left)
}

// scope keeps the calling thread, and all that it starts, from the abstract sockets and
// the processes outside. It forbids nothing else, so that mounts can still be made.
func scope() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	r := ruleset{Scoped: unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL}
	return r.restrict()
}

// guardDevices keeps root, to whom the devices belong, from changing permissions and times
// of those that bubblewrap shows inside. They are read-only for the calling thread and
// what it starts; that keeps nobody from writing to a device.
func guardDevices() error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return err
	}
	for _, name := range []string{"full", "null", "random", "tty", "urandom", "zero"} {
		path := "/dev/" + name
		err := unix.Mount(path, path, "", unix.MS_BIND, "")
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = unix.MountSetattr(unix.AT_FDCWD, path, 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// memory is a file that exists nowhere, positioned at its beginning.
func memory(name string, text []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err := f.Write(text); err != nil {
		f.Close()
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
