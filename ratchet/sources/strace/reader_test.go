package strace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"umwelt/ratchet"
)

// say is an observation in short.
func say(o ratchet.Observation) string {
	s := fmt.Sprintf("%s %s %s", o.Type, o.Verb, o.ID)
	if o.Outcome != ratchet.Allowed {
		s += fmt.Sprintf(" %s %s", o.Outcome, o.Reason)
	}
	for _, name := range []string{"command", "cut", "from", "kind", "protocol", "to"} {
		if v := o.Attribute(name); v != "" {
			s += " " + name + "=" + v
		}
	}
	if o.Times() > 1 {
		s += fmt.Sprintf(" x%d", o.Times())
	}
	return s
}

var logs = []struct {
	name string
	dir  string // /w where nothing is said; "-" for nobody knows
	log  string
	want []string
	gaps []string
	why  string // why it is partial
}{
	{
		name: "outcomes",
		log: `openat(AT_FDCWD, "a", O_RDONLY) = 3
openat(AT_FDCWD, "b", O_RDONLY) = -1 ENOENT (No such file or directory)
openat(AT_FDCWD, "c", O_WRONLY) = -1 EACCES (Permission denied)
unlink("d") = -1 EPERM (Operation not permitted)
mkdir("e", 0777) = -1 EROFS (Read-only file system)
open("a", O_RDONLY|O_TRUNC) = 3
openat(AT_FDCWD, "a", O_RDONLY) = 3 (INJECTED)`,
		want: []string{"file read /w/a x2", "file read /w/b failed ENOENT", "file write /w/c denied EACCES",
			"file delete /w/d denied EPERM kind=file", "dir create /w/e denied EROFS kind=dir", "file write /w/a"},
	},
	{
		name: "O_CREAT tells not whether the file was there",
		log: `openat(AT_FDCWD, "new", O_WRONLY|O_CREAT, 0666) = 3
openat(AT_FDCWD, "new", O_WRONLY|O_CREAT, 0666) = 3
stat("old", {st_mode=S_IFREG|0644, st_size=3, ...}) = 0
creat("old", 0666) = 3
unlink("old") = 0
openat(AT_FDCWD, "old", O_RDWR|O_CREAT, 0666) = 3
openat(AT_FDCWD, "there", O_RDONLY|O_CREAT, 0666) = 3
openat(AT_FDCWD, "there", O_RDONLY|O_CREAT, 0666) = 3`,
		want: []string{"file create /w/new kind=file", "file write /w/new", "file stat /w/old", "file write /w/old",
			"file delete /w/old kind=file", "file create /w/old kind=file", "file read /w/old",
			"file create /w/there kind=file", "file read /w/there"},
	},
	{
		name: "nobody knows the directory",
		dir:  "-",
		log: `openat(AT_FDCWD, "a", O_RDONLY) = 3
openat(AT_FDCWD, "/abs", O_RDONLY) = 3
openat(7, "a", O_RDONLY) = 3
openat(7</d>, "a", O_RDONLY) = 3
getcwd("/real", 4096) = 6
openat(AT_FDCWD, "a", O_RDONLY) = 3
openat(AT_FDCWD</other>, "a", O_RDONLY) = 3</other/a>
unlink("b") = 0`,
		want: []string{"file read /abs", "file read /d/a", "file read /real/a", "file read /other/a", "file delete /other/b kind=file"},
		gaps: []string{"unresolved openat 2"},
	},
	{
		name: "what .. leads to",
		log: `openat(AT_FDCWD, "sub/../a", O_RDONLY) = 3
lstat("sub", {st_mode=S_IFDIR|0755, ...}) = 0
openat(AT_FDCWD, "sub/../b", O_RDONLY) = 3
newfstatat(AT_FDCWD, "link", {st_mode=S_IFLNK|0777, ...}, AT_SYMLINK_NOFOLLOW) = 0
openat(AT_FDCWD, "link/../c", O_RDONLY) = 3
openat(AT_FDCWD</w>, "link/../d", O_RDONLY) = 3</x/y/d>
openat(AT_FDCWD, "/x/y/../e", O_RDONLY) = 3
readlink("plain", 0x7ffd, 100) = -1 EINVAL (Invalid argument)
openat(AT_FDCWD, "plain/../f", O_RDONLY) = 3
chdir("into") = 0
openat(AT_FDCWD, "../g", O_RDONLY) = 3
getcwd("/w/into", 4096) = 8
openat(AT_FDCWD, "../h/../../../../i", O_RDONLY) = 3
openat(AT_FDCWD, "../j", O_RDONLY) = 3
rename("/w/sub", "/w/moved") = 0
openat(AT_FDCWD, "/w/moved/../k", O_RDONLY) = 3
openat(AT_FDCWD, "/w/sub/../l", O_RDONLY) = 3
openat(AT_FDCWD, "/../../m", O_RDONLY) = 3`,
		want: []string{"dir stat /w/sub", "file read /w/b", "file stat /w/link", "file read /x/y/d", "file read /x/e",
			"file stat /w/plain failed EINVAL", "file read /w/f", "dir stat /w/into", "file read /w/j",
			"dir rename /w/sub kind=dir to=/w/moved", "dir rename /w/moved from=/w/sub kind=dir", "file read /w/k", "file read /m"},
		gaps: []string{"unresolved openat 5"},
	},
	{
		name: "a link that -y follows",
		log:  `openat(AT_FDCWD</w>, "link", O_WRONLY) = 3</etc/target>`,
		want: []string{"file stat /w/link", "file write /etc/target"},
	},
	{
		name: "a child speaks before its parent is told of it",
		log: `10 chdir("/d") = 0
10 vfork( <unfinished ...>
11 openat(AT_FDCWD, "a", O_RDONLY) = 3
11 execve("/bin/x", ["x"], 0x7 /* 2 vars */ <unfinished ...>
10 <... vfork resumed>) = 11
11 <... execve resumed>) = 0
11 +++ exited with 0 +++
10 +++ exited with 0 +++`,
		want: []string{"dir stat /d", "file read /d/a", `exec exec /bin/x command=["x"]`},
	},
	{
		name: "two forks are under way",
		log: `10 clone(child_stack=NULL, flags=CLONE_FS|CLONE_FILES|SIGCHLD <unfinished ...>
10 <... clone resumed>) = 20
20 chdir("/other") = 0
10 fork( <unfinished ...>
20 openat(AT_FDCWD, "shared", O_RDONLY) = 3
20 unshare(CLONE_FS) = 0
20 chdir("/alone") = 0
20 fork( <unfinished ...>
31 openat(AT_FDCWD, "a", O_RDONLY) = 3
32 openat(AT_FDCWD, "b", O_RDONLY) = 3
10 <... fork resumed>) = 31
20 <... fork resumed>) = 32
31 +++ exited with 0 +++
32 openat(AT_FDCWD, "c", O_RDONLY) = 3
32 +++ exited with 0 +++
20 +++ exited with 0 +++
10 +++ exited with 0 +++`,
		want: []string{"dir stat /other", "file read /other/shared", "dir stat /alone", "file read /other/a", "file read /alone/b", "file read /alone/c"},
	},
	{
		name: "a thread runs exec",
		log: `10 clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_THREAD, exit_signal=0} => {parent_tid=[11]}, 88) = 11
11 openat(AT_FDCWD, "/d", O_RDONLY|O_DIRECTORY|O_CLOEXEC) = 5
11 openat(AT_FDCWD, "/e", O_RDONLY|O_DIRECTORY) = 6
10 openat(5, "before", O_RDONLY) = 7
11 execve("/bin/x", ["x"], 0x7 /* 2 vars */ <unfinished ...>
10 +++ superseded by execve in pid 11 +++
10 <... execve resumed>) = 0
10 openat(5, "after", O_RDONLY) = 7
10 openat(6, "after", O_RDONLY) = 7
10 +++ exited with 0 +++`,
		want: []string{"dir stat /d", "dir stat /e", "file read /d/before", `exec exec /bin/x command=["x"]`, "file read /e/after"},
		gaps: []string{"unresolved openat 1"},
	},
	{
		name: "commands",
		log: `execve("/bin/sh", ["sh", "-c", "echo \"hi\"\n"], 0x7 /* 2 vars */) = 0
execve("/bin/sh", ["sh", "-c", "a long te"...], 0x7 /* 2 vars */) = 0
execve("/bin/sh", ["sh", "x", ...], 0x7 /* 2 vars */) = 0
execve("./missing", 0x7ffd, 0x7 /* 2 vars */) = -1 ENOENT (No such file or directory)
execve("./locked", ["\377"], 0x7 /* 2 vars */) = -1 EACCES (Permission denied)
execve("/bin/curl", ["curl", "--token", "hunter2"], 0x7 /* 2 vars */) = 0
openat(AT_FDCWD, "/p", O_RDONLY|O_CLOEXEC) = 3
execveat(3, "", ["p"], 0x7 /* 2 vars */, AT_EMPTY_PATH) = 0`,
		want: []string{`exec exec /bin/sh command=["sh","-c","echo \"hi\"\n"]`, `exec exec /bin/sh command=["sh","-c","a long te"] cut=true`,
			`exec exec /bin/sh command=["sh","x"] cut=true`, "exec exec /w/missing failed ENOENT cut=true",
			"exec exec /w/locked denied EACCES command=[\"\uFFFD\"]", `exec exec /bin/curl command=["curl","--token","REDACTED"]`, "file read /p", `exec exec /p command=["p"]`},
	},
	{
		name: "calls that a signal interrupts",
		log: `openat(AT_FDCWD, "/fifo", O_RDONLY) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)
--- SIGCHLD {si_signo=SIGCHLD} ---
openat(AT_FDCWD, "/fifo", O_RDONLY) = 3
connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("1.2.3.4")}, 16) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)
openat(AT_FDCWD, "/never", O_RDONLY) = ?
+++ killed by SIGKILL +++`,
		want: []string{"file read /fifo", "network connect 1.2.3.4:80"},
		gaps: []string{"truncated openat 1"},
	},
	{
		name: "the network",
		log: `socket(AF_INET, SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_TCP) = 3
connect(3, {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("1.2.3.4")}, 16) = -1 EINPROGRESS (Operation now in progress)
connect(3, {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("1.2.3.4")}, 16) = -1 EISCONN (Transport endpoint is already connected)
connect(4, {sa_family=AF_INET6, sin6_port=htons(53), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "fe80::1", &sin6_addr), sin6_scope_id=if_nametoindex("eth0")}, 28) = 0
connect(4, {sa_family=AF_UNSPEC, sa_data="\0"}, 16) = 0
connect(4, {sa_family=AF_NETLINK, nl_pid=0, nl_groups=00000000}, 12) = 0
connect(5<UDP:[1]>, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("9.9.9.9")}, 16) = -1 EACCES (Permission denied)
connect(6, {sa_family=AF_VSOCK, svm_cid=2}, 16) = 0
connect(6, {sa_family=AF_UNIX, sun_path="/run/x"}, 110) = 0
connect(6, {sa_family=AF_UNIX, sun_path=@"name"}, 110) = 0
connect(6, {sa_family=AF_UNIX, sun_path=@"na\0me"}, 110) = 0
bind(6, {sa_family=AF_UNIX}, 2) = 0
bind(6, {sa_family=AF_UNIX, sun_path="rel"}, 5) = 0
bind(3, {sa_family=AF_INET, sin_port=htons(0), sin_addr=inet_addr("0.0.0.0")}, 16) = 0
sendto(5, "sin_addr=inet_addr(\"6.6.6.6\")", 3, 0, {sa_family=AF_INET, sin_port=htons(1), sin_addr=inet_addr("1.1.1.1")}, 16) = 3
sendto(5, "x", 1, 0, NULL, 0) = 1
sendmsg(5, {msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base="msg_name={sa_family=AF_INET", iov_len=3}]}, 0) = 3
sendmmsg(5, [{msg_hdr={msg_name={sa_family=AF_INET, sin_port=htons(2), sin_addr=inet_addr("2.2.2.2")}, msg_namelen=16}, msg_len=1}, ...], 2, 0) = 2`,
		want: []string{"network connect 1.2.3.4:443 protocol=tcp x2", "network connect [fe80::1]:53",
			"network connect 9.9.9.9:53 denied EACCES protocol=udp", "file connect /run/x", "network connect @name protocol=unix",
			"file create /w/rel kind=file", "network bind 0.0.0.0:0 protocol=tcp", "network connect 1.1.1.1:1", "network connect 2.2.2.2:2"},
		gaps: []string{"truncated sendmmsg 1", "unknown connect 1", "unresolved connect 1"},
	},
	{
		name: "calls of no known meaning",
		log: `syscall_0x1c4(0xff, 0x1) = 3
io_uring_setup(8, {flags=0}) = 3
mount("none", "/mnt", "tmpfs", 0, NULL) = 0
mount("none", "/mnt", "tmpfs", 0, NULL) = -1 EPERM (Operation not permitted)
brand_new("/x") = 0
open_by_handle_at(3, {handle_bytes=8}, O_RDONLY) = 4
open_by_handle_at(3, {handle_bytes=8}, O_RDONLY) = 4</known>
openat(AT_FDCWD, "a", 0x3) = 3
read(3, "x", 1) = 1`,
		want: []string{"file read /known"},
		gaps: []string{"unknown brand_new 1", "unknown io_uring_setup 1", "unknown mount 1", "unknown openat 1", "unknown syscall_0x1c4 1", "unresolved open_by_handle_at 1"},
	},
	{
		name: "broken and cut",
		log: `openat(AT_FDCWD, "a", O_RDONLY
openat(AT_FDCWD, "a
openat(AT_FDCWD, "a", O_RDONLY) 3
open("\400", O_RDONLY) = 3
open("a\0b", O_RDONLY) = 3
open("very long"..., O_RDONLY) = 3
open(0x7ffd, O_RDONLY) = 3
open(NULL, O_RDONLY) = -1 EFAULT (Bad address)
open("", O_RDONLY) = -1 ENOENT (No such file or directory)
what is this
<... openat resumed>) = 3
openat(AT_FDCWD, "b", O_RDONLY) = 3`,
		want: []string{"file read /w/b"},
		gaps: []string{"broken line 1", "broken open 2", "broken openat 3", "truncated open 1", "truncated openat 1", "unresolved open 1"},
	},
	{
		name: "another root",
		log: `mkdir("jail", 0755) = 0
chroot("jail") = 0
chdir("/") = 0
openat(AT_FDCWD, "etc", O_RDONLY) = 3
openat(AT_FDCWD, "/../etc/x", O_RDONLY) = 3
getcwd("/", 4096) = 2
openat(AT_FDCWD, "../../y", O_RDONLY) = 3
pivot_root(".", ".") = 0
openat(AT_FDCWD, "z", O_RDONLY) = 3
chdir("/") = 0
openat(AT_FDCWD, "z", O_RDONLY) = 3`,
		want: []string{"dir create /w/jail kind=dir", "dir stat /w/jail x2", "file read /w/jail/etc", "file read /w/jail/etc/x",
			"file read /w/jail/y", "dir stat /", "file read /z"},
		gaps: []string{"unknown pivot_root 1", "unresolved openat 1"},
	},
	{
		name: "the kernel's own links",
		log: `openat(AT_FDCWD, "/d", O_RDONLY|O_DIRECTORY) = 4
openat(AT_FDCWD, "/proc/self/fd/4/a", O_RDONLY) = 5
openat(AT_FDCWD, "/dev/fd/5", O_RDONLY) = 6
openat(AT_FDCWD, "/dev/fd/99", O_RDONLY) = 6
openat(AT_FDCWD, "/proc/self/fd/99/x", O_RDONLY) = 6
openat(AT_FDCWD, "/proc/self/cwd/b", O_RDONLY) = 7
openat(AT_FDCWD, "/proc/self/root/c", O_RDONLY) = 7
openat(AT_FDCWD, "/proc/self/maps", O_RDONLY) = 7
readlink("/proc/self/fd/4", "/d", 100) = 2`,
		want: []string{"dir stat /d", "file read /d/a x2", "file read /dev/fd/99", "file read /w/b", "file read /c", "file read /proc/self/maps", "file stat /proc/self/fd/4"},
		gaps: []string{"unresolved openat 1"},
	},
	{
		name: "descriptors",
		log: `openat(AT_FDCWD, "/d", O_RDONLY|O_DIRECTORY) = 4
dup2(4, 9) = 9
fcntl(4, F_DUPFD_CLOEXEC, 20) = 20
close_range(4, 8, 0) = 0
openat(4, "gone", O_RDONLY) = 4
openat(9, "a", O_RDONLY) = 4
openat(20, "b", O_RDONLY) = 4
close_range(9, ~0U, CLOSE_RANGE_CLOEXEC) = 0
fcntl(20, F_SETFD, 0) = 0
execve("/bin/x", ["x"], 0x7 /* 2 vars */) = 0
openat(9, "c", O_RDONLY) = 4
openat(20, "d", O_RDONLY) = 4
memfd_create("m", 0) = 5
ftruncate(5, 3) = 0
fchmod(0, 0600) = 0
fchmod(1</dev/pts/0<char 136:0>>, 0600) = 0
fchmod(2<pipe:[1]>, 0600) = 0
fchmod(6</x>(deleted), 0600) = 0
utimensat(20, NULL, NULL, 0) = 0`,
		want: []string{"dir stat /d", "file read /d/a", "file read /d/b", `exec exec /bin/x command=["x"]`, "file read /d/d", "file write /dev/pts/0", "dir write /d"},
		gaps: []string{"unresolved fchmod 1", "unresolved openat 2"},
	},
	{
		name: "a rename of which one side is not known",
		log: `mkdir("d", 0755) = 0
chdir("d") = 0
rename("x/../d", "/w/e") = 0
openat(AT_FDCWD, "a", O_RDONLY) = 3`,
		want: []string{"dir create /w/d kind=dir", "dir stat /w/d"},
		gaps: []string{"unresolved openat 1", "unresolved rename 1"},
	},
	{
		name: "a directory that is opened like a file",
		log: `open("d", O_RDONLY) = 3
getdents64(3, 0x7 /* 2 entries */, 1000) = 48
open("d", O_RDONLY) = 3
getdents64(8, 0x7 /* 2 entries */, 1000) = 48`,
		want: []string{"dir stat /w/d x2", "dir list /w/d"},
		gaps: []string{"unresolved getdents64 1"},
	},
	{
		name: "pid namespaces",
		log: `10 chdir("/d") = 0
10 clone(child_stack=NULL, flags=CLONE_NEWPID|SIGCHLD <unfinished ...>
11 openat(AT_FDCWD, "a", O_RDONLY) = 3
10 <... clone resumed>) = 11
11 fork() = 2
12 openat(AT_FDCWD, "b", O_RDONLY) = 3
12 fork( <unfinished ...>
13 openat(AT_FDCWD, "c", O_RDONLY) = 3
12 <... fork resumed>) = 3
13 +++ exited with 0 +++
12 +++ exited with 0 +++
11 +++ exited with 0 +++
10 +++ exited with 0 +++`,
		want: []string{"dir stat /d", "file read /d/a", "file read /d/b", "file read /d/c"},
	},
	{
		name: "numbers of another pid namespace",
		log: `10 chdir("/d") = 0
10 fork() = 2 /* 12 in strace's PID NS */
10 fork() = 3<x> /* 13 in strace's PID NS */
13 openat(AT_FDCWD, "a", O_RDONLY) = 3
12 openat(AT_FDCWD, "b", O_RDONLY) = 3
12 +++ exited with 0 +++
13 +++ exited with 0 +++
10 +++ exited with 0 +++`,
		want: []string{"dir stat /d", "file read /d/a", "file read /d/b"},
	},
	{
		name: "lines without a number",
		log: `chdir("/d") = 0
vfork(/usr/bin/strace: Process 11 attached
 <unfinished ...>
[pid    11] openat(AT_FDCWD, "a", O_RDONLY) = 3
[pid    11] execve("/bin/x", ["x"], 0x7 /* 2 vars *//usr/bin/strace: Process 12 attached
 <unfinished ...>
[pid    10] <... vfork resumed>) = 11
[pid    12] +++ exited with 0 +++
[pid    10] chdir("/e") = 0
[pid    11] <... execve resumed>) = 0
[pid    11] +++ exited with 0 +++
openat(AT_FDCWD, "b", O_RDONLY) = 3
+++ exited with 0 +++`,
		want: []string{"dir stat /d", "file read /d/a", "dir stat /e", `exec exec /bin/x command=["x"]`, "file read /e/b"},
	},
	{
		name: "a process did not end",
		log: `10 fork() = 11
11 openat(AT_FDCWD, "a", O_RDONLY <unfinished ...>
10 +++ exited with 0 +++`,
		gaps: []string{"truncated openat 1"},
		why:  "a process did not end in it",
	},
	{
		name: "children were not followed",
		log: `fork() = 11
+++ exited with 0 +++`,
		why: "a process that was begun is not in it",
	},
	{
		name: "strace left",
		log: `10 openat(AT_FDCWD, "/a", O_RDONLY <detached ...>
10 openat(AT_FDCWD, "/b", O_RDONLY) = 3`,
		want: []string{"file read /b"},
		gaps: []string{"truncated openat 1"},
	},
	{
		name: "names",
		log: `open("a\nb\t\"\\\1\0012\377", O_RDONLY) = 3
open("\x41\x2e", O_RDONLY) = 3
open("//x///./y/", O_RDONLY) = 3
open(".", O_RDONLY) = 3
open("/", O_RDONLY) = 3`,
		want: []string{"file read /w/a\nb\t\"\\\x01\x012\xff", "file read /w/A.", "file read /x/y", "file read /w", "file read /"},
	},
}

