package lint

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Baseline is what a policy said at an earlier time: the value of every property of every
// entity that had one.
type Baseline struct {
	Name    string // where it comes from, for messages
	Context map[string][]string
	Values  map[BaselineKey]BaselineValue
	// Entities are those that were there, with a value or without.
	Entities map[BaselineEntity]bool
}

// BaselineEntity names an entity.
type BaselineEntity struct{ Type, ID string }

// BaselineKey names a property of an entity.
type BaselineKey struct {
	BaselineEntity
	Property string
}

// BaselineValue is a value as it stood in the document. List is not nil where it is one.
type BaselineValue struct {
	Text   string
	List   []string
	Secret bool // the value is not known
}

// policySchemas are the documents that a baseline can be.
var policySchemas = []string{"umwelt.policy/1", "umwelt.dry-run/1"}

// ReadBaseline reads the JSON document that the target json writes.
func ReadBaseline(name string, text []byte) (*Baseline, error) {
	var doc struct {
		Schema   string
		Context  map[string]json.RawMessage
		Entities []struct {
			Type       string
			ID         string
			IDBytes    []byte `json:"id-bytes"`
			Properties map[string]struct {
				Value  string
				Values []string
				Secret bool
			}
		}
	}
	if strings.HasPrefix(string(text), "SQLite format 3\x00") {
		return nil, errors.New("it is a database, which has to be opened as one")
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("it is not the JSON of a policy: %w", err)
	}
	if !slices.Contains(policySchemas, doc.Schema) {
		return nil, fmt.Errorf("its schema is %q, and %s is wanted", doc.Schema, strings.Join(policySchemas, " or "))
	}
	b := &Baseline{Name: name, Context: map[string][]string{}, Values: map[BaselineKey]BaselineValue{}, Entities: map[BaselineEntity]bool{}}
	for typ, raw := range doc.Context {
		var one string
		var several []string
		switch {
		case json.Unmarshal(raw, &one) == nil:
			several = []string{one}
		case json.Unmarshal(raw, &several) != nil:
			return nil, fmt.Errorf("its context of %q is no id and no list of ids", typ)
		}
		b.Context[typ] = several
	}
	for _, e := range doc.Entities {
		id := e.ID
		if e.IDBytes != nil {
			id = string(e.IDBytes)
		}
		entity := BaselineEntity{e.Type, id}
		b.Entities[entity] = true
		for property, v := range e.Properties {
			b.Values[BaselineKey{entity, property}] = BaselineValue{v.Value, v.Values, v.Secret}
		}
	}
	return b, nil
}
