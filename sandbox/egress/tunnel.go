package egress

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// connect answers a CONNECT request with a tunnel.
func (p *Proxy) connect(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	bad := decision{outcome: denied}
	if r.URL.Host == "" || r.RequestURI != r.URL.Host || r.ContentLength != 0 || r.TransferEncoding != nil {
		bad.reason = "not a request for a tunnel"
		p.refuse(w, http.StatusBadRequest, bad)
		return
	}
	t, err := parseTarget(r.URL.Host, tunnel)
	if err != nil {
		bad.reason = err.Error()
		p.refuse(w, http.StatusBadRequest, bad)
		return
	}
	server, g, d := p.open(r.Context(), t)
	if server == nil {
		p.refuse(w, status(d), d)
		return
	}
	defer server.Close()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer client.Close()
	client.SetDeadline(time.Time{})
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	c := &carriage{p: p, d: d, g: g, client: client, in: buffered.Reader, server: server, open: make(chan struct{})}
	c.run(ctx)
}

// carriage is one tunnel. Nothing passes before its decision is logged. Where only TLS may
// pass, nothing comes back either before the name in it was seen.
type carriage struct {
	p      *Proxy
	d      decision
	g      grant
	client net.Conn
	in     *bufio.Reader // reads client
	server net.Conn
	open   chan struct{} // closed when the start of the client's bytes was accepted

	logged sync.Once
	ok     bool
}

func (c *carriage) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	context.AfterFunc(ctx, c.close)
	var back sync.WaitGroup
	back.Go(func() {
		defer c.survive(cancel)
		if !c.down(ctx) {
			cancel()
		}
	})
	func() {
		defer c.survive(cancel)
		if !c.up(ctx) {
			cancel()
		}
	}()
	back.Wait()
	c.admit("tcp")
}

func (c *carriage) close() {
	c.client.Close()
	c.server.Close()
}

// survive ends the tunnel after a panic, which would otherwise end the whole program.
func (c *carriage) survive(cancel func()) {
	if e := recover(); e != nil {
		cancel()
		c.deny("an error of the proxy", "")
	}
}

// admit logs once that the tunnel is used, and for what. It reports whether that worked.
func (c *carriage) admit(protocol string) bool {
	c.logged.Do(func() {
		c.d.protocol = protocol
		c.ok = c.p.log.write(c.d) == nil
	})
	return c.ok
}

// deny logs that the tunnel ends for what was sent into it. There may be a line already
// that says that the connection was allowed.
func (c *carriage) deny(reason, tlsName string) bool {
	c.logged.Do(func() {})
	d := decision{target: c.d.target, address: c.d.address, tlsName: tlsName, outcome: denied, reason: reason}
	if tlsName != "" {
		d.protocol = "https"
	}
	c.p.log.write(d)
	return false
}

// up carries from the client to the server. It reports whether the tunnel may go on in the
// other direction.
func (c *carriage) up(ctx context.Context) bool {
	head, ok := c.begin(ctx)
	if !ok {
		return false
	}
	close(c.open)
	if len(head) > 0 {
		if _, err := c.server.Write(head); err != nil {
			return false
		}
	}
	if _, err := io.Copy(c.server, c.in); err != nil {
		return false
	}
	closeWrite(c.server)
	return true
}

// begin reads the first bytes of the client and decides about them.
func (c *carriage) begin(ctx context.Context) (head []byte, ok bool) {
	limit := func() { c.client.SetReadDeadline(time.Now().Add(c.p.o.HeaderTimeout)) }
	if c.g == onlyTLS {
		limit()
	}
	first, err := c.in.Peek(1)
	switch {
	case err == nil && isTLS(first[0]):
	case c.g == onlyTLS:
		return nil, c.deny("no TLS, and the rule is for TLS", "")
	case err != nil && err != io.EOF:
		return nil, false
	default:
		return nil, c.admit("tcp")
	}
	limit()
	name, head, err := clientHello(ctx, c.in)
	if err != nil {
		return nil, c.deny(errHello.Error(), "")
	}
	c.client.SetReadDeadline(time.Time{})
	if name == "" {
		if c.g == onlyTLS && c.d.target.host.Name != "" {
			return nil, c.deny("TLS for no name", "")
		}
		return head, c.admit("https")
	}
	if host, err := ParseHost(name); err != nil || host != c.d.target.host {
		return nil, c.deny("TLS for another name", name)
	}
	return head, c.admit("https")
}

// down carries from the server to the client, as up does the other way.
func (c *carriage) down(ctx context.Context) bool {
	if c.g == onlyTLS {
		select {
		case <-c.open:
		case <-ctx.Done():
			return false
		}
	}
	buf := make([]byte, 32<<10)
	for {
		n, err := c.server.Read(buf)
		if n > 0 {
			if !c.admit("tcp") {
				return false
			}
			if _, err := c.client.Write(buf[:n]); err != nil {
				return false
			}
		}
		if err == io.EOF {
			closeWrite(c.client)
			return true
		}
		if err != nil {
			return false
		}
	}
}

// authority is the host and port of a target.
func (t target) authority() string {
	return net.JoinHostPort(t.host.String(), strconv.Itoa(int(t.port)))
}

// urlHost is the authority without the port that http URLs leave out.
func (t target) urlHost() string {
	if t.port == 80 {
		return strings.TrimSuffix(t.authority(), ":80")
	}
	return t.authority()
}
