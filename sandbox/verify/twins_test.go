//go:build linux && (amd64 || arm64)

package verify

import (
	"os"
	"path/filepath"
	"testing"
)

// Names of one file that the rules tell apart are held to the tightest of them, and none of
// them shows or changes what another one protects.
func TestNamesOfOneFile(t *testing.T) {
	root := filepath.Join(t.TempDir(), "project")
	plant(t, root, sample())
	for from, to := range map[string]string{".env": "src/env", "keys/private.pem": "docs/key", "src/deep/lock": "src/unlocked", "docs/a.md": "src/a.md", "src/a.py": "src/b.py"} {
		if err := os.Link(filepath.Join(root, from), filepath.Join(root, to)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"bwrap", "landlock", "podman"} {
		t.Run(name, func(t *testing.T) {
			need(t, name)
			r, err := verifyView(t, name, sampleView, sampleWorld, root, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if well(t, r); r.Paths != 20 {
				t.Errorf("%d paths", r.Paths)
			}
		})
	}
}