func TestLogs(t *testing.T) {
	for _, c := range logs {
		t.Run(c.name, func(t *testing.T) {
			dir := c.dir
			switch dir {
			case "":
				dir = "/w"
			case "-":
				dir = ""
			}
			var got, gaps []string
			r := newReader(dir, func(o ratchet.Observation) error {
				check(t, o)
				got = append(got, say(o))
				return nil
			})
			tally, err := r.single(strings.NewReader(c.log+"\n"), "log")
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range tally.Gaps {
				gaps = append(gaps, fmt.Sprintf("%s %s %d", g.Kind, g.What, g.Count))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(c.want, "\n\t"))
			}
			if !slices.Equal(gaps, c.gaps) {
				t.Errorf("gaps %q, want %q", gaps, c.gaps)
			}
			if tally.Why != c.why {
				t.Errorf("partial %q, want %q", tally.Why, c.why)
			}
			if want := int64(strings.Count(c.log, "\n") + 1); tally.Records != want {
				t.Errorf("%d records, want %d", tally.Records, want)
			}
		})
	}
}

func TestPlaceAndTime(t *testing.T) {
	log := `10<sh> 1796079662.397921 [  59] [00007f5ce0c75ad7] openat(AT_FDCWD, "a", O_RDONLY <unfinished ...>
10<sh> 1796079663.000000 <... openat resumed>) = 3<a> <0.000146>
`
	var got []ratchet.Observation
	r := newReader("/w", func(o ratchet.Observation) error { got = append(got, o); return nil })
	if _, err := r.single(strings.NewReader(log), "f"); err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	o := got[0]
	if want := time.Unix(1796079662, 397921000).UTC(); !o.Time.Equal(want) || o.At != (ratchet.Place{File: "f", Line: 1}) || o.Attribute("process") != "10" || o.Taxon != "world" {
		t.Errorf("%+v", o)
	}
}

