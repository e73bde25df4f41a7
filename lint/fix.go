package lint

import (
	"bytes"
	"cmp"
	"slices"

	"umwelt/diag"
)

// Edit replaces a span of a file by a text.
type Edit struct {
	At   diag.Span
	Text string
}

// removal takes something out together with its semicolon, and with its lines where
// nothing else stands on them.
func removal(at diag.Span) Edit {
	text := at.Source.Text
	from, to := int(at.Start.Offset), int(at.End.Offset)
	next := to
	for next < len(text) && blank(text[next]) {
		next++
	}
	if next < len(text) && text[next] == ';' {
		to = next + 1
	}
	for from > 0 && blank(text[from-1]) {
		from--
	}
	rest := to
	for rest < len(text) && (blank(text[rest]) || text[rest] == '\r') {
		rest++
	}
	switch atStart, atEnd := from == 0 || text[from-1] == '\n', rest == len(text) || text[rest] == '\n'; {
	case atStart && atEnd:
		to = min(rest+1, len(text))
	case atStart:
		from, to = int(at.Start.Offset), rest
	}
	at.Start.Offset, at.End.Offset = int32(from), int32(to)
	return Edit{At: at}
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// Apply makes the edits of every finding that is not silenced, and says which files
// change. Of edits that overlap, the first one is made; the rest waits for another run.
func Apply(found []Finding) map[*diag.Source][]byte {
	edits := map[*diag.Source][]Edit{}
	for _, x := range found {
		for _, e := range x.Fix {
			if x.Silenced == "" {
				edits[e.At.Source] = append(edits[e.At.Source], e)
			}
		}
	}
	out := map[*diag.Source][]byte{}
	for src, list := range edits {
		slices.SortStableFunc(list, func(a, b Edit) int {
			return cmp.Or(cmp.Compare(a.At.Start.Offset, b.At.Start.Offset), cmp.Compare(b.At.End.Offset, a.At.End.Offset))
		})
		var b bytes.Buffer
		at := 0
		for _, e := range list {
			if int(e.At.Start.Offset) < at {
				continue
			}
			b.Write(src.Text[at:e.At.Start.Offset])
			b.WriteString(e.Text)
			at = int(e.At.End.Offset)
		}
		b.Write(src.Text[at:])
		out[src] = b.Bytes()
	}
	return out
}
