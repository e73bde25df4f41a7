package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestLintFindsNothingInTheExamples lints every example over the world that it is for.
func TestLintFindsNothingInTheExamples(t *testing.T) {
	views, err := filepath.Glob("../../examples/*/*.umw")
	if err != nil || len(views) < 20 {
		t.Fatalf("%d views: %v", len(views), err)
	}
	lint := func(args ...string) {
		t.Helper()
		std, out, errs := memoryStreams()
		if status := run(append([]string{"lint"}, args...), std); status != exitOK || out.Len() > 0 || errs.Len() > 0 {
			t.Errorf("lint %s: exit status %d\n%s%s", strings.Join(args, " "), status, out, errs)
		}
	}
	for _, view := range views {
		args := []string{view}
		if root := filepath.Join(filepath.Dir(view), "project"); isDir(root) {
			args = append(args, "--root", root)
		}
		if world := filepath.Join(filepath.Dir(view), "dev.world.yml"); exists(world) {
			lint(append(slices.Clone(args), "--world", world)...)
			if filepath.Base(view) == "review.umw" {
				continue // it is about what only that world names
			}
		}
		lint(args...)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
