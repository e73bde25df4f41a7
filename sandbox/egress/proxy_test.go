package egress

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"umwelt/compilers/confine"
)

// outside is the internet of a test: names, addresses, and the loopback servers that stand
// behind the addresses. Nothing else can be dialled.
type outside struct {
	names   map[string][]string
	servers map[string]string // address and port, to the loopback address of a server

	mu      sync.Mutex
	looked  []string
	dialled []string
}

func (o *outside) resolve(_ context.Context, name string) ([]netip.Addr, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.looked = append(o.looked, name)
	var out []netip.Addr
	for _, a := range o.names[name] {
		out = append(out, netip.MustParseAddr(a))
	}
	if out == nil {
		return nil, errors.New("no such host")
	}
	return out, nil
}

func (o *outside) dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	o.mu.Lock()
	o.dialled = append(o.dialled, to.String())
	server, ok := o.servers[to.String()]
	o.mu.Unlock()
	if !ok {
		return nil, errors.New("unreachable")
	}
	return new(net.Dialer).DialContext(ctx, "tcp", server)
}

// buffer is a log that can be read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// rig is a running proxy.
type rig struct {
	t      *testing.T
	out    *outside
	log    *buffer
	socket string
	stop   func()
}

func start(t *testing.T, n confine.Network, out *outside, o Options) *rig {
	t.Helper()
	r := &rig{t: t, out: out, log: &buffer{}, socket: filepath.Join(t.TempDir(), "s")}
	if o.Log == nil {
		o.Log = r.log
	}
	if o.Resolve == nil {
		o.Resolve = out.resolve
	}
	o.Dial = out.dial
	l, err := net.Listen("unix", r.socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	p := New(compile(t, n), o)
	go func() { served <- p.Serve(ctx, l) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-served:
			if err != nil {
				t.Errorf("serving ended with %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Error("the proxy does not end")
		}
	})
	t.Cleanup(r.stop)
	return r
}

func (r *rig) dial() net.Conn {
	r.t.Helper()
	c, err := net.Dial("unix", r.socket)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(10 * time.Second))
	return c
}

// client is an HTTP client that knows the proxy.
func (r *rig) client() *http.Client {
	tr := &http.Transport{
		Proxy:       http.ProxyURL(mustURL("http://proxy.invalid")),
		DialContext: func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", r.socket) },
	}
	r.t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: 10 * time.Second}
}

// raw sends bytes and reads one answer.
func (r *rig) raw(text string) (status int, body string) {
	r.t.Helper()
	c := r.dial()
	if _, err := io.WriteString(c, text); err != nil {
		r.t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(b)
}

// lines are the log without what changes from run to run.
func (r *rig) lines() []string {
	r.t.Helper()
	var out []string
	for line := range strings.Lines(r.log.String()) {
		var o observation
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			r.t.Fatalf("%q: %v", line, err)
		}
		a := o.Attributes
		s := fmt.Sprintf("%s %s %s %s", o.Outcome, o.ID, a.Protocol, a.Address)
		if o.Reason != "" {
			s += " (" + o.Reason + ")"
		}
		if a.TLSName != "" {
			s += " " + a.TLSName
		}
		out = append(out, s)
	}
	return out
}

