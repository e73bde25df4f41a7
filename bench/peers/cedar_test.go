package peers

import (
	"fmt"
	"strings"

	"github.com/cedar-policy/cedar-go"
)

// prepareCedar writes one Cedar policy per rule. Files and directories are entities, and
// what lies in what is their parents.
func prepareCedar(p *policy) (func(i int) bool, error) {
	var b strings.Builder
	for _, r := range p.rules {
		effect, scope, when := "permit", fmt.Sprintf("resource == File::%q", r.path), ""
		if r.forbid {
			effect = "forbid"
		}
		if r.dir != "" {
			scope = fmt.Sprintf("resource in Dir::%q", r.dir)
		}
		if r.ext != "" {
			when = fmt.Sprintf(" when { resource.ext == %q }", r.ext)
		}
		if r.secret {
			when = " when { resource.secret }"
		}
		fmt.Fprintf(&b, "%s (principal, action, %s)%s;\n", effect, scope, when)
	}
	set, err := cedar.NewPolicySetFromBytes("bench.cedar", []byte(b.String()))
	if err != nil {
		return nil, err
	}
	entities := cedar.EntityMap{}
	add := func(typ, id string, parents []string, attributes cedar.RecordMap) {
		uid := cedar.NewEntityUID(cedar.EntityType(typ), cedar.String(id))
		var up []cedar.EntityUID
		if len(parents) > 0 {
			up = append(up, cedar.NewEntityUID("Dir", cedar.String(parents[0])))
		}
		entities[uid] = cedar.Entity{UID: uid, Parents: cedar.NewEntityUIDSet(up...), Attributes: cedar.NewRecord(attributes)}
	}
	add("User", "agent", nil, nil)
	for _, f := range p.files {
		add("File", f.path, f.dirs, cedar.RecordMap{"ext": cedar.String(f.ext), "secret": cedar.Boolean(f.secret)})
		for k, dir := range f.dirs {
			add("Dir", dir, f.dirs[k+1:], nil)
		}
	}
	requests := make([]cedar.Request, len(p.files))
	for i, f := range p.files {
		requests[i] = cedar.Request{
			Principal: cedar.NewEntityUID("User", "agent"), Action: cedar.NewEntityUID("Action", "edit"),
			Resource: cedar.NewEntityUID("File", cedar.String(f.path)), Context: cedar.NewRecord(nil),
		}
	}
	return func(i int) bool {
		decision, _ := cedar.Authorize(set, entities, requests[i])
		return decision == cedar.Allow
	}, nil
}
