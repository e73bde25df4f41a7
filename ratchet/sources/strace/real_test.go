package strace

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"umwelt/ratchet"
)

// task is a real program at work in a directory.
type task struct {
	name  string
	needs [][2]string
	files map[string]string
	run   string // a shell script; $D is the directory
	// The forms it is recorded in. The build steps out of directories that only -y tells to
	// be no links.
	shapes []string
	log    string // where it notes its own account, one "verb path" a line, "" where it does not
}

var tasks = []task{
	{
		name:   "build",
		shapes: []string{"recommended", "all", "family-epoch"},
		needs:  [][2]string{{"gcc", "gcc"}, {"make", "make"}},
		files: map[string]string{
			"Makefile": "all: prog\n%.o: src/%.c\n\tgcc -Isrc/../include -c -o tmp.$@ $< && mv tmp.$@ $@\n" +
				"prog: a.o b.o\n\tgcc -o $@ a.o b.o\n\trm -f a.o b.o\n\tcd out && ln -s ../prog link && mkdir -p deep/er && mv deep deeper && rmdir deeper/er\n",
			"src/a.c":      "#include \"x.h\"\nint b(void);\nint main(void){return X-b();}\n",
			"src/b.c":      "#include \"x.h\"\nint b(void){return X;}\n",
			"src/unused.c": "int unused;\n",
			"include/x.h":  "#define X 3\n",
			"out/keep":     "",
		},
		run: "make -j2 >/dev/null && ./prog",
	},
	{
		name:   "git",
		shapes: []string{"plain", "recommended", "all", "family-times"},
		needs:  [][2]string{{"git", "git"}},
		files:  map[string]string{"a.txt": "one\n", "dir/b.txt": "two\n", "dir/sub/c.txt": "three\n"},
		run: `export GIT_CONFIG_NOSYSTEM=1 HOME=$D GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
git init -q . && git add . && git commit -qm one && git mv a.txt dir/a.txt && git commit -qm two && git checkout -q -b other HEAD~1 &&
echo more >>dir/b.txt && git commit -qam three && git merge -q -m four - && git rm -q dir/sub/c.txt && git stash -q && git gc -q && git log --oneline >/dev/null`,
	},
	{
		name:   "shell",
		shapes: []string{"plain", "recommended", "times", "family-times", "stderr-all"},
		files:  map[string]string{"in/a": "1\n", "in/b": "2\n", "in/c": "3\n"},
		run: `mkdir -p work/x && for f in in/*; do cp "$f" work/; done; cd work && mv a x/moved && mv x y && (cd y && echo hi >>moved && ln moved hard && rm moved) &&
cat b | tr 1 2 >'new
line' && sort b c >sorted && cp -r y z && rm -r y && touch z/hard 'sp ace' && rm 'new
line' && mv z/hard . && chmod 600 hard && cd .. && : >work/b`,
	},
	{
		name:   "python",
		shapes: []string{"plain", "all", "hex", "family-epoch", "stderr"},
		needs:  [][2]string{{"python3", "python3"}},
		files: map[string]string{
			"data/one": "1", "data/two": "2",
			"test_it.py": "import unittest, os\nclass T(unittest.TestCase):\n  def test_a(self):\n    self.assertEqual(open('data/one').read(), '1')\n  def test_b(self):\n    open('made', 'w').close(); os.rename('made', 'kept')\n",
			"main.py":    pythonProgram,
		},
		run: `"$PYTHON" -E -S -B main.py "$LOG" && "$PYTHON" -E -S -B -m unittest -q test_it 2>/dev/null`,
		log: "python",
	},
}

const pythonProgram = `
import os, sys, threading
log = open(sys.argv[1], "a")
lock = threading.Lock()
root = os.getcwd()
def say(verb, path):
    with lock:
        log.write(verb + " " + os.path.join(root, path) + "\n"); log.flush()
def touch(name, rel, **kw):
    os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644, **kw)); say("create", rel)
os.mkdir("p"); say("create", "p")
os.chdir("p")
touch("in-p", "p/in-p")
fd = os.open("../data", os.O_RDONLY | os.O_DIRECTORY)
say("list", "data"); os.listdir(fd)
os.close(os.open("one", os.O_RDONLY, dir_fd=fd)); say("read", "data/one")
os.mkdir("made", dir_fd=fd); say("create", "data/made")
os.rename("made", "moved", src_dir_fd=fd, dst_dir_fd=fd); say("rename", "data/made"); say("rename", "data/moved")
os.fchdir(fd)
touch("in-data", "data/in-data")
pid = os.fork()
if pid == 0:
    os.chdir("moved")
    touch("by-child", "data/moved/by-child")
    os.unlink("by-child"); say("delete", "data/moved/by-child")
    os._exit(0)
os.waitpid(pid, 0)
touch("still-here", "data/still-here")
def work(i):
    for j in range(5):
        name = "t%d-%d" % (i, j)
        touch(name, "data/" + name)
        os.rename(name, name + "x", src_dir_fd=fd); say("rename", "data/" + name); say("rename", "data/" + name + "x")
threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
os.rmdir("moved"); say("delete", "data/moved")
`

// TestPrograms runs real programs and holds what was observed to three other records: what
// stands in the file system before and after, what inotify saw of the directories that were
// there before, and what the program says of itself.
func TestPrograms(t *testing.T) {
	need(t, "strace", "strace")
	for _, task := range tasks {
		for _, s := range shapes {
			if !slices.Contains(task.shapes, s.name) {
				continue
			}
			t.Run(task.name+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				task.try(t, s)
			})
		}
	}
}

