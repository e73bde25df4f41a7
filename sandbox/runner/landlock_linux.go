//go:build amd64 || arm64

package runner

import (
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/compilers/landlock"
)

// The least versions of the kernel's interface that hold what they are needed for.
const (
	abiTruncate = 3 // files can be emptied by nobody who may not write them
	abiPorts    = 4
	abiIoctl    = 5
	abiScopes   = 6
)

var landlockTarget = Target{
	Info: runnable(landlock.Info), start: startLandlock,
	available: func() error {
		if landlockABI() < abiTruncate {
			return &MissingError{"landlock", "this kernel has no Landlock that can hold a file against truncation",
				"Linux 6.2 or later, with landlock in the list of security modules"}
		}
		return nil
	},
	version: func() string { return fmt.Sprintf("Landlock ABI %d", landlockABI()) },
	notes: func(c *confine.Confinement) []compilers.Note {
		_, notes := landlock.Rules(proxied(c))
		if _, ok := throughProxy(c.Network); ok && proxied(c) != c {
			notes = append(notes, proxyNotes(c.Network)...)
		}
		return append(slices.Clone(c.Notes), notes...)
	},
}

// proxied is a confinement as Landlock sees it: where a proxy opens what the policy does,
// the network itself is closed. Ports of any host it can open by itself.
func proxied(c *confine.Confinement) *confine.Confinement {
	hosts := c.Network.Open || slices.ContainsFunc(c.Network.Allow, func(e confine.Endpoint) bool {
		return e.Host != "" || e.CIDR != "" || e.Port == 0 || len(e.Less) > 0
	})
	if _, ok := throughProxy(c.Network); !ok || !hosts && len(c.Network.Deny) == 0 {
		return c
	}
	return closed(c)
}

// closed is a confinement without a network.
func closed(c *confine.Confinement) *confine.Confinement {
	out := *c
	out.Network = confine.Network{}
	return &out
}

func startLandlock(s *Spec, r *Result) (*process, error) {
	streams, err := relay(s)
	if err != nil {
		return nil, err
	}
	inside := *s
	inside.Stdin, inside.Stdout, inside.Stderr = streams.inside[0], streams.inside[1], streams.inside[2]
	p, err := tryLandlock(&inside, r)
	streams.started()
	if err != nil {
		return nil, err
	}
	p.drain = func() { streams.wait(r) }
	return p, nil
}

// tryLandlock starts the command with namespaces, or where there are none, without.
func tryLandlock(s *Spec, r *Result) (*process, error) {
	set, _ := landlock.Rules(proxied(s.Confinement))
	p, err := (*process)(nil), errNoNamespaces
	if !s.bare {
		p, err = launchLandlock(s, r, set, true)
	}
	if errors.Is(err, errNoNamespaces) {
		if proxied(s.Confinement) != s.Confinement {
			r.Remarks = append(r.Remarks, "the kernel gives this user no namespaces, so there is no proxy and the network stays closed")
		}
		r.Remarks = append(r.Remarks, "the kernel gives this user no namespaces, so there is no private /tmp, /dev/shm or /proc, no loopback network, and owners, permissions and times cannot be changed anywhere")
		if abi := landlockABI(); abi < abiScopes {
			return nil, &MissingError{"landlock", "without namespaces, this kernel's Landlock cannot keep signals inside", "Linux 6.12 or later, or user namespaces"}
		}
		p, err = launchLandlock(s, r, set, false)
	}
	return p, err
}

// launchLandlock starts the stages, with namespaces of their own or without.
func launchLandlock(s *Spec, r *Result, set landlock.Set, namespaces bool) (*process, error) {
	if !namespaces {
		if path := shadowed(set); path != "" {
			return nil, &MissingError{"landlock", "without namespaces, " + path + " would show what lies there on the host", "user namespaces"}
		}
	}
	rules, err := rulesetOf(s, set, namespaces)
	if err != nil {
		return nil, err
	}
	var out *handover
	env := landlockEnvironment(s, set, namespaces)
	if namespaces && proxied(s.Confinement) != s.Confinement {
		env = proxyEnvironment(env)
		if out, err = newHandover(); err != nil {
			return nil, err
		}
	}
	c := execConfig{
		Dir: []byte(s.Confinement.Root), Argv: bytesOfAll(s.Command), Env: bytesOfAll(env),
		Rules: rules, Limits: rlimits(s.Confinement.Limits), Filter: filter(landlockPolicy(s, set, namespaces)),
	}
	if s.Confinement.Limits.CPU != nil {
		c.Cores = cores(*s.Confinement.Limits.CPU)
	}
	inner, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	stage, config := stageExec, inner
	if namespaces {
		stage = stageInit
		if config, err = json.Marshal(initConfig{Mounts: mountsOf(set, rules), Listen: out != nil, Exec: inner}); err != nil {
			return nil, err
		}
	}
	cmd := stageCommand(stage)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.Stdin, s.Stdout, s.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: unix.SIGKILL}
	if namespaces {
		isolate(cmd.SysProcAttr, set.Network.Mode == landlock.Closed)
	}
	return startStage(cmd, config, namespaces, s, out)
}

