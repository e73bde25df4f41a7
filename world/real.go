package world

import (
	"path/filepath"
	"strings"
)

// maxPath is how long a path of the host can be.
const maxPath = 4096

// lookUpLinks fills Real. What cannot be looked up is left for whoever uses the path to
// fail on.
func (w *World) lookUpLinks() {
	look := func(text string) {
		if !strings.HasPrefix(text, "/") || len(text) > maxPath || strings.IndexByte(text, 0) >= 0 || filepath.Clean(text) != text || w.Real[text] != "" {
			return
		}
		real, err := filepath.EvalSymlinks(text)
		if err != nil || real == text {
			return
		}
		if w.Real == nil {
			w.Real = map[string]string{}
		}
		w.Real[text] = real
	}
	// Of what lies below the root the paths are relative, and links have been looked at.
	relative := make([]bool, len(w.Registry.Types()))
	for i, t := range w.Registry.Types() {
		relative[i] = underRoot(t, w.Registry)
	}
	for i := range w.Entities {
		e := &w.Entities[i]
		if relative[e.Type.Index] {
			continue
		}
		for _, a := range e.Attributes {
			look(a.Text)
		}
	}
	for _, f := range w.Fixed {
		for _, v := range f.Values {
			look(v.Value.Text)
		}
	}
}
