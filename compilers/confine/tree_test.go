package confine

import (
	"strings"
	"testing"
)

func TestCleanPath(t *testing.T) {
	for _, tt := range []struct {
		path, want string
		bad        bool
	}{
		{"a/b", "a/b", false}, {"./a", "a", false}, {"a/", "a", false}, {"..a/...", "..a/...", false}, {"a b/\n", "a b/\n", false}, {"\xff", "\xff", false},
		{"", "", true}, {"./", "", true}, {"/", "", true}, {"/a", "", true}, {"..", "", true}, {"a/..", "", true}, {"../a", "", true}, {"a/../b", "", true},
		{"a//b", "", true}, {"a/./b", "", true}, {"a\x00b", "", true}, {strings.Repeat("n", 255), strings.Repeat("n", 255), false},
		{strings.Repeat("n", 256), "", true}, {strings.Repeat("d/", 2048) + "f", "", true},
	} {
		got, problem := cleanPath(tt.path)
		if got != tt.want || (problem != "") != tt.bad {
			t.Errorf("%.40q gives %.40q, %q", tt.path, got, problem)
		}
	}
}

func TestLeadsOut(t *testing.T) {
	for _, tt := range []struct {
		path, target string
		want         bool
	}{
		{"l", "a", false}, {"l", "./a/../b", false}, {"l", "..", true}, {"l", "../p/a", true}, {"d/l", "..", false}, {"d/l", "../a", false}, {"d/l", "../../a", true},
		{"d/l", "x/../../..", true}, {"l", "/etc/passwd", true}, {"l", "/p", false}, {"l", "/p/a", false}, {"l", "/p/../etc", true}, {"l", "/pp", true}, {"l", "l", false},
	} {
		if got := leadsOut("/p", tt.path, tt.target); got != tt.want {
			t.Errorf("%s -> %s: %v", tt.path, tt.target, got)
		}
	}
}