// isolate asks for namespaces. Root has the right to them; anybody else gets them in a
// user namespace, in which the user stays the same.
func isolate(a *syscall.SysProcAttr, network bool) {
	a.Cloneflags = unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	if network {
		a.Cloneflags |= unix.CLONE_NEWNET
	}
	if uid := os.Geteuid(); uid != 0 {
		gid := os.Getegid()
		a.Cloneflags |= unix.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		// Only the first stage has these; the second one drops them.
		a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP}
	}
}

// stageThreads is how many threads the stages may have while they set the sandbox up. The
// kernel counts them as processes.
const stageThreads = 48

func startStage(cmd *exec.Cmd, config []byte, namespaces bool, s *Spec, out *handover) (*process, error) {
	configR, configW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	statusR, statusW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	resultR, resultW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	goR, goW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.ExtraFiles = []*os.File{configR, statusW, goR, resultW}
	if !namespaces {
		cmd.ExtraFiles = cmd.ExtraFiles[:3]
	}
	if out != nil {
		cmd.ExtraFiles = append(cmd.ExtraFiles, out.theirs)
	}
	closeAll := func(files ...*os.File) {
		for _, f := range files {
			f.Close()
		}
	}
	p, err := begin(cmd, nil)
	closeAll(configR, statusW, goR, resultW)
	if out != nil {
		out.theirs.Close()
	}
	if err != nil {
		closeAll(configW, statusR, goW, resultR)
		if out != nil {
			out.mine.Close()
		}
		if namespaces && (errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.EUSERS)) {
			return nil, errNoNamespaces
		}
		return nil, fmt.Errorf("the sandbox cannot be started: %w", err)
	}
	p.leader = cmd.Process.Pid
	p.group = newGroup(p.leader, s.Confinement.Limits, stageThreads)
	// It waits for what it is to do, and the second stage is yet to be started.
	stand := Stand{Becomes: !namespaces, Root: s.Confinement.Root}
	if namespaces {
		stand.Stages = 1
	}
	if out != nil {
		stand.Proxy = proxyAddress
	}
	writeErr := p.watch(s, stand)
	if writeErr == nil {
		_, writeErr = configW.Write(config)
	}
	closeAll(configW)
	if out != nil {
		rules, _ := throughProxy(s.Confinement.Network)
		p.proxy, err = out.serve(s, rules)
		writeErr = errors.Join(writeErr, err)
	}
	said := json.NewDecoder(io.LimitReader(statusR, 1<<16))
	f, failed := hear(said)
	switch {
	case failed && f.Ready:
		first := p.leader
		if !namespaces {
			first = 0 // the first process is the command itself
		}
		if writeErr = errors.Join(writeErr, p.group.settle(first, s.Confinement.Limits)); writeErr == nil {
			closeAll(goW)
			f, failed = hear(said)
		}
	case !failed:
		failed = true // it ended before it was ready
	}
	closeAll(goW, statusR)
	if failed || writeErr != nil {
		p.end()
		closeAll(resultR)
		switch {
		case f.NoNamespaces:
			return nil, errNoNamespaces
		case f.What == "":
			return nil, fmt.Errorf("the sandbox ended while it was set up: %v", writeErr)
		case f.Exit == ExitCannot || f.Exit == ExitNotFound:
			return nil, &startError{f.Exit, f.What}
		}
		return nil, errors.New(f.What)
	}
	p.outcome = func(own syscall.WaitStatus) (syscall.WaitStatus, bool) {
		defer resultR.Close()
		if !namespaces {
			return own, true
		}
		var o outcome
		text, _ := io.ReadAll(io.LimitReader(resultR, 1<<12))
		if json.Unmarshal(text, &o) != nil {
			return own, false
		}
		return syscall.WaitStatus(o.Status), true
	}
	return p, nil
}

func landlockPolicy(s *Spec, set landlock.Set, namespaces bool) policy {
	p := policy{keepMeta: !namespaces, keepGroup: !namespaces, affinity: s.Confinement.Limits.CPU != nil}
	switch set.Network.Mode {
	case landlock.Open:
		p.sockets = sockets{inet: true}
	case landlock.Ports:
		p.sockets = sockets{inet: true, tcp: true}
	default:
		// In a network of its own, nobody but the sandbox itself can be reached.
		p.sockets = sockets{inet: namespaces}
	}
	return p
}

// landlockEnvironment is the command's environment. Where /tmp cannot be private, what
// programs would put there goes to the directory that is.
func landlockEnvironment(s *Spec, set landlock.Set, namespaces bool) []string {
	env := environment(s, s.Confinement.Root)
	if !namespaces {
		return env
	}
	for _, p := range set.Private {
		if p.Path == "/tmp" {
			return env
		}
	}
	for _, v := range env {
		if strings.HasPrefix(v, "TMPDIR=") {
			return env
		}
	}
	return append(env, "TMPDIR=/dev/shm")
}

