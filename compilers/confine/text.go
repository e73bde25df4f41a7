package confine

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"unicode/utf8"
)

// Text is a JSON string, or {"base64": …} where it is not UTF-8: JSON has no other way to
// say such bytes, and a reader that knows only strings must stop, not guess.
type Text string

// MarshalJSON implements json.Marshaler.
func (t Text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		err := e.Encode(string(t))
		return b.Bytes(), err
	}
	return json.Marshal(map[string]string{"base64": base64.StdEncoding.EncodeToString([]byte(t))})
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Text) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = Text(s)
		return nil
	}
	var raw struct{ Base64 []byte }
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	*t = Text(raw.Base64)
	return nil
}

// Texts are texts for JSON.
func Texts(in []string) []Text {
	out := make([]Text, len(in))
	for i, s := range in {
		out[i] = Text(s)
	}
	return out
}
