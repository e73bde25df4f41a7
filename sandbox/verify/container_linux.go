package verify

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"umwelt/compilers/confine"
	"umwelt/compilers/container"
	"umwelt/diag"
	"umwelt/sandbox/runner"
)

// inContainers makes a target of a container tool out of what the runner has. Where no
// image is given, it runs in an empty one.
func inContainers(t target, tool container.Tool) target {
	// A container has a loopback of its own, and its mounts make no links.
	t.relinks, t.open = false, false
	installed := t.available
	t.available = func() error {
		if err := installed(); err != nil {
			return err
		}
		if out, err := exec.Command(tool.Name, "info").CombinedOutput(); err != nil {
			return &runner.MissingError{Target: tool.Name, What: "it does not work here: " + diag.Escape(lastLine(out)), How: tool.Name + " info says more"}
		}
		return nil
	}
	start := t.start
	t.start = func(v *verifier, c *confine.Confinement, command []string, in, out, errs *os.File) (func() error, func(), error) {
		if err := v.needImage(tool); err != nil {
			return nil, nil, err
		}
		return start(v, c, command, in, out, errs)
	}
	return t
}

// needImage makes an image that holds nothing, unless there is one to be used.
func (v *verifier) needImage(tool container.Tool) error {
	if v.Set["image"] != "" {
		return nil
	}
	name := "localhost/umwelt-verify-" + strconv.Itoa(os.Getpid()) + ":empty"
	cmd := exec.Command(tool.Name, "import", "-", name)
	cmd.Stdin = bytes.NewReader(make([]byte, 1024)) // the end of an archive
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s cannot make an empty image: %s", tool.Name, diag.Escape(lastLine(out)))
	}
	v.atEnd(func() { _ = exec.Command(tool.Name, "rmi", "--force", name).Run() })
	v.Set = maps.Clone(v.Set)
	if v.Set == nil {
		v.Set = map[string]string{}
	}
	v.Set["image"] = name
	return nil
}

func lastLine(out []byte) string {
	text := strings.TrimSpace(string(out))
	return text[strings.LastIndexByte(text, '\n')+1:]
}