// shadowed is a private filesystem that lies in what a rule opens, or "".
func shadowed(set landlock.Set) string {
	for _, p := range set.Private {
		for _, r := range set.Rules {
			if lies(string(p.Path), string(r.Path)) {
				return string(p.Path)
			}
		}
	}
	return ""
}

// rulesetOf is a rule set with the rights that this kernel knows.
func rulesetOf(s *Spec, set landlock.Set, namespaces bool) (ruleset, error) {
	abi := landlockABI()
	files, ok := landlock.Bits(set.Handled.Files)
	r := ruleset{Files: files, Root: []byte(s.Confinement.Root)}
	if abi < abiIoctl {
		r.Files &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi >= abiScopes {
		r.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	add := func(path landlock.Text, access []string, rule pathRule) {
		bits, known := landlock.Bits(access)
		ok = ok && known
		rule.Access = bits
		if set.Execute != nil {
			rule.Access &^= unix.LANDLOCK_ACCESS_FS_EXECUTE
		}
		rule.Path = []byte(path)
		if rule.Project {
			rule.Path = inProject(s.Confinement.Root, string(path))
		}
		r.Paths = append(r.Paths, rule)
	}
	for _, rule := range set.Rules {
		add(rule.Path, rule.Access, pathRule{Project: rule.Project, Optional: rule.Optional})
	}
	for _, p := range set.Private {
		if namespaces {
			add(p.Path, p.Access, pathRule{Optional: true})
		}
	}
	if !ok {
		return r, errors.New("the rule set names a right that is unknown")
	}
	if set.Execute != nil {
		r.Paths = append(r.Paths, programs(s.Confinement.Root, *set.Execute)...)
	}
	const tcp = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	switch {
	case set.Network.Mode == landlock.Ports && abi < abiPorts:
		return r, &MissingError{"landlock", "this kernel's Landlock knows no ports", "Linux 6.7 or later"}
	case set.Network.Mode == landlock.Ports, set.Network.Mode == landlock.Closed && !namespaces && abi >= abiPorts:
		r.Network = tcp
	}
	for _, port := range set.Network.Connect {
		r.Ports = append(r.Ports, portRule{uint64(port), unix.LANDLOCK_ACCESS_NET_CONNECT_TCP})
	}
	return r, nil
}

// inProject is a path relative to the project's root that it lies in.
func inProject(root, path string) []byte {
	if path == root {
		return []byte(".")
	}
	return []byte(strings.TrimPrefix(strings.TrimPrefix(path, root), "/"))
}

// programs are the rules for the only programs that may be run, and for what runs them.
// They give no right to read, without which nothing can be run either: that has to come
// from the view. Who may write a program chooses what it is a link to and what runs it.
func programs(root string, list []landlock.Text) []pathRule {
	var out []pathRule
	seen := map[string]bool{}
	var add func(p string, depth int)
	add = func(p string, depth int) {
		if !path.IsAbs(p) {
			p = root + "/" + p
		}
		if seen[p] || depth > 4 {
			return
		}
		seen[p] = true
		out = append(out, pathRule{Path: []byte(p), Access: unix.LANDLOCK_ACCESS_FS_EXECUTE, Optional: true})
		if i := interpreter(p); i != "" {
			add(i, depth+1)
		}
	}
	for _, p := range list {
		add(string(p), 0)
	}
	return out
}

// interpreter is the program that runs another one: the loader that it names, or what
// stands on its first line.
func interpreter(p string) string {
	// Nobody waits for the other end of a FIFO.
	f, err := os.OpenFile(p, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	head := make([]byte, 256)
	n, _ := io.ReadFull(f, head)
	if line, ok := strings.CutPrefix(string(head[:n]), "#!"); ok {
		line, _, _ = strings.Cut(line, "\n")
		if words := strings.Fields(line); len(words) > 0 {
			return words[0]
		}
		return ""
	}
	e, err := elf.NewFile(f)
	if err != nil {
		return ""
	}
	for _, prog := range e.Progs {
		if prog.Type == elf.PT_INTERP && prog.Filesz < 4096 {
			name, _ := io.ReadAll(prog.Open())
			return strings.TrimRight(string(name), "\x00")
		}
	}
	return ""
}

// mountsOf is what the first stage mounts for a rule set.
func mountsOf(set landlock.Set, rules ruleset) mountsConfig {
	m := mountsConfig{Root: rules.Root, Loopback: set.Network.Mode == landlock.Closed}
	for _, p := range set.Private {
		m.Private = append(m.Private, privateMount{[]byte(p.Path), p.Type, p.Size})
	}
	for _, r := range set.Rules {
		if bits, _ := landlock.Bits(r.Access); bits&unix.LANDLOCK_ACCESS_FS_WRITE_FILE != 0 && !strings.HasPrefix(string(r.Path), "/dev/") {
			w := writablePath{Path: []byte(r.Path)}
			if r.Project {
				w = writablePath{inProject(string(rules.Root), string(r.Path)), true}
			}
			m.Writable = append(m.Writable, w)
		}
	}
	return m
}
