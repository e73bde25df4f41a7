package egress

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"sync"
	"time"

	"umwelt/diag"
)

// outcome is what came of a request. Failed is one that was allowed and could not be
// carried out.
type outcome string

const (
	allowed outcome = "allowed"
	denied  outcome = "denied"
	failed  outcome = "failed"
)

// observation is one line of the log. It holds no path, query, header or user name: none
// of them was needed to decide.
type observation struct {
	Time       string            `json:"time"` // RFC 3339, UTC
	Context    map[string]string `json:"context,omitempty"`
	Taxon      string            `json:"taxon"`
	Type       string            `json:"type"`
	ID         string            `json:"id"` // host:port
	Attributes attributes        `json:"attributes"`
	Verb       string            `json:"verb"`
	Outcome    outcome           `json:"outcome"`
	Reason     string            `json:"reason,omitempty"`
}

type attributes struct {
	Host     string `json:"host,omitempty"`
	Port     string `json:"port,omitempty"`
	Protocol string `json:"protocol,omitempty"`
	Address  string `json:"address,omitempty"`  // the one connected to, or refused
	TLSName  string `json:"tls-name,omitempty"` // where it is another than the host
}

var errLogFull = errors.New("the log has reached its limit")

// logger writes observations, one JSON object a line. After an error it writes no more,
// and says so to whoever asks: what cannot be logged must not happen.
type logger struct {
	now     func() time.Time
	context map[string]string

	mu   sync.Mutex
	w    io.Writer
	left int64
	err  error
}

// decision is what is said about one request.
type decision struct {
	target   target
	protocol string // what it turned out to be; "" for what the target's form says
	address  netip.Addr
	tlsName  string
	outcome  outcome
	reason   string
}

func (l *logger) write(d decision) error {
	o := observation{
		Context: l.context, Taxon: "world", Type: "network", ID: "unknown",
		Attributes: attributes{Host: d.target.host.String(), Protocol: d.protocol, TLSName: clip(d.tlsName)},
		Verb:       "connect", Outcome: d.outcome, Reason: d.reason,
	}
	if o.Attributes.Protocol == "" {
		o.Attributes.Protocol = d.target.protocol()
	}
	if d.target.host != (Host{}) {
		o.Attributes.Port = fmt.Sprint(d.target.port)
		o.ID = d.target.authority()
	}
	if d.address.IsValid() {
		o.Attributes.Address = d.address.String()
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return l.err
	}
	o.Time = l.now().UTC().Format(time.RFC3339Nano)
	text, err := json.Marshal(o)
	if err == nil {
		line := append(diag.AppendASCII(nil, text), '\n')
		if l.left -= int64(len(line)); l.left < 0 {
			err = errLogFull
		} else {
			_, err = l.w.Write(line)
		}
	}
	l.err = err
	return err
}

// clip bounds a text that a client chose.
func clip(s string) string { return s[:min(len(s), longestName)] }