func (k task) try(t *testing.T, s shape) {
	for _, n := range k.needs {
		need(t, n[0], n[1])
	}
	root := filepath.Join(t.TempDir(), "d")
	for name, text := range k.files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	log := filepath.Join(t.TempDir(), "account")
	env := []string{"D=" + root, "LOG=" + log, "LC_ALL=C.UTF-8"}
	if k.log != "" {
		env = append(env, "PYTHON="+python(t))
	}
	before := snapshot(t, root)
	watch := newWatch(t, before)
	in := s.record(t, root, env, "sh", "-c", k.run)
	seen := watch.opened(t)
	after := snapshot(t, root)

	list, tally := read(t, in)
	if tally.Partial {
		t.Errorf("partial: %s", tally.Why)
	}
	for _, g := range tally.Gaps {
		// gcc looks through ".." of directories that it never opens.
		if !(k.name == "build" && g.Kind == ratchet.Unresolved && (g.What == "access" || g.What == "newfstatat" || g.What == "readlink")) && !(g.Kind == ratchet.Truncated && ended(t, g)) {
			t.Errorf("gap: %+v", g)
		}
	}
	before.replay(t, root, events(t, in))
	before.equal(t, after)

	opened := map[string]bool{}
	account := map[string]bool{}
	for _, o := range list {
		if o.Outcome != ratchet.Allowed || !strings.HasPrefix(o.ID, root+"/") {
			continue
		}
		account[string(o.Verb)+" "+o.ID] = true
		switch o.Verb {
		case ratchet.Read, ratchet.Write, ratchet.Create, ratchet.Exec:
			if watch.covers(filepath.Dir(o.ID)) && o.Attribute("kind") != "dir" {
				opened[o.ID] = true
			}
		}
	}
	for p := range seen {
		if !opened[p] {
			t.Errorf("inotify saw %s opened, and it is not observed", p)
		}
	}
	for p := range opened {
		if !seen[p] {
			t.Errorf("%s is observed, and inotify did not see it", p)
		}
	}
	if k.log == "" {
		return
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	own := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		own[line] = true
		if !account[line] {
			t.Errorf("the program says %q, and it is not observed", line)
		}
	}
	for line := range account {
		verb, path, _ := strings.Cut(line, " ")
		ofTests := strings.HasSuffix(path, ".py") || strings.HasSuffix(path, "/made") && filepath.Dir(path) == root || strings.HasSuffix(path, "/kept")
		if verb != "stat" && verb != "list" && !own[line] && !ofTests {
			t.Errorf("%q is observed, and the program does not say it", line)
		}
	}
}

// TestPidNamespace follows processes whose parents know them by other numbers than strace.
func TestPidNamespace(t *testing.T) {
	need(t, "unshare", "util-linux")
	for _, args := range []string{"-f", "-f -y --decode-pids=pidns"} {
		root := t.TempDir()
		in := shape{args: args}.record(t, root, nil, "unshare", "--user", "--map-root-user", "--pid", "--fork",
			"sh", "-c", "mkdir a && cd a && (mkdir b && cd b && : >one; sh -c ': >two'; exit 0) && : >three")
		got := map[string]bool{}
		list, tally := read(t, in)
		for _, o := range list {
			if o.Verb == ratchet.Create && o.Outcome == ratchet.Allowed && strings.HasPrefix(o.ID, root) {
				got[strings.TrimPrefix(o.ID, root+"/")] = true
			}
		}
		if got, want := strings.Join(sorted(got), " "), "a a/b a/b/one a/b/two a/three"; got != want || tally.Missed() > 0 {
			t.Errorf("strace %s: made %s, want %s; gaps %+v", args, got, want, tally.Gaps)
		}
	}
}

// python is the interpreter itself: what is called python3 may be a script that looks for it.
func python(t testing.TB) string {
	out, err := exec.Command(need(t, "python3", "python3"), "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Fatal(err)
	}
	path, err := filepath.EvalSymlinks(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// watch is what inotify says of some directories.
type watch struct {
	fd   int
	dirs map[int32]string
}

func newWatch(t testing.TB, tr tree) *watch {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	w := &watch{fd, map[int32]string{}}
	for p, dir := range tr {
		if dir {
			wd, err := unix.InotifyAddWatch(fd, p, unix.IN_OPEN|unix.IN_CREATE|unix.IN_ONLYDIR)
			if err != nil {
				t.Fatal(err)
			}
			w.dirs[int32(wd)] = p
		}
	}
	return w
}

func (w *watch) covers(dir string) bool {
	for _, d := range w.dirs {
		if d == dir {
			return true
		}
	}
	return false
}

// opened are the files that were opened or made in the watched directories.
func (w *watch) opened(t testing.TB) map[string]bool {
	t.Helper()
	time.Sleep(time.Millisecond)
	files := map[string]bool{}
	buf := make([]byte, 1<<20)
	for {
		n, err := unix.Read(w.fd, buf)
		if errors.Is(err, unix.EAGAIN) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		for rest := buf[:n]; len(rest) > 0; {
			e := (*unix.InotifyEvent)(unsafe.Pointer(&rest[0]))
			name := strings.TrimRight(string(rest[unix.SizeofInotifyEvent:unix.SizeofInotifyEvent+int(e.Len)]), "\x00")
			if e.Mask&unix.IN_Q_OVERFLOW != 0 {
				t.Fatal("inotify lost events")
			}
			if e.Mask&unix.IN_ISDIR == 0 && name != "" {
				files[w.dirs[e.Wd]+"/"+name] = true
			}
			rest = rest[unix.SizeofInotifyEvent+int(e.Len):]
		}
	}
}
