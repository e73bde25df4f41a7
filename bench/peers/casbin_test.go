package peers

import (
	"github.com/casbin/casbin/v2"
	"github.com/casbin/casbin/v2/model"
)

// casbinModel is deny-override over rows with a pattern for each fact; "*" is any.
const casbinModel = `
[request_definition]
r = path, ext, secret

[policy_definition]
p = path, ext, secret, eft

[policy_effect]
e = some(where (p.eft == allow)) && !some(where (p.eft == deny))

[matchers]
m = keyMatch(r.path, p.path) && (p.ext == "*" || p.ext == r.ext) && (p.secret == "*" || p.secret == r.secret)
`

func prepareCasbin(p *policy) (func(i int) bool, error) {
	m, err := model.NewModelFromString(casbinModel)
	if err != nil {
		return nil, err
	}
	e, err := casbin.NewEnforcer(m)
	if err != nil {
		return nil, err
	}
	var rows [][]string
	seen := map[[4]string]bool{}
	for _, r := range p.rules {
		row := [4]string{r.path, "*", "*", "allow"}
		if r.dir != "" {
			row[0] = r.dir + "/*"
		}
		if r.ext != "" {
			row[1] = r.ext
		}
		if r.secret {
			row[2] = "yes"
		}
		if r.forbid {
			row[3] = "deny"
		}
		if !seen[row] { // the enforcer refuses a row that it has
			seen[row] = true
			rows = append(rows, row[:])
		}
	}
	if _, err := e.AddPolicies(rows); err != nil {
		return nil, err
	}
	return func(i int) bool {
		f, secret := &p.files[i], "no"
		if f.secret {
			secret = "yes"
		}
		ok, err := e.Enforce(f.path, f.ext, secret)
		return err == nil && ok
	}, nil
}
