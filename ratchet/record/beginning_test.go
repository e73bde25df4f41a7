package record

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestBeginning(t *testing.T) {
	const time = " 1796081240.319975 "
	for _, tt := range []struct {
		name    string
		subject Subject
		log     []string
		passed  []string
		began   bool
	}{
		{"the process becomes the command", Subject{PID: 7, Becomes: true},
			[]string{"7 read(3, \"x\", 1) = 1", "7 execve(\"/a\", [\"a\"], 0x1 /* 2 vars */) = -1 ENOENT (No such file or directory)",
				"7 execve(\"/b\", [\"a\"], 0x1 /* 2 vars */) = 0", "7 openat(AT_FDCWD</>, \"f\", O_RDONLY) = 3</f>", "7 +++ exited with 0 +++"},
			[]string{"7 execve(\"/b\", [\"a\"], 0x1 /* 2 vars */) = 0", "7 openat(AT_FDCWD</>, \"f\", O_RDONLY) = 3</f>", "7 +++ exited with 0 +++"}, true},
		{"a child does", Subject{PID: 7},
			[]string{"7 pivot_root(\".\", \".\") = 0", "7 clone(child_stack=NULL, flags=SIGCHLD) = 2 /* 8 in strace's PID NS */", "8 openat(AT_FDCWD</>, \"x\", O_RDONLY) = 3</x>",
				"8 execve(\"/b\", [\"b\"], 0x1 /* 2 vars */ <unfinished ...>", "7 openat(AT_FDCWD</>, \"y\", O_RDONLY) = 3</y>", "8 <... execve resumed>) = 0", "7 close(3) = 0", "8 close(3) = 0", "8 +++ exited with 0 +++", "7 +++ killed by SIGKILL +++"},
			[]string{"8 execve(\"/b\", [\"b\"], 0x1 /* 2 vars */ <unfinished ...>", "8 <... execve resumed>) = 0", "8 close(3) = 0", "8 +++ exited with 0 +++"}, true},
		{"after a stage, by a thread of it", Subject{PID: 7, Stages: 1},
			[]string{"8 execve(\"/proc/self/exe\", [\"umwelt\"], 0x1 /* 0 vars */ <unfinished ...>", "7 futex(1) = 0", "8 <... execve resumed>) = 0", "9 execve(\"/none\", [\"b\"], 0x1 /* 2 vars */) = -1 ENOENT (No such file or directory)",
				"10 openat(AT_FDCWD</>, \"x\", O_RDONLY <unfinished ...>", "9 execve(\"/b\", [\"b\"], 0x1 /* 2 vars */ <unfinished ...>", "10 +++ exited with 0 +++", "8 +++ superseded by execve in pid 9 +++", "8 <... execve resumed>) = 0",
				"8 clone(child_stack=NULL, flags=SIGCHLD) = 2 /* 10 in strace's PID NS */", "10 execve(\"/c\", [\"c\"], 0x1 /* 2 vars */) = 0", "7 write(1) = 1"},
			[]string{"8 execve(\"/b\", [\"b\"], 0x1 /* 2 vars */ <unfinished ...>", "8 <... execve resumed>) = 0", "8 clone(child_stack=NULL, flags=SIGCHLD) = 2 /* 10 in strace's PID NS */", "10 execve(\"/c\", [\"c\"], 0x1 /* 2 vars */) = 0"}, true},
		{"a thread that ends late", Subject{PID: 7},
			[]string{"9 close(3) = 0", "8 execve(\"/b\", [\"b\"], 0x1 /* 2 vars */) = 0", "9 openat(AT_FDCWD</>, \"x\", O_RDONLY) = 3</x>", "9 +++ exited with 0 +++", "9 openat(AT_FDCWD</>, \"z\", O_RDONLY) = 3</z>"},
			[]string{"8 execve(\"/b\", [\"b\"], 0x1 /* 2 vars */) = 0", "9 openat(AT_FDCWD</>, \"z\", O_RDONLY) = 3</z>"}, true},
		{"the command never begins", Subject{PID: 7, Stages: 1},
			[]string{"8 execve(\"/proc/self/exe\", [\"umwelt\"], 0x1 /* 0 vars */) = 0", "8 execve(\"/b\", [\"b\"], 0x1 /* 2 vars */) = -1 EACCES (Permission denied)", "8 +++ exited with 126 +++", "7 +++ exited with 0 +++"},
			nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			join := func(lines []string) string {
				var b strings.Builder
				for _, l := range lines {
					pid, rest, _ := strings.Cut(l, " ")
					b.WriteString(pid + "  " + time + rest + "\n")
				}
				return b.String()
			}
			normal := func(s string) string { return strings.Join(strings.Fields(s), " ") }
			log := join(tt.log)
			for _, from := range []io.Reader{strings.NewReader(log), iotest.OneByteReader(strings.NewReader(log)), iotest.DataErrReader(strings.NewReader(log))} {
				b := newBeginning(tt.subject)
				got, err := io.ReadAll(&filtered{from: from, begin: b})
				if err != nil || normal(string(got)) != normal(join(tt.passed)) || b.command != tt.began {
					t.Errorf("passed on (%v, %v)\n%s\nwant\n%s", err, b.command, got, join(tt.passed))
				}
			}
		})
	}
}

// However a log is cut into pieces, the same is passed on, and nothing that was not in it.
func FuzzFiltered(f *testing.F) {
	f.Add("7 1.0 execve(\"/b\", [\"b\"], 0x1 <unfinished ...>\n8 1.0 +++ superseded by execve in pid 7 +++\n8 1.0 <... execve resumed>) = 0\n8 1.0 close(3) = 0\n", int64(6), uint8(1), uint8(3))
	f.Add("7 1.0 execve(\"/b\", [\"b\"], 0x1) = 0\n7 1.0 read(3", int64(7), uint8(0), uint8(1))
	f.Add("\n\n 7\n7 \n-7 +++ \n", int64(0), uint8(0), uint8(2))
	f.Fuzz(func(t *testing.T, log string, pid int64, stages, piece uint8) {
		subject := Subject{PID: int(pid), Stages: int(stages % 3), Becomes: pid%2 == 0}
		read := func(from io.Reader) string {
			got, err := io.ReadAll(&filtered{from: from, begin: newBeginning(subject)})
			if err != nil {
				t.Fatal(err)
			}
			return string(got)
		}
		whole := read(strings.NewReader(log))
		if pieces := read(&inPieces{log, int(piece%7) + 1}); pieces != whole {
			t.Errorf("in pieces %q, whole %q", pieces, whole)
		}
		if len(whole) > len(log)+20*strings.Count(log, "superseded") {
			t.Errorf("%d bytes of %d are passed on", len(whole), len(log))
		}
	})
}

// inPieces gives a text in pieces of a size.
type inPieces struct {
	text string
	size int
}

func (r *inPieces) Read(p []byte) (int, error) {
	if r.text == "" {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), r.size)], r.text)
	r.text = r.text[n:]
	return n, nil
}
