//go:build amd64 || arm64

package runner

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/compilers/container"
)

// containerTarget is a container tool. It needs an image, and is chosen only by name.
func containerTarget(tool container.Tool, pkg string) Target {
	info := runnable(tool.Compiler().Info)
	return Target{
		Info: info, Named: true,
		available: func() error {
			_, err := helper(tool.Name, pkg, "")
			return err
		},
		version: func() string {
			out, _ := exec.Command(tool.Name, "--version").Output()
			return strings.TrimSpace(string(out))
		},
		notes: func(c *confine.Confinement) []compilers.Note {
			var notes []compilers.Note
			if _, ok := throughProxy(c.Network); ok {
				notes = proxyNotes(c.Network)
				c = closed(c)
			}
			return append(tool.Render(c, compilers.Input{Set: map[string]string{"form": "json", "cover": "/cover"}}).Notes, notes...)
		},
		start: func(s *Spec, r *Result) (*process, error) { return startContainer(tool, pkg, s, r) },
	}
}

// containerCommand is what runs a container under a name of its own. clean removes what
// had to be made for it.
func containerCommand(tool container.Tool, s *Spec, name string) (argv []string, clean func(), err error) {
	clean = func() {}
	set := maps.Clone(s.Set)
	if set == nil {
		set = map[string]string{}
	}
	set["form"], set["workdir"] = "json", s.at()
	if set["user"] == "" && tool.User == "" {
		set["user"] = fmt.Sprintf("%d:%d", os.Geteuid(), os.Getegid())
	}
	if tool.Runtime && set["max-fds"] == "" {
		// The tool's own default may be more than this host lets anybody have.
		var l unix.Rlimit
		if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) == nil && l.Max < 1<<20 {
			set["max-fds"] = strconv.FormatUint(l.Max, 10)
		}
	}
	if !tool.NoDev && set["cover"] == "" {
		dir, err := os.MkdirTemp("", "umwelt-cover-")
		if err != nil {
			return nil, clean, err
		}
		clean = func() { os.RemoveAll(dir) }
		set["cover"] = filepath.Join(dir, "cover")
		if err := os.WriteFile(set["cover"], nil, 0); err != nil {
			return nil, clean, err
		}
	}
	out := tool.Render(s.Confinement, compilers.Input{Set: set})
	if out.Diagnostics.HasErrors() {
		return nil, clean, out.Diagnostics.Err()
	}
	var doc struct{ Argv []string }
	if err := json.Unmarshal(out.Text, &doc); err != nil {
		return nil, clean, err
	}
	run := slices.Index(doc.Argv, "run")
	if run < 0 {
		return nil, clean, errors.New("the command line of " + tool.Name + " runs nothing")
	}
	// The runner keeps the time itself, and tells the end of it from others.
	if i := slices.Index(doc.Argv, "--timeout"); i > run {
		doc.Argv = slices.Delete(doc.Argv, i, i+2)
	}
	// The client hands signals on only once it is attached, and dies of them before.
	return slices.Insert(doc.Argv, run+1, "--name", name, "--sig-proxy=false"), clean, nil
}

// enter puts this program before the command of a container, unless the network is open:
// then a filter of sockets would have nothing to hold. m is nil where no proxy is wanted.
func enter(tool container.Tool, s *Spec, r *Result, argv []string, m *meeting) ([]string, error) {
	if open, _ := s.Confinement.Network.AllOrNothing(); open {
		return append(argv, s.Command...), nil
	}
	program, missing := entry(tool, s.Confinement.Limits)
	switch {
	case missing != nil && m != nil:
		return nil, missing
	case missing != nil:
		r.Remarks = append(r.Remarks, "the container has no filter of system calls but its own: "+missing.What+" ("+missing.How+")")
		return append(argv, s.Command...), nil
	}
	network, mounts := enterClosed, []string{"--mount", "type=bind,source=" + program + ",target=" + entryPath + ",ro"}
	if m != nil {
		network = enterProxied
		mounts = append(mounts, "--mount", "type=bind,source="+m.dir()+",target="+meetingPath+",ro")
	}
	argv = slices.Insert(argv, slices.Index(argv, "run")+1, mounts...)
	return append(append(argv, entryPath, stageContainer, network), s.Command...), nil
}

// entryThreads is how many threads this program may need before it is the command. The
// kernel counts them as processes.
const entryThreads = 8

