//go:build amd64 || arm64

package runner

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/compilers/nsjail"
	"umwelt/diag"
)

// nsjailTarget is nsjail, which is chosen only by name.
var nsjailTarget = Target{
	Info: nsjailInfo(), Named: true, start: startNsjail,
	available: func() error {
		_, err := nsjailProgram("")
		return err
	},
	version: func() string { return "" }, // it does not say
	notes: func(c *confine.Confinement) []compilers.Note {
		return nsjail.Render(c, compilers.Input{}).Notes
	},
}

// nsjailInfo leaves no choice of how limits are held, since what is told of them goes by
// the one that holds them all.
func nsjailInfo() compilers.Info {
	info := runnable(nsjail.Info)
	info.Options = slices.DeleteFunc(info.Options, func(o compilers.Option) bool { return o.Key == "limits" })
	return info
}

func nsjailProgram(root string) (string, error) {
	path, err := helper("nsjail", "", root)
	var missing *MissingError
	if path == "" && errors.As(err, &missing) && strings.HasSuffix(missing.What, "not installed") {
		missing.How = "build it from its sources, https://github.com/google/nsjail; Debian has no package"
	}
	return path, err
}

// The descriptors that nsjail gets.
const (
	nsjailConfig = 3 + iota
	nsjailLog
)

// nsjailFailed is the exit status of nsjail where it could not start the command, which may
// have ended with the same one: its log tells them apart.
const nsjailFailed = 255

func startNsjail(s *Spec, r *Result) (*process, error) {
	path, err := nsjailProgram(s.Confinement.Root)
	if err != nil {
		return nil, err
	}
	// It looks for no command itself.
	command, err := locate(s)
	if err != nil {
		return nil, err
	}
	bounds := *s.Confinement
	bounds.Limits.WallTime = nil // the runner keeps the time itself
	out := nsjail.Render(&bounds, compilers.Input{Set: map[string]string{"workdir": s.at()}})
	if out.Diagnostics.HasErrors() {
		return nil, out.Diagnostics.Err()
	}
	config, err := memory("config", out.Text)
	if err != nil {
		return nil, err
	}
	defer config.Close()
	streams, err := relay(s)
	if err != nil {
		return nil, err
	}
	logR, logW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	env := environment(s, s.at())
	r.Argv = append(nsjailArgv(s, env, command), s.Command[1:]...)
	cmd := &exec.Cmd{Path: path, Args: r.Argv, Env: env, Dir: "/", ExtraFiles: []*os.File{config, logW}}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = streams.inside[0], streams.inside[1], streams.inside[2]
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL}
	p, err := begin(cmd, nil)
	logW.Close()
	streams.started()
	if err != nil {
		logR.Close()
		return nil, fmt.Errorf("nsjail cannot be started: %w", err)
	}
	own := make(chan bool, 1)
	go func() { own <- readNsjailLog(logR, s.Stderr) }()
	p.leader, p.drain = cmd.Process.Pid, func() { streams.wait(r) }
	p.group = &group{held: map[string]bool{"memory": true, "pids": true, "cpu": true}}
	// It ends the command on a signal that it knows, and hands none on.
	end := func() { _ = unix.Kill(p.leader, unix.SIGTERM) }
	p.forward = func(sig unix.Signal) {
		if sig != unix.SIGWINCH {
			end()
		}
	}
	p.killer = func() {
		end()
		select {
		case <-p.exited:
		case <-time.After(2 * time.Second):
		}
	}
	p.outcome = func(status syscall.WaitStatus) (syscall.WaitStatus, bool) {
		_ = logR.SetReadDeadline(time.Now().Add(time.Second))
		commands := <-own
		logR.Close()
		switch {
		case !status.Exited(), status.ExitStatus() == nsjailFailed && !commands:
			return status, false
		case p.ended != 0 && status.ExitStatus() == 128+int(unix.SIGTERM):
			return status, false // it is what was asked for, under another name
		}
		return status, true
	}
	return p, nil
}

// nsjailArgv is what comes before the command's arguments. Variables stand in it by name,
// which makes nsjail take their values from its own environment.
func nsjailArgv(s *Spec, env []string, command string) []string {
	argv := []string{"nsjail", "--config", "/proc/self/fd/" + strconv.Itoa(nsjailConfig), "--log_fd", strconv.Itoa(nsjailLog), "--env", "PWD"}
	given := map[string]bool{}
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		given[name] = true
	}
	for _, e := range s.Confinement.Env {
		if e.Set && given[e.Name] && e.Name != "PATH" && e.Name != "PWD" {
			argv = append(argv, "--env", e.Name)
		}
	}
	return append(argv, "--", command)
}

// readNsjailLog passes errors on, and reports whether the command itself ended with the
// exit status that nsjail has where it fails.
func readNsjailLog(log, to *os.File) (commands bool) {
	lines := bufio.NewReaderSize(log, 64<<10)
	for {
		line, err := lines.ReadString('\n')
		line = strings.TrimSuffix(line, "\n")
		if to != nil && (strings.HasPrefix(line, "[E]") || strings.HasPrefix(line, "[F]")) {
			fmt.Fprintf(to, "nsjail: %s\n", diag.Escape(line))
		}
		commands = commands || strings.Contains(line, "exited with status: "+strconv.Itoa(nsjailFailed)+",")
		if err != nil {
			return commands
		}
	}
}
