package narrow

import "errors"

func (p *proposer) tighten() (*Proposal, error) { return nil, errors.New("not yet") }

func (p *proposer) noWider(t, current *trial) error { return nil }
