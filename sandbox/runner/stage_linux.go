//go:build amd64 || arm64

package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"golang.org/x/sys/unix"
)

// The stages of a sandbox without a helper program. The tool runs itself again: the first
// stage is the first process of the new namespaces, makes the mounts and stays to collect
// what ends; the second one lays every restriction on itself and becomes the command.
const (
	stageInit = "__sandbox-init"
	stageExec = "__sandbox-exec"
)

// The descriptors of the stages.
const (
	fdConfig = 3 // what to do, as JSON
	fdStatus = 4 // that all is ready, or what went wrong, as JSON; closed once the command runs
	fdGo     = 5 // closed outside once the command may run
	fdResult = 6 // the first stage writes how the command ended
	fdListen = 7 // the first stage hands the proxy's listener out, where there is one
)

// initConfig is what the first stage reads.
type initConfig struct {
	Mounts mountsConfig
	Listen bool            // a listener for the proxy is wanted
	Exec   json.RawMessage // execConfig
}

// failure is what a stage writes when it gives up, and when all is ready.
type failure struct {
	Ready        bool
	Exit         int
	What         string
	NoNamespaces bool // the namespaces are there, but nothing can be done in them
}

// outcome is what the first stage writes at the end.
type outcome struct{ Status uint32 }

// Main runs a stage and does not return, where the command line asks for one. A program
// that uses this package calls it before anything else.
func Main() {
	if len(os.Args) > 3 && os.Args[1] == stageContainer {
		os.Exit(containerStage(os.Args[2], os.Args[3:]))
	}
	if len(os.Args) != 2 {
		return
	}
	switch os.Args[1] {
	case stageInit:
		os.Exit(initStage())
	case stageNet:
		os.Exit(netStage())
	case stageExec:
		runtime.LockOSThread()
		var c execConfig
		if readConfig(&c) {
			fail(becomeCommand(&c))
		}
		os.Exit(ExitFailed)
	}
}

// decodeFrom reads JSON from a descriptor and closes it.
func decodeFrom(fd int, to any) error {
	f := os.NewFile(uintptr(fd), "configuration")
	defer f.Close()
	return json.NewDecoder(f).Decode(to)
}

func readConfig(to any) bool {
	if err := decodeFrom(fdConfig, to); err != nil {
		fail(failure{Exit: ExitFailed, What: fmt.Sprintf("a stage of the sandbox got no configuration: %v", err)})
		return false
	}
	unix.CloseOnExec(fdStatus)
	return true
}

func fail(f failure) {
	_ = json.NewEncoder(os.NewFile(fdStatus, "status")).Encode(f)
}

func initStage() int {
	// From when the command runs there is no room for another thread of this process.
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(-1)
	var c initConfig
	if !readConfig(&c) {
		return ExitFailed
	}
	unix.CloseOnExec(fdGo)
	unix.CloseOnExec(fdResult)
	// Signals to the session are for the command. The runner ends this process by one
	// that cannot be caught.
	signal.Notify(make(chan os.Signal, 1), unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2, unix.SIGWINCH, unix.SIGPIPE)
	// Nobody inside may look into this process, which is not confined.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		fail(failure{Exit: ExitFailed, What: fmt.Sprintf("the first process cannot be protected: %v", err)})
		return ExitFailed
	}
	if f := c.Mounts.make(); f != nil {
		fail(*f)
		return ExitFailed
	}
	if c.Listen {
		if err := give(fdListen); err != nil {
			fail(failure{Exit: ExitFailed, What: fmt.Sprintf("the listener of the proxy cannot be made: %v", err)})
			return ExitFailed
		}
	}
	cmd, err := startExecStage(c.Exec)
	if err != nil {
		fail(failure{Exit: ExitFailed, What: fmt.Sprintf("the second stage cannot be started: %v", err)})
		return ExitFailed
	}
	unix.Close(fdStatus)
	unix.Close(fdGo)
	status := collect(cmd.Process.Pid)
	_ = json.NewEncoder(os.NewFile(fdResult, "result")).Encode(outcome{uint32(status)})
	return 0
}

// startExecStage starts the second stage with the standard streams of this one.
func startExecStage(config json.RawMessage) (*exec.Cmd, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd := stageCommand(stageExec)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{r, os.NewFile(fdStatus, "status"), os.NewFile(fdGo, "go")}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	r.Close()
	_, err = w.Write(config)
	w.Close()
	return cmd, err
}

// stageCommand runs this program again. Its own environment stays empty, so that the
// process list shows nothing of it.
func stageCommand(stage string) *exec.Cmd {
	cmd := &exec.Cmd{Path: "/proc/self/exe", Args: []string{"umwelt", stage}, Env: []string{}}
	return cmd
}

// collect waits for the command, and for whatever its descendants leave behind meanwhile.
func collect(command int) syscall.WaitStatus {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return syscall.WaitStatus(ExitFailed << 8)
		case pid == command:
			return status
		}
	}
}

// ready says that all is done but running the command, and waits until it may run. From
// then on there may be no room for another thread of this process.
func ready() error {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(-1)
	fail(failure{Ready: true})
	n, err := unix.Read(fdGo, make([]byte, 1))
	for err == unix.EINTR {
		n, err = unix.Read(fdGo, make([]byte, 1))
	}
	if err == nil && n != 0 {
		err = errors.New("it was told something else")
	}
	return err
}

// hear reads what a stage says next; ok is false where it says nothing more.
func hear(d *json.Decoder) (f failure, ok bool) {
	err := d.Decode(&f)
	return f, err == nil
}