// wantLog waits for the lines of the log.
func (r *rig) wantLog(want ...string) {
	r.t.Helper()
	var got []string
	for range 200 {
		if got = r.lines(); len(got) >= len(want) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		r.t.Errorf("log:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func address(s *httptest.Server) string { return s.Listener.Addr().String() }

// web is an outside with one plain server behind several names.
func web(t *testing.T, h http.HandlerFunc) *outside {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return &outside{
		names: map[string][]string{
			"example.com": {"1.1.1.1"}, "www.example.com": {"1.1.1.1"}, "other.org": {"1.1.1.2"},
			"inside.example.com": {"10.0.0.1"}, "meta.example.com": {"169.254.169.254"},
			"mapped.example.com": {"::ffff:127.0.0.1"}, "mixed.example.com": {"127.0.0.1", "::1", "1.1.1.1"},
			"down.example.com": {"1.1.1.9"},
		},
		servers: map[string]string{"1.1.1.1:80": address(s), "1.1.1.1:8080": address(s), "1.1.1.2:80": address(s), "10.0.0.1:80": address(s)},
	}
}

func TestForward(t *testing.T) {
	rules := only([]string{"bad.example.com"}, endpoint("example.com", "", "", 0), endpoint("*.example.com", "", "http", 80))
	for _, tt := range []struct {
		name, request string
		status        int
		log           string
	}{
		{"allowed", "GET http://example.com/a?token=s3cret HTTP/1.1\r\nHost: example.com\r\n\r\n", 200,
			"allowed example.com:80 http 1.1.1.1"},
		{"in another writing", "GET http://EXAMPLE.com.:080/ HTTP/1.1\r\nHost: x\r\n\r\n", 200,
			"allowed example.com:80 http 1.1.1.1"},
		{"another port", "GET http://example.com:8080/ HTTP/1.1\r\nHost: x\r\n\r\n", 200,
			"allowed example.com:8080 http 1.1.1.1"},
		{"not allowed", "GET http://other.org/ HTTP/1.1\r\nHost: example.com\r\n\r\n", 403,
			"denied other.org:80 http  (no rule allows it)"},
		{"denied", "GET http://bad.example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n", 403,
			"denied bad.example.com:80 http  (a deny pattern takes it)"},
		{"private", "GET http://inside.example.com/ HTTP/1.1\r\nHost: x\r\n\r\n", 403,
			"denied inside.example.com:80 http 10.0.0.1 (a private address)"},
		{"metadata", "GET http://meta.example.com/ HTTP/1.1\r\nHost: x\r\n\r\n", 403,
			"denied meta.example.com:80 http 169.254.169.254 (a link-local address)"},
		{"mapped loopback", "GET http://mapped.example.com/ HTTP/1.1\r\nHost: x\r\n\r\n", 403,
			"denied mapped.example.com:80 http 127.0.0.1 (a loopback address)"},
		{"some addresses may not", "GET http://mixed.example.com/ HTTP/1.1\r\nHost: x\r\n\r\n", 200,
			"allowed mixed.example.com:80 http 1.1.1.1"},
		{"does not resolve", "GET http://none.example.com/ HTTP/1.1\r\nHost: x\r\n\r\n", 502,
			"failed none.example.com:80 http  (the name does not resolve)"},
		{"nobody listens", "GET http://down.example.com/ HTTP/1.1\r\nHost: x\r\n\r\n", 502,
			"failed down.example.com:80 http 1.1.1.9 (no connection to the address)"},
		{"literal", "GET http://1.1.1.1/ HTTP/1.1\r\nHost: example.com\r\n\r\n", 403,
			"denied 1.1.1.1:80 http  (no rule allows it)"},
		{"number", "GET http://16843009/ HTTP/1.1\r\nHost: example.com\r\n\r\n", 400,
			"denied unknown http  (an address in an unusual writing)"},
		{"escaped host", "GET http://%65xample.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n", 400, ""},
		{"user name", "GET http://user:s3cret@example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n", 400,
			"denied unknown http  (the address holds a user name)"},
		{"user name that looks like a host", "GET http://example.com:80@other.org/ HTTP/1.1\r\nHost: example.com\r\n\r\n", 400,
			"denied unknown http  (the address holds a user name)"},
		{"backslash", "GET http://example.com\\@other.org/ HTTP/1.1\r\nHost: example.com\r\n\r\n", 400, ""},
		{"https in plain", "GET https://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n", 400,
			"denied unknown http  (not a request to a proxy for plain HTTP)"},
		{"websocket scheme", "GET ws://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n", 400,
			"denied unknown http  (not a request to a proxy for plain HTTP)"},
		{"not to a proxy", "GET /s3cret HTTP/1.1\r\nHost: example.com\r\n\r\n", 400,
			"denied unknown http  (not a request to a proxy for plain HTTP)"},
		{"server-wide options", "OPTIONS * HTTP/1.1\r\nHost: example.com\r\n\r\n", 400,
			"denied unknown http  (not a request to a proxy for plain HTTP)"},
		{"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400,
			"denied unknown http  (not a request to a proxy for plain HTTP)"},
		{"two hosts", "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\nHost: other.org\r\n\r\n", 400, ""},
		{"two lengths", "POST http://example.com/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400, ""},
		{"unknown coding", "POST http://example.com/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501, ""},
		{"space before a colon", "GET http://example.com/ HTTP/1.1\r\nHost : x\r\n\r\n", 400, ""},
		{"huge head", "GET http://example.com/ HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("a", 80<<10) + "\r\n\r\n", 431, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := web(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") })
			r := start(t, rules, out, Options{})
			status, body := r.raw(tt.request)
			if status != tt.status || status == 200 && body != "hello" {
				t.Errorf("got %d %q, want %d", status, body, tt.status)
			}
			var want []string
			if tt.log != "" {
				want = []string{tt.log}
			}
			r.wantLog(want...)
			if strings.Contains(r.log.String()+body, "s3cret") {
				t.Errorf("a secret got out: %s %s", r.log, body)
			}
			if len(out.looked) > 0 && strings.Contains(tt.log, "no rule") {
				t.Errorf("a name that may not be asked for was looked up: %v", out.looked)
			}
		})
	}
}

// TestForwardedRequest checks what the server gets of a request.
func TestForwardedRequest(t *testing.T) {
	type seen struct {
		uri, host, body string
		header          http.Header
	}
	got := make(chan seen, 10)
	out := web(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got <- seen{r.RequestURI, r.Host, string(b), r.Header}
		c, _, _ := w.(http.Hijacker).Hijack()
		io.WriteString(c, "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nConnection: X-Hop\r\nX-Hop: 1\r\nX-End: 1\r\n"+
			"Proxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n")
		c.Close()
	})
	r := start(t, only(nil, endpoint("example.com", "", "", 0)), out, Options{})
	c := r.dial()
	io.WriteString(c, "POST http://Example.com/a%2Fb?x=1;y=%zz HTTP/1.1\r\nHost: other.org\r\n"+
		"Connection: X-Own, keep-alive, Upgrade\r\nX-Own: 1\r\nUpgrade: websocket\r\nProxy-Authorization: Basic s3cret\r\n"+
		"Proxy-Connection: keep-alive\r\nTE: trailers\r\nX-Kept: 1\r\nAuthorization: Bearer t\r\n"+
		"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"+
		"26\r\nGET http://other.org/ HTTP/1.1\r\nHost: \r\n0\r\n\r\n")
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 200 {
		t.Fatal(res.Status)
	}
	s := <-got
	if s.uri != "/a%2Fb?x=1;y=%zz" || s.host != "example.com" || s.body != "GET http://other.org/ HTTP/1.1\r\nHost: " {
		t.Errorf("got %+v", s)
	}
	for name, want := range map[string]string{
		"X-Own": "", "Upgrade": "", "Proxy-Authorization": "", "Proxy-Connection": "", "X-Forwarded-For": "",
		"X-Kept": "1", "Authorization": "Bearer t",
	} {
		if s.header.Get(name) != want {
			t.Errorf("%s: %q", name, s.header.Get(name))
		}
	}
	for name, want := range map[string]string{"X-Hop": "", "Keep-Alive": "", "Proxy-Authenticate": "", "X-End": "1"} {
		if res.Header.Get(name) != want {
			t.Errorf("answer: %s: %q", name, res.Header.Get(name))
		}
	}
	if len(got) != 0 {
		t.Errorf("a second request got out: %+v", <-got)
	}
	r.wantLog("allowed example.com:80 http 1.1.1.1")
}

