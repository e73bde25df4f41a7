package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"umwelt/diag"
	"umwelt/explain"
)

// diagnostic is a diagnostic in JSON. Without a place, its place is left out.
type diagnostic struct {
	Severity diag.Severity `json:"severity"`
	Code     diag.Code     `json:"code"`
	*place
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// place is where something stands in a file, in JSON.
type place struct {
	File   string `json:"file"`
	Line   int32  `json:"line"`
	Column int32  `json:"column"`
}

// String is "file:line:column", safe to print.
func (p place) String() string { return fmt.Sprintf("%s:%d:%d", diag.Escape(p.File), p.Line, p.Column) }

// placeOf is where a span begins; nil where it names no file.
func placeOf(at diag.Span) *place {
	if at.Source == nil {
		return nil
	}
	return &place{utf8Text(at.File()), at.Start.Line, at.Start.Column}
}

// diagnostics are a list in JSON; none are an empty array.
func diagnostics(list diag.List) []diagnostic {
	out := make([]diagnostic, 0, len(list))
	for _, d := range list {
		out = append(out, diagnostic{d.Severity, d.Code, placeOf(d.Span), utf8Text(d.Text()), utf8Text(d.Hint)})
	}
	return out
}

// writeJSON writes a document where -o says.
func (s *streams) writeJSON(path string, doc any) error {
	text, err := jsonText(doc)
	if err != nil {
		return err
	}
	return s.write(path, text)
}

// jsonText is a document, indented. "<", ">" and "&" stay as they are, since selectors are
// full of them.
func jsonText(doc any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(doc); err != nil {
		return nil, problem(diag.Output, "", "the document cannot be written as JSON: %v", err)
	}
	return escapeJSON(b.Bytes()), nil
}

// escapeJSON escapes what encoding/json leaves raw although a terminal would obey it:
// control characters above ASCII and format characters. In JSON, what is not ASCII stands
// only in strings, so no syntax is touched.
func escapeJSON(text []byte) []byte {
	var out []byte
	from := 0
	for i := 0; i < len(text); {
		if text[i] < 0x7f {
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if s := string(r); diag.Escape(s) != s {
			out = append(out, text[from:i]...)
			if hi, lo := utf16.EncodeRune(r); hi != utf8.RuneError {
				out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
			} else {
				out = fmt.Appendf(out, `\u%04x`, r)
			}
			from = i + n
		}
		i += n
	}
	if out == nil {
		return text
	}
	return append(out, text[from:]...)
}

// utf8Text is s for JSON: each byte that is not UTF-8 becomes \xHH.
func utf8Text(s string) string { return explain.UTF8(s) }
