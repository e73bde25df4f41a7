package hooks

import (
	"strings"
	"sync"
	"unicode/utf8"

	"umwelt/diag"
)

// tail keeps the last bytes of what is written to it.
type tail struct {
	mu    sync.Mutex
	ring  []byte
	next  int   // where the next byte goes
	total int64 // bytes ever written
}

func newTail(size int) *tail { return &tail{ring: make([]byte, size)} }

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total += int64(len(p))
	n := len(p)
	if len(p) > len(t.ring) {
		p = p[len(p)-len(t.ring):]
	}
	for len(p) > 0 {
		k := copy(t.ring[t.next:], p)
		p, t.next = p[k:], (t.next+k)%len(t.ring)
	}
	return n, nil
}

// text is what was kept, safe to print, and how many bytes came before it.
func (t *tail) text() (string, int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := string(t.ring[:t.next])
	if t.total >= int64(len(t.ring)) {
		kept = string(t.ring[t.next:]) + kept
	}
	dropped := t.total - int64(len(kept))
	if dropped > 0 {
		// A character that was cut in two is dropped whole.
		for n := 0; n < utf8.UTFMax-1 && kept != "" && !utf8.RuneStart(kept[0]); n++ {
			kept = kept[1:]
			dropped++
		}
	}
	lines := strings.Split(strings.ReplaceAll(kept, "\r\n", "\n"), "\n")
	for i, line := range lines {
		cells := strings.Split(line, "\t")
		for k := range cells {
			cells[k] = diag.Escape(cells[k])
		}
		lines[i] = strings.Join(cells, "\t")
	}
	return strings.Join(lines, "\n"), dropped
}
