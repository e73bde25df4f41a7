//go:build !linux

package hooks

import "context"

// run fails: a hook's processes cannot be ended here with certainty.
func (o Options) run(_ context.Context, _ string, _ Hook, r *Result) {
	r.Error = "hooks need Linux, where a command's processes can be ended with it"
}