// family writes the files of strace -ff.
func writeFamily(t *testing.T, files map[string]string) string {
	t.Helper()
	prefix := filepath.Join(t.TempDir(), "log")
	for name, text := range files {
		if err := os.WriteFile(prefix+"."+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return prefix
}

func TestFamilies(t *testing.T) {
	const thread = "clone(flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_THREAD)"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string
		gaps  []string
		why   string
	}{
		{
			name: "children go on where their parent was",
			files: map[string]string{
				"10":  "chdir(\"/a\") = 0\nfork() = 9\nchdir(\"/b\") = 0\nopen(\"x\", O_RDONLY) = 3\n+++ exited with 0 +++\n",
				"9":   "open(\"y\", O_RDONLY) = 3\n+++ exited with 0 +++\n",
				"abc": "not a file of strace\n",
			},
			want: []string{"dir stat /a", "file read /a/y", "dir stat /b", "file read /b/x"},
		},
		{
			name: "threads that move, in an order that nobody knows",
			files: map[string]string{
				"10": "execve(\"/bin/x\", [\"x\"], 0x7 /* 2 vars */) = 0\n" + thread + " = 11\nopen(\"x\", O_RDONLY) = 3\nopenat(3, \"y\", O_RDONLY) = 4\nopen(\"/z\", O_RDONLY) = 4\n+++ exited with 0 +++\n",
				"11": "chdir(\"/a\") = 0\nopen(\"x\", O_RDONLY) = 3\n+++ exited with 0 +++\n",
			},
			want: []string{`exec exec /bin/x command=["x"]`, "dir stat /a", "file read /z"},
			gaps: []string{"unresolved open 2", "unresolved openat 1"},
		},
		{
			name: "threads that move, with times",
			files: map[string]string{
				"10": "23:59:59.5 " + thread + " = 11\n23:59:59.6 open(\"x\", O_RDONLY) = 3\n00:00:00.2 open(\"y\", O_RDONLY) = 4\n00:00:01.0 +++ exited with 0 +++\n",
				"11": "23:59:59.7 open(\"z\", O_RDONLY) = 5\n00:00:00.1 chdir(\"/a\") = 0\n00:00:00.3 +++ exited with 0 +++\n",
			},
			want: []string{"file read /w/x", "file read /w/z", "dir stat /a", "file read /a/y"},
		},
		{
			name: "a file is missing",
			files: map[string]string{
				"10": "fork() = 11\n+++ exited with 0 +++\n",
			},
			why: "the file of a process is missing",
		},
		{
			name: "nobody knows where another began",
			files: map[string]string{
				"10": "open(\"x\", O_RDONLY) = 3\n+++ exited with 0 +++\n",
				"12": "open(\"x\", O_RDONLY) = 3\n+++ exited with 0 +++\n",
			},
			want: []string{"file read /w/x"},
			gaps: []string{"unresolved open 1"},
		},
		{
			name: "a thread runs exec",
			files: map[string]string{
				"10": "1796079662.1 " + thread + " = 11\n1796079662.3 +++ superseded by execve in pid 11 +++\n1796079662.4 <... execve resumed>) = 0\n1796079662.5 open(\"x\", O_RDONLY) = 3\n1796079662.6 +++ exited with 0 +++\n",
				"11": "1796079662.2 execve(\"/bin/x\", [\"x\"], 0x7 /* 2 vars */ <pid changed to 10 ...>\n",
			},
			want: []string{`exec exec /bin/x command=["x"]`, "file read /w/x"},
		},
		{
			name: "a cut file",
			files: map[string]string{
				"10": "open(\"x\", O_RDONLY) = 3\nopen(\"y\", O_RDON",
			},
			want: []string{"file read /w/x"},
			gaps: []string{"truncated line 1"},
			why:  "the last line of a file has no end",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got, gaps []string
			tally, err := Read(ratchet.Input{Name: writeFamily(t, c.files), Dir: "/w"}, func(o ratchet.Observation) error {
				got = append(got, say(o))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range tally.Gaps {
				gaps = append(gaps, fmt.Sprintf("%s %s %d", g.Kind, g.What, g.Count))
			}
			if !slices.Equal(got, c.want) || !slices.Equal(gaps, c.gaps) || tally.Why != c.why {
				t.Errorf("got\n\t%s\nwant\n\t%s\ngaps %q, partial %q", strings.Join(got, "\n\t"), strings.Join(c.want, "\n\t"), gaps, tally.Why)
			}
		})
	}
}

// TestPlainBeforeFamily reads the file of the very name where there is one.
func TestPlainBeforeFamily(t *testing.T) {
	prefix := writeFamily(t, map[string]string{"10": "open(\"/family\", O_RDONLY) = 3\n"})
	if err := os.WriteFile(prefix, []byte("open(\"/plain\", O_RDONLY) = 3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var got []string
	if _, err := Read(ratchet.Input{Name: prefix}, func(o ratchet.Observation) error { got = append(got, say(o)); return nil }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, []string{"file read /plain"}) {
		t.Error(got)
	}
}

func TestWhatIsNoLog(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	none := func(ratchet.Observation) error { return errors.New("nothing should be observed") }
	if _, err := Read(ratchet.Input{Name: filepath.Join(dir, "absent")}, none); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	if _, err := Read(ratchet.Input{Name: dir}, none); err == nil {
		t.Error("a directory was read")
	}
	if _, err := Read(ratchet.Input{Name: put("text", "Dear reader,\nthis is a letter.\n")}, none); err == nil || !strings.Contains(err.Error(), "no log of strace") {
		t.Errorf("a letter: %v", err)
	}
	if tally, err := Read(ratchet.Input{Name: put("empty", "")}, none); err != nil || !tally.Partial {
		t.Errorf("an empty file: %+v, %v", tally, err)
	}
	stop := errors.New("stop")
	if _, err := Read(ratchet.Input{Name: put("log", "open(\"/x\", O_RDONLY) = 3\n")}, func(ratchet.Observation) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("emit's error: %v", err)
	}
	tally, err := Read(ratchet.Input{Name: put("cut", "open(\"/x\", O_RDONLY) = 3\nopen(\"/y\", O_RDONLY) = 3"), Dir: "/"}, func(ratchet.Observation) error { return nil })
	if err != nil || !tally.Partial || tally.Why != "the last line has no end" || tally.Observations != 1 || len(tally.Gaps) != 1 {
		t.Errorf("a cut file: %+v, %v", tally, err)
	}
}