// TestKeptAlive sends requests for several hosts over one connection.
func TestKeptAlive(t *testing.T) {
	out := web(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Host) })
	r := start(t, only(nil, endpoint("example.com", "", "", 0)), out, Options{})
	c := r.dial()
	in := bufio.NewReader(c)
	for _, host := range []string{"example.com", "example.com", "other.org"} {
		fmt.Fprintf(c, "GET http://%s/ HTTP/1.1\r\nHost: example.com\r\n\r\n", host)
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(res.Body)
		if (res.StatusCode == 200) != (host == "example.com") || res.StatusCode == 200 && string(b) != host {
			t.Errorf("%s: %d %q", host, res.StatusCode, b)
		}
	}
	r.wantLog("allowed example.com:80 http 1.1.1.1", "allowed example.com:80 http 1.1.1.1", "denied other.org:80 http  (no rule allows it)")
}

// TestUnaskedUpgrade has a server that switches protocols although nobody asked.
func TestUnaskedUpgrade(t *testing.T) {
	for _, head := range []string{"Connection: Upgrade\r\nUpgrade: x\r\n", ""} {
		out := web(t, func(w http.ResponseWriter, r *http.Request) {
			c, _, _ := w.(http.Hijacker).Hijack()
			io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\n"+head+"\r\nraw")
			c.Close()
		})
		r := start(t, only(nil, endpoint("example.com", "", "", 0)), out, Options{})
		if status, body := r.raw("GET http://example.com/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"); status != 502 {
			t.Errorf("got %d %q", status, body)
		}
	}
}

