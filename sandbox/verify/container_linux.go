package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"umwelt/cascade"
	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/compilers/container"
	"umwelt/diag"
	"umwelt/sandbox/runner"
)

// ofContainers is a container tool, run by its compiled text. Where no image is given, it
// runs in an empty one.
func ofContainers(tool container.Tool) target {
	info := tool.Compiler().Info
	return target{
		info: info, rights: ofMounts, mounts: true, links: true,
		available: func() error {
			if _, err := exec.LookPath(tool.Name); err != nil {
				return &runner.MissingError{Target: tool.Name, What: tool.Name + " is not installed", How: "apt-get install " + packages[tool.Name]}
			}
			if out, err := exec.Command(tool.Name, "info").CombinedOutput(); err != nil {
				return &runner.MissingError{Target: tool.Name, What: "it does not work here: " + diag.Escape(lastLine(out)), How: tool.Name + " info says more"}
			}
			return nil
		},
		version: func() string {
			out, _ := exec.Command(tool.Name, "--version").Output()
			return strings.TrimSpace(string(out))
		},
		coverage: func(v *verifier, res *cascade.Resolution, c *confine.Confinement) compilers.Coverage {
			return compilers.Cover(info, res, tool.Render(c, compilers.Input{Set: v.containerSet(tool)}).Notes)
		},
		start: func(v *verifier, c *confine.Confinement, command []string, in, out, errs *os.File) (func() error, func(), error) {
			return v.startContainer(tool, c, command, in, out, errs)
		},
	}
}

var packages = map[string]string{"podman": "podman runc", "docker": "docker.io"}

// containerSet are the target options for this host.
func (v *verifier) containerSet(tool container.Tool) map[string]string {
	set := maps.Clone(v.Set)
	if set == nil {
		set = map[string]string{}
	}
	set["form"] = "json"
	if set["image"] == "" && v.image != "" {
		set["image"] = v.image
	}
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
		set["cover"] = v.cover
	}
	return set
}

func (v *verifier) startContainer(tool container.Tool, c *confine.Confinement, command []string, in, out, errs *os.File) (func() error, func(), error) {
	if v.Set["image"] == "" && v.image == "" {
		if err := v.makeImage(tool); err != nil {
			return nil, nil, err
		}
	}
	text := tool.Render(c, compilers.Input{Set: v.containerSet(tool)})
	if text.Diagnostics.HasErrors() {
		return nil, nil, &unsayable{text.Diagnostics}
	}
	var doc struct{ Argv, Wrapper []string }
	if err := json.Unmarshal(text.Text, &doc); err != nil {
		return nil, nil, err
	}
	argv := slices.Concat(doc.Wrapper, doc.Argv, command)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	cmd.Env = slices.Clone(v.environ)
	for name, value := range v.values {
		cmd.Env = append(cmd.Env, "UMWELT_ENV_"+name+"="+value)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	// The end of its input ends the probe, whatever becomes of the client.
	stop := sync.OnceFunc(func() { _ = unix.Kill(-cmd.Process.Pid, unix.SIGTERM) })
	return cmd.Wait, stop, nil
}

// makeImage makes an image that holds nothing.
func (v *verifier) makeImage(tool container.Tool) error {
	v.image = "localhost/umwelt-verify-" + strconv.Itoa(os.Getpid()) + ":empty"
	cmd := exec.Command(tool.Name, "import", "-", v.image)
	cmd.Stdin = bytes.NewReader(make([]byte, 1024)) // the end of an archive
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s cannot make an empty image: %s", tool.Name, diag.Escape(lastLine(out)))
	}
	v.atEnd(func() { _ = exec.Command(tool.Name, "rmi", "--force", v.image).Run() })
	return nil
}

func lastLine(out []byte) string {
	text := strings.TrimSpace(string(out))
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// unsayable is a policy that the target refuses to write.
type unsayable struct{ list diag.List }

func (e *unsayable) Error() string { return e.list.Err().Error() }

// refused reports whether a target said that it cannot write the policy.
func refused(err error) bool {
	var u *unsayable
	return errors.As(err, &u)
}