// entry is this program, as far as a container can run it.
func entry(tool container.Tool, l confine.Limits) (string, *MissingError) {
	if l.MaxProcesses != nil && *l.MaxProcesses < entryThreads {
		return "", &MissingError{tool.Name, "max-processes leaves no room for what starts the command", fmt.Sprintf("at least %d", entryThreads)}
	}
	program, err := os.Executable()
	if err != nil {
		return "", &MissingError{tool.Name, "this program does not know where it lies", "mount /proc"}
	}
	if i := interpreter(program); i != "" {
		return "", &MissingError{tool.Name, "this program needs " + i + ", which an image may not have", "build umwelt with CGO_ENABLED=0"}
	}
	if strings.ContainsAny(program, ",\"\r\n") {
		return "", &MissingError{tool.Name, "the path of this program cannot be said to " + tool.Name, "put umwelt where its path has no comma, quote or line break"}
	}
	return program, nil
}

func startContainer(tool container.Tool, pkg string, s *Spec, r *Result) (*process, error) {
	path, err := helper(tool.Name, pkg, s.Confinement.Root)
	if err != nil {
		return nil, err
	}
	name := "umwelt-" + strings.ToLower(rand.Text()[:16])
	argv, clean, err := containerCommand(tool, s, name)
	if err != nil {
		clean()
		return nil, err
	}
	client := func(args ...string) ([]byte, error) {
		ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
		defer cancel()
		c := exec.CommandContext(ctx, path, append(slices.Clone(before(argv, "run")), args...)...)
		c.Env, c.Dir = clientEnvironment(s), "/"
		return c.CombinedOutput()
	}
	// The tool is told never to fetch one.
	image := argv[len(argv)-1]
	if out, err := client("image", "inspect", "--format", "{{.Id}}", image); err != nil {
		clean()
		return nil, &MissingError{tool.Name, "the image " + image + " is not to be had: " + lastLine(out), tool.Name + " pull " + image + ", or --set image= with one that is here"}
	}
	var met *meeting
	rules, proxied := throughProxy(s.Confinement.Network)
	if proxied {
		if met, err = newMeeting(); err != nil {
			clean()
			return nil, err
		}
		removeCover := clean
		clean = func() {
			met.end()
			removeCover()
		}
	}
	if argv, err = enter(tool, s, r, argv, met); err != nil {
		clean()
		return nil, err
	}
	r.Argv = argv
	cmd := &exec.Cmd{Path: path, Args: r.Argv, Env: clientEnvironment(s), Stdin: s.Stdin, Stdout: s.Stdout, Stderr: s.Stderr, Dir: "/"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL}
	p, err := begin(cmd, nil)
	if err != nil {
		clean()
		return nil, fmt.Errorf("%s cannot be started: %w", tool.Name, err)
	}
	if met != nil {
		go met.serve(s, rules)
		p.proxy = met.end
	}
	p.leader = cmd.Process.Pid
	// Rootless, the tool ignores such limits where the kernel's interface is the old one.
	whole := os.Geteuid() == 0
	p.group = &group{held: map[string]bool{"memory": whole, "pids": whole, "cpu": whole}, otherwise: "control group, where " + tool.Name + " can make one"}
	// The container is no child of this process, so that killing the client ends nothing.
	remove := func() {
		_, _ = client("kill", "--signal", "KILL", name)
		_, _ = client("rm", "--force", name)
	}
	p.forward = func(sig unix.Signal) { _, _ = client("kill", "--signal", strconv.Itoa(int(sig)), name) }
	p.killer = remove
	p.clean = clean
	p.outcome = func(own syscall.WaitStatus) (syscall.WaitStatus, bool) {
		if !own.Exited() {
			remove()
		}
		// Where the container did not come as far as the proxy, the status is the tool's own.
		return own, own.Exited() && (met == nil || met.met() || own.ExitStatus() == ExitFailed)
	}
	return p, nil
}

// lastLine is the last line of what a program said.
func lastLine(out []byte) string {
	text := strings.TrimSpace(string(out))
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// before is the flags of the tool itself, which stand before its command.
func before(argv []string, command string) []string {
	return argv[1:slices.Index(argv, command)]
}

// clientEnvironment is the environment of the tool, which passes on what it is told to by
// name. The values that the policy fixes stand in place of those from outside.
func clientEnvironment(s *Spec) []string {
	fixed := map[string]bool{}
	for _, e := range s.Confinement.Env {
		fixed[e.Name] = e.Set
	}
	out := slices.DeleteFunc(slices.Clone(s.Environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return fixed[name]
	})
	for _, e := range s.Confinement.Env {
		if value, ok := s.Values[e.Name]; ok && e.Set {
			out = append(out, e.Name+"="+value)
		}
	}
	return out
}