// TestStreaming checks that parts of an answer come as they are written, with trailers.
func TestStreaming(t *testing.T) {
	more := make(chan struct{})
	out := web(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "X-Sum")
		io.WriteString(w, "one")
		w.(http.Flusher).Flush()
		<-more
		io.WriteString(w, "two")
		w.Header().Set("X-Sum", "6")
	})
	r := start(t, only(nil, endpoint("example.com", "", "", 0)), out, Options{})
	res, err := r.client().Get("http://example.com/")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	part := make([]byte, 3)
	if _, err := io.ReadFull(res.Body, part); err != nil || string(part) != "one" {
		t.Fatalf("%q %v", part, err)
	}
	close(more)
	rest, err := io.ReadAll(res.Body)
	if err != nil || string(rest) != "two" || res.Trailer.Get("X-Sum") != "6" {
		t.Errorf("%q %v %v", rest, err, res.Trailer)
	}
}

// TestRebinding has a name that resolves to a public address only the first time.
func TestRebinding(t *testing.T) {
	out := web(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "public") })
	n := 0
	r := start(t, only(nil, endpoint("example.com", "", "", 0)), out, Options{
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			if n++; n > 1 {
				return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
			}
			return []netip.Addr{netip.MustParseAddr("1.1.1.1")}, nil
		},
	})
	const request = "GET http://example.com/ HTTP/1.1\r\nHost: x\r\n\r\n"
	if status, body := r.raw(request); status != 200 || body != "public" || n != 1 {
		t.Errorf("got %d %q after %d lookups", status, body, n)
	}
	if status, _ := r.raw(request); status != 403 {
		t.Errorf("got %d", status)
	}
	if got := fmt.Sprint(out.dialled); got != "[1.1.1.1:80]" {
		t.Errorf("dialled %s", got)
	}
}

