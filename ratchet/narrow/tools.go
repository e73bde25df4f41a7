package narrow

// callBounds writes the highest level of the tools that were called, and what may be asked
// of those that take commands.
func (f *fresh) callBounds(p *proposer) {}
