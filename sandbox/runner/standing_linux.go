//go:build amd64 || arm64

package runner

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"umwelt/compilers/confine"
	"umwelt/diag"
)

// bubblewrap mounts what its arguments name, and follows symbolic links to it. Somebody who
// may write in the project, such as the actor of another run, could put a link in the place
// of a directory between the look at the project and the mount. So the mounts are compared
// with the project while the sandbox waits, before the command begins.

// standing waits until the sandbox of a process stands, and compares it with the project.
func standing(pid int, exited <-chan struct{}, c *confine.Confinement, at string) error {
	if err := stood(pid, exited); err != nil {
		return err
	}
	inside, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/root", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("the sandbox cannot be looked at: %w", err)
	}
	defer unix.Close(inside)
	root, err := unix.Open(c.Root, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("the project's root: %w", err)
	}
	defer unix.Close(root)
	for _, s := range c.Layout(at) {
		if s.Kind != confine.Bind || !lies(s.Source, c.Root) {
			continue
		}
		rel := strings.TrimPrefix(s.Source[len(c.Root):], "/")
		outer, err := statBeneath(root, rel, unix.RESOLVE_BENEATH|unix.RESOLVE_NO_SYMLINKS)
		if err == nil {
			var inner unix.Stat_t
			inner, err = statBeneath(inside, strings.TrimPrefix(s.Path, "/"), unix.RESOLVE_IN_ROOT|unix.RESOLVE_NO_MAGICLINKS)
			if err == nil && (inner.Dev != outer.Dev || inner.Ino != outer.Ino) {
				err = errors.New("something else is mounted")
			}
		}
		if err != nil {
			return fmt.Errorf("%s changed while the sandbox was set up: %w", diag.Quote(s.Source), err)
		}
	}
	return nil
}

// statBeneath looks at what a path leads to from a directory. The last part of it may be a
// symbolic link only where links may be followed.
func statBeneath(dir int, rel string, resolve uint64) (stat unix.Stat_t, err error) {
	if rel == "" {
		rel = "."
	}
	fd, err := unix.Openat2(dir, rel, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: resolve})
	if err != nil {
		return stat, err
	}
	defer unix.Close(fd)
	return stat, unix.Fstat(fd, &stat)
}

// standTime is how long bubblewrap has for setting a sandbox up.
const standTime = 30 * time.Second

// stood waits until bubblewrap has made every mount: then the root is the directory that it
// made for the purpose, sealed, which is the last thing that it is told to do.
func stood(pid int, exited <-chan struct{}) error {
	name := fmt.Sprintf("/proc/%d/mountinfo", pid)
	for end, pause := time.Now().Add(standTime), 200*time.Microsecond; time.Now().Before(end); pause = min(2*pause, 10*time.Millisecond) {
		text, err := os.ReadFile(name)
		if err == nil && sealed(string(text)) {
			return nil
		}
		select {
		case <-exited:
			return errors.New("bwrap ended while the sandbox was set up; what it says stands above")
		case <-time.After(pause):
		}
	}
	return errors.New("bwrap did not set the sandbox up in time")
}

// sealed reports whether a table of mounts is the one of a sandbox that stands.
func sealed(table string) bool {
	root := false
	for line := range strings.Lines(table) {
		// The fields are two numbers, a device, the root of the mount in its filesystem, the
		// place and the options.
		f := strings.Fields(line)
		switch {
		case len(f) < 6:
		case f[4] == "/":
			root = f[3] == "/newroot" && strings.HasPrefix(f[5]+",", "ro,")
		case strings.HasPrefix(f[4], "/oldroot"):
			return false
		}
	}
	return root
}
