// Package egress lets a sandbox without a network reach the endpoints that a policy
// allows, and nothing else. The sandbox has a Unix socket to a proxy that runs outside;
// inside, a relay makes it a proxy address that programs know how to use.
//
// Every request is decided by name, port and protocol, then by the address that the name
// resolves to; the proxy connects to that address itself. What is not understood is
// refused. If the proxy ends, the sandbox has no way out.
package egress

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// Options of a proxy. The zero value is usable.
type Options struct {
	Log     io.Writer         // gets every decision as an observation line; nil for none
	MaxLog  int64             // bytes; when they are used up everything is refused; 64 MiB where 0
	Context map[string]string // the actor's context, as it stands in every observation

	Resolve func(ctx context.Context, name string) ([]netip.Addr, error)   // the host's resolver where nil
	Dial    func(ctx context.Context, to netip.AddrPort) (net.Conn, error) // TCP where nil
	Now     func() time.Time                                               // the log's clock; time.Now where nil

	MaxConns      int           // connections from the sandbox at once; 256 where 0
	HeaderTimeout time.Duration // for a request's head, and for the start of TLS; 10 s where 0
	DialTimeout   time.Duration // for looking a name up, and for each address; 10 s where 0
	IdleTimeout   time.Duration // for a connection on which nothing moves; 15 min where 0
}

// Bounds that need no choosing.
const (
	maxRequestHead  = 64 << 10
	maxResponseHead = 256 << 10
	maxAddresses    = 8 // of one name
	defaultIdle     = 15 * time.Minute
)

// Proxy is a running or ready proxy.
type Proxy struct {
	rules *Rules
	o     Options
	log   logger
}

// New makes a proxy. Nil rules allow nothing.
func New(rules *Rules, o Options) *Proxy {
	if rules == nil {
		rules = &Rules{}
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	if o.Resolve == nil {
		o.Resolve = resolve
	}
	if o.Dial == nil {
		o.Dial = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", to.String())
		}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.MaxLog = orDefault(o.MaxLog, 64<<20)
	o.MaxConns = orDefault(o.MaxConns, 256)
	o.HeaderTimeout = orDefault(o.HeaderTimeout, 10*time.Second)
	o.DialTimeout = orDefault(o.DialTimeout, 10*time.Second)
	o.IdleTimeout = orDefault(o.IdleTimeout, defaultIdle)
	return &Proxy{rules: rules, o: o, log: logger{w: o.Log, left: o.MaxLog, now: o.Now, context: o.Context}}
}

func orDefault[T int | int64 | time.Duration](v, otherwise T) T {
	if v <= 0 {
		return otherwise
	}
	return v
}

// Serve answers on a listener until the context ends, and then closes every connection
// and returns nil when the last one is done. It closes the listener.
func (p *Proxy) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// Handlers hold it shared, so that taking it alone waits for all of them.
	var busy sync.RWMutex
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			busy.RLock()
			defer busy.RUnlock()
			if ctx.Err() == nil {
				p.serve(ctx, w, r)
			}
		}),
		ReadHeaderTimeout:            p.o.HeaderTimeout,
		IdleTimeout:                  p.o.IdleTimeout,
		MaxHeaderBytes:               maxRequestHead,
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     log.New(io.Discard, "", 0),
		BaseContext:                  func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	err := server.Serve(limit(l, p.o.MaxConns, p.o.IdleTimeout))
	ended := ctx.Err() != nil
	cancel()
	server.Close()
	busy.Lock()
	defer busy.Unlock()
	if ended && errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// serve answers one request. A panic ends the connection, and is logged as a refusal. The
// context is the proxy's own: the one of a request ends with the first half of a tunnel.
func (p *Proxy) serve(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	defer func() {
		switch e := recover(); e {
		case nil:
		case http.ErrAbortHandler:
			panic(e)
		default:
			p.log.write(decision{outcome: denied, reason: "an error of the proxy"})
			panic(http.ErrAbortHandler)
		}
	}()
	if r.Method == http.MethodConnect {
		p.connect(ctx, w, r)
	} else {
		p.forward(w, r)
	}
}

// refuse answers a request that goes nowhere, and logs it.
func (p *Proxy) refuse(w http.ResponseWriter, status int, d decision) {
	p.log.write(d)
	w.Header().Set("Connection", "close")
	http.Error(w, "umwelt: "+string(d.outcome)+": "+d.reason, status)
}

// open decides about a target and connects to it. Where conn is nil, the decision says
// why; else it is yet to be logged.
func (p *Proxy) open(ctx context.Context, t target) (conn net.Conn, g grant, d decision) {
	d = decision{target: t, outcome: denied}
	if d.reason = p.rules.name(t); d.reason != "" {
		return nil, nothing, d
	}
	addrs := []netip.Addr{t.host.Addr}
	if !t.host.Addr.IsValid() {
		lookup, cancel := context.WithTimeout(ctx, p.o.DialTimeout)
		defer cancel()
		var err error
		if addrs, err = p.o.Resolve(lookup, t.host.Name); err != nil || len(addrs) == 0 {
			d.outcome, d.reason = failed, "the name does not resolve"
			return nil, nothing, d
		}
	}
	for _, addr := range addrs[:min(len(addrs), maxAddresses)] {
		addr = addr.Unmap()
		g, reason := p.rules.address(t, addr)
		if reason != "" {
			// An address that could be dialled says more than one that may not.
			if d.outcome == denied && d.reason == "" {
				d.address, d.reason = addr, reason
			}
			continue
		}
		dial, cancel := context.WithTimeout(ctx, p.o.DialTimeout)
		conn, err := p.o.Dial(dial, netip.AddrPortFrom(addr, t.port))
		cancel()
		if err == nil {
			d.address, d.outcome, d.reason = addr, allowed, ""
			return conn, g, d
		}
		d.address, d.outcome, d.reason = addr, failed, "no connection to the address"
	}
	return nil, nothing, d
}

// resolve looks a name up by the host's resolver. A name with a dot is taken as whole, so
// that no search domain is put after it.
func resolve(ctx context.Context, name string) ([]netip.Addr, error) {
	for i := range name {
		if name[i] == '.' {
			name += "."
			break
		}
	}
	return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
}
