package record

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// Object is a JSON object whose values are read when they are asked for.
type Object map[string]json.RawMessage

// ParseObject reads one object. Where a name stands twice it is false: what it says
// depends on who reads it.
func ParseObject(text []byte) (Object, bool) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] != '{' || !json.Valid(text) {
		return nil, false
	}
	out := Object{}
	d := json.NewDecoder(bytes.NewReader(text))
	_, _ = d.Token() // it is valid, and an object
	for d.More() {
		key, _ := d.Token()
		name, _ := key.(string)
		var raw json.RawMessage
		if _, twice := out[name]; twice || d.Decode(&raw) != nil {
			return nil, false
		}
		out[name] = raw
	}
	return out, true
}

// Has reports whether one of the names stands with a value that is not null.
func (o Object) Has(names ...string) bool {
	for _, n := range names {
		if raw, ok := o[n]; ok && string(raw) != "null" {
			return true
		}
	}
	return false
}

// Text is the first of the names that holds a string that is not empty, or "".
func (o Object) Text(names ...string) string {
	for _, n := range names {
		var s string
		if raw := o[n]; len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil && s != "" {
			return s
		}
	}
	return ""
}

// Int is the first of the names that holds a whole number, also one written as a string.
func (o Object) Int(names ...string) (int64, bool) {
	for _, n := range names {
		if i, err := strconv.ParseInt(strings.Trim(string(o[n]), `"`), 10, 64); err == nil {
			return i, true
		}
	}
	return 0, false
}

// Bool is the first of the names that holds a truth value, or 0 or 1.
func (o Object) Bool(names ...string) (value, ok bool) {
	for _, n := range names {
		switch string(o[n]) {
		case "true", "1":
			return true, true
		case "false", "0":
			return false, true
		}
	}
	return false, false
}

// Object is the first of the names that holds an object, also one written as a string.
func (o Object) Object(names ...string) (Object, bool) {
	for _, n := range names {
		raw := []byte(o[n])
		if s := o.Text(n); s != "" {
			raw = []byte(s)
		}
		if inner, ok := ParseObject(raw); ok {
			return inner, true
		}
	}
	return nil, false
}

// List is the elements of the first of the names that holds a list.
func (o Object) List(names ...string) ([]json.RawMessage, bool) {
	for _, n := range names {
		var list []json.RawMessage
		if raw := o[n]; len(raw) > 0 && raw[0] == '[' && json.Unmarshal(raw, &list) == nil {
			return list, true
		}
	}
	return nil, false
}

// Texts is the strings of a list. It is false where one of them is none.
func (o Object) Texts(names ...string) ([]string, bool) {
	list, ok := o.List(names...)
	if !ok {
		return nil, false
	}
	out := make([]string, 0, len(list))
	for _, raw := range list {
		var s string
		if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}

// forms of times that tools write. Those without a zone are in UTC.
var forms = []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999"}

// Time is the first of the names that holds a time, or the zero time.
func (o Object) Time(names ...string) time.Time {
	for _, n := range names {
		s := o.Text(n)
		if s == "" {
			continue
		}
		for _, form := range forms {
			if t, err := time.Parse(form, s); err == nil {
				return t.UTC()
			}
		}
	}
	return time.Time{}
}
