package ratchet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"umwelt/diag"
)

// fields are the names that a line may hold.
var fields = map[string]bool{
	"time": true, "context": true, "taxon": true, "type": true, "id": true, "id_bytes": true, "attributes": true, "verb": true,
	"outcome": true, "reason": true, "count": true, "file": true, "line": true,
}

// checkNames refuses a line in which a name stands twice, or is one of the fields' in other
// letters: decoding takes either, and the last one would win. The text is a JSON object
// whose values are no lists.
func checkNames(text []byte) error {
	var seen [2]map[string]bool // of the line, and of the object in it
	depth := -1
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{':
			if depth++; depth > 1 {
				return errors.New("objects lie too deep in each other")
			}
			seen[depth] = map[string]bool{}
		case '}':
			depth--
		case '"':
			from := i
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if rest := bytes.TrimLeft(text[i+1:], " \t\r\n"); len(rest) == 0 || rest[0] != ':' {
				continue
			}
			var name string
			if err := json.Unmarshal(text[from:i+1], &name); err != nil {
				return err
			}
			if depth == 0 && !fields[name] {
				return fmt.Errorf("unknown field %s", diag.Quote(name))
			}
			if seen[depth][name] {
				return fmt.Errorf("%s stands twice", diag.Quote(name))
			}
			seen[depth][name] = true
		}
	}
	return nil
}
