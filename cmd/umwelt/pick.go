package main

import (
	"umwelt"
	"umwelt/world"
)

// picked are the entities that a selector on the command line fits, in vocabulary order.
// Where made, there is one, and it does not exist.
type picked struct {
	entities []pickedEntity
	made     bool
}

// pickedEntity is an entity and its index in the world, -1 where it does not exist.
type pickedEntity struct {
	entity *world.Entity
	index  int
}

// pick finds the entities that a selector fits.
func pick(p *umwelt.Policy, text string) (picked, error) {
	subjects, err := p.Select(text)
	if err != nil {
		return picked{}, asProblem(err)
	}
	out := picked{made: !subjects[0].Exists()}
	for _, s := range subjects {
		out.entities = append(out.entities, pickedEntity{s.Entity, s.Index})
	}
	return out, nil
}