// TestPanic has a panic in the middle of a decision.
func TestPanic(t *testing.T) {
	out := web(t, func(w http.ResponseWriter, r *http.Request) {})
	r := start(t, only(nil, endpoint("*", "", "", 0)), out, Options{
		Resolve: func(ctx context.Context, name string) ([]netip.Addr, error) {
			if name == "panic.test" {
				panic("s3cret")
			}
			return out.resolve(ctx, name)
		},
	})
	if status, body := r.raw("GET http://panic.test/ HTTP/1.1\r\nHost: x\r\n\r\n"); status != 0 {
		t.Errorf("got %d %q", status, body)
	}
	if status, body := r.raw("CONNECT panic.test:443 HTTP/1.1\r\nHost: x\r\n\r\n"); status != 0 {
		t.Errorf("got %d %q", status, body)
	}
	if status, _ := r.raw("GET http://example.com/ HTTP/1.1\r\nHost: x\r\n\r\n"); status != 200 {
		t.Errorf("the proxy is gone: %d", status)
	}
	if strings.Contains(r.log.String(), "s3cret") {
		t.Error("the log holds the text of the panic")
	}
	r.wantLog("denied unknown tcp  (an error of the proxy)", "denied unknown tcp  (an error of the proxy)", "allowed example.com:80 http 1.1.1.1")
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// TestNoLogNoWay checks that nothing passes that cannot be logged.
func TestNoLogNoWay(t *testing.T) {
	for _, o := range []Options{{Log: brokenWriter{}}, {MaxLog: 10}} {
		served := 0
		out := web(t, func(w http.ResponseWriter, r *http.Request) { served++ })
		r := start(t, only(nil, endpoint("example.com", "", "", 0)), out, o)
		if status, _ := r.raw("GET http://example.com/ HTTP/1.1\r\nHost: x\r\n\r\n"); status != 503 {
			t.Errorf("got %d", status)
		}
		c := r.dial()
		io.WriteString(c, "CONNECT example.com:80 HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: example.com\r\n\r\n")
		b, _ := io.ReadAll(c)
		if strings.Count(string(b), "HTTP/1.1") > 1 || served != 0 {
			t.Errorf("served %d: %q", served, b)
		}
	}
}

func TestLogLine(t *testing.T) {
	var b bytes.Buffer
	l := logger{w: &b, left: 1 << 20, now: func() time.Time { return time.Unix(1700000000, 5e8) },
		context: map[string]string{"tool": "Bash", "mode": "a\nb"}}
	l.write(decision{
		target:  target{host: Host{Name: "example.com"}, port: 443},
		address: netip.MustParseAddr("2606:4700::1111"), outcome: denied, reason: "TLS for another name",
		tlsName: "evil\x1b[2J\x7f\u202e\"😀\xff" + strings.Repeat("x", 500),
	})
	want := `{"time":"2023-11-14T22:13:20.5Z","context":{"mode":"a\nb","tool":"Bash"},"taxon":"world","type":"network",` +
		`"id":"example.com:443","attributes":{"host":"example.com","port":"443","protocol":"tcp","address":"2606:4700::1111",` +
		`"tls-name":"evil\u001b[2J\u007f\u202e\"\ud83d\ude00\ufffd` + strings.Repeat("x", 235) + `"},"verb":"connect","outcome":"denied","reason":"TLS for another name"}` + "\n"
	if b.String() != want {
		t.Errorf("got  %swant %s", b.String(), want)
	}
}

// TestSlowHead sends a request's head byte by byte.
func TestSlowHead(t *testing.T) {
	out := web(t, func(w http.ResponseWriter, r *http.Request) {})
	r := start(t, only(nil, endpoint("example.com", "", "", 0)), out, Options{HeaderTimeout: 100 * time.Millisecond})
	c := r.dial()
	began := time.Now()
	for time.Since(began) < 5*time.Second {
		if _, err := io.WriteString(c, "G"); err != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the connection is still open")
}

// TestIdle opens connections and says nothing, before and after a request.
func TestIdle(t *testing.T) {
	out := web(t, func(w http.ResponseWriter, r *http.Request) {})
	r := start(t, only(nil, endpoint("example.com", "", "", 0)), out, Options{IdleTimeout: 100 * time.Millisecond})
	for _, text := range []string{"", "GET http://example.com/ HTTP/1.1\r\nHost: x\r\n\r\n", "CONNECT example.com:80 HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST http://example.com/ HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nab"} {
		c := r.dial()
		io.WriteString(c, text)
		if _, err := io.Copy(io.Discard, c); err != nil && !errors.Is(err, net.ErrClosed) && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%q: the connection is still open: %v", text, err)
		}
	}
}

// TestMaxConns fills all places with connections that say nothing.
func TestMaxConns(t *testing.T) {
	out := web(t, func(w http.ResponseWriter, r *http.Request) {})
	r := start(t, only(nil, endpoint("example.com", "", "", 0)), out, Options{MaxConns: 2})
	first, second := r.dial(), r.dial()
	third := r.dial()
	io.WriteString(third, "GET http://example.com/ HTTP/1.1\r\nHost: x\r\n\r\n")
	third.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	if n, err := third.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Fatalf("a third connection was answered")
	}
	first.Close()
	third.SetReadDeadline(time.Now().Add(10 * time.Second))
	if res, err := http.ReadResponse(bufio.NewReader(third), nil); err != nil || res.StatusCode != 200 {
		t.Fatalf("%v %v", res, err)
	}
	second.Close()
}

// TestDead ends the proxy with a tunnel open.
func TestDead(t *testing.T) {
	out := web(t, func(w http.ResponseWriter, r *http.Request) {})
	r := start(t, only(nil, endpoint("example.com", "", "", 0)), out, Options{})
	c := r.dial()
	io.WriteString(c, "CONNECT example.com:80 HTTP/1.1\r\nHost: x\r\n\r\n")
	in := bufio.NewReader(c)
	if res, err := http.ReadResponse(in, &http.Request{Method: "CONNECT"}); err != nil || res.StatusCode != 200 {
		t.Fatal(err)
	}
	r.stop()
	if _, err := in.ReadByte(); err == nil {
		t.Error("the tunnel is still open")
	}
	if c, err := net.Dial("unix", r.socket); err == nil {
		c.Close()
		t.Error("something still listens")
	}
	r.wantLog("allowed example.com:80 tcp 1.1.1.1")
}

func TestNilRules(t *testing.T) {
	p := New(nil, Options{})
	if reason := p.rules.name(target{host: Host{Name: "example.com"}, port: 443}); reason != noRule {
		t.Errorf("got %q", reason)
	}
}
