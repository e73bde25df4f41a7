package egress

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// hello is the start of a TLS stream for a server name.
func hello(t testing.TB, name string, change func(*tls.Config)) []byte {
	t.Helper()
	config := &tls.Config{ServerName: name, InsecureSkipVerify: true}
	if change != nil {
		change(config)
	}
	rec := &writes{}
	tls.Client(rec, config).Handshake()
	if len(rec.b) == 0 {
		t.Fatal("no hello")
	}
	return rec.b
}

// writes is a connection that keeps what is written and gives nothing.
type writes struct {
	recorder
	b []byte
}

func (w *writes) Read([]byte) (int, error)    { return 0, io.EOF }
func (w *writes) Write(p []byte) (int, error) { w.b = append(w.b, p...); return len(p), nil }

// fragmented is a handshake record split into records of n bytes.
func fragmented(record []byte, n int) []byte {
	var out []byte
	for part := range slices.Chunk(record[5:], n) {
		out = append(out, 22, 3, 1, byte(len(part)>>8), byte(len(part)))
		out = append(out, part...)
	}
	return out
}

func TestClientHello(t *testing.T) {
	plain := hello(t, "example.com", nil)
	twice := append([]byte(nil), plain...)
	for _, tt := range []struct {
		name string
		in   []byte
		want string
		ok   bool
	}{
		{"name", plain, "example.com", true},
		{"upper case", hello(t, "EXAMPLE.com", nil), "EXAMPLE.com", true},
		{"no name", hello(t, "", nil), "", true},
		{"address, which is no name", hello(t, "10.0.0.1", nil), "", true},
		{"TLS 1.2", hello(t, "example.com", func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }), "example.com", true},
		{"many protocols", hello(t, "example.com", func(c *tls.Config) { c.NextProtos = slices.Repeat([]string{"h2"}, 2000) }), "example.com", true},
		{"in fragments", fragmented(plain, 7), "example.com", true},
		{"after a warning", append([]byte{21, 3, 1, 0, 2, 1, 0}, plain...), "", false},
		{"with more behind", append(twice, "more"...), "example.com", true},
		{"old record version", append([]byte{22, 3, 0}, plain[3:]...), "example.com", true},
		{"cut", plain[:len(plain)-1], "", false},
		{"only a head", plain[:5], "", false},
		{"one byte", []byte{22}, "", false},
		{"data first", []byte{23, 3, 3, 0, 1, 0}, "", false},
		{"change of cipher first", append([]byte{20, 3, 3, 0, 1, 1}, plain...), "", false},
		{"server hello", append([]byte{22, 3, 1, 0, 4, 2, 0, 0, 0}, plain...), "", false},
		{"huge", append([]byte{22, 3, 1, 64, 0, 1, 0xff, 0xff, 0xff}, make([]byte, 1<<17)...), "", false},
		{"endless warnings", bytes.Repeat([]byte{21, 3, 1, 0, 2, 1, 0}, 100000), "", false},
		{"zeros", append([]byte{22}, make([]byte, 1000)...), "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := bufio.NewReader(bytes.NewReader(tt.in))
			name, read, err := clientHello(context.Background(), r)
			if name != tt.want || (err == nil) != tt.ok {
				t.Fatalf("got %q, %v", name, err)
			}
			rest, _ := io.ReadAll(r)
			if !bytes.Equal(append(read, rest...), tt.in) {
				t.Error("bytes are lost or made up")
			}
			if len(read) > maxHello {
				t.Errorf("%d bytes were read", len(read))
			}
		})
	}
}

// TestTwoNames has a hello with two name extensions, and one with two names in it.
func TestTwoNames(t *testing.T) {
	record := hello(t, "example.com", nil)
	name := []byte("example.com")
	at := bytes.Index(record, name)
	// type, extension length, list length, kind, name length, name
	extension := record[at-9 : at+len(name)]
	insert := func(more []byte, list bool) []byte {
		out := slices.Clone(record)
		out = slices.Insert(out, at+len(name), more...)
		add := func(i, by int) {
			n := int(out[i])<<8 | int(out[i+1])
			out[i], out[i+1] = byte((n+by)>>8), byte(n+by)
		}
		add(3, len(more))
		add(7, len(more))
		// The length of all extensions stands behind session, suites and compression.
		i := 9 + 2 + 32
		i += 1 + int(out[i])
		i += 2 + int(out[i])<<8 | int(out[i+1])
		i += 1 + int(out[i])
		add(i, len(more))
		if list {
			add(at-7, len(more))
			add(at-5, len(more))
		}
		return out
	}
	for what, in := range map[string][]byte{
		"extensions": insert(extension, false),
		"names":      insert(append([]byte{0, 0, 4}, "evil"...), true),
	} {
		if got, _, err := clientHello(context.Background(), bufio.NewReader(bytes.NewReader(in))); err == nil {
			t.Errorf("two %s were read as %q", what, got)
		}
	}
}

func FuzzClientHello(f *testing.F) {
	f.Add(hello(f, "example.com", nil))
	f.Add(hello(f, "", nil))
	f.Add(append([]byte{21, 3, 1, 0, 2, 1, 0}, hello(f, "a.b", nil)...))
	f.Add([]byte{22, 3, 1, 0, 4, 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, in []byte) {
		r := bufio.NewReader(bytes.NewReader(in))
		name, read, err := clientHello(context.Background(), r)
		rest, _ := io.ReadAll(r)
		if !bytes.Equal(append(slices.Clone(read), rest...), in) {
			t.Fatal("bytes are lost or made up")
		}
		if name != "" && (err != nil || !bytes.Contains(in, []byte(name[:1]))) {
			t.Fatalf("%q, %v", name, err)
		}
		// A server that speaks TLS must see the same name.
		if err == nil {
			again, _, err := clientHello(context.Background(), bufio.NewReader(bytes.NewReader(read)))
			if err != nil || again != name {
				t.Fatalf("%q, then %q, %v", name, again, err)
			}
		}
	})
}

// connect asks for a tunnel, and says what status came.
func (r *rig) connect(authority string, more string) (net.Conn, *bufio.Reader, int) {
	r.t.Helper()
	c := r.dial()
	io.WriteString(c, "CONNECT "+authority+" HTTP/1.1\r\nHost: "+authority+"\r\n\r\n"+more)
	in := bufio.NewReader(c)
	res, err := http.ReadResponse(in, &http.Request{Method: http.MethodConnect})
	if err != nil {
		return c, in, 0
	}
	return c, in, res.StatusCode
}

func TestConnectRefused(t *testing.T) {
	for _, tt := range []struct {
		request string
		status  int
		log     string
	}{
		{"CONNECT other.org:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n", 403, "denied other.org:443 tcp  (no rule allows it)"},
		{"CONNECT example.com:22 HTTP/1.1\r\nHost: example.com:443\r\n\r\n", 403, "denied example.com:22 tcp  (no rule allows it)"},
		{"CONNECT 1.1.1.1:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n", 403, "denied 1.1.1.1:443 tcp  (no rule allows it)"},
		{"CONNECT [::ffff:7f00:1]:443 HTTP/1.1\r\nHost: x\r\n\r\n", 403, "denied 127.0.0.1:443 tcp  (no rule allows it)"},
		{"CONNECT 0x7f.1:443 HTTP/1.1\r\nHost: x\r\n\r\n", 400, "denied unknown tcp  (an address in an unusual writing)"},
		{"CONNECT example.com HTTP/1.1\r\nHost: x\r\n\r\n", 400, "denied unknown tcp  (not a port)"},
		{"CONNECT example.com:443/x HTTP/1.1\r\nHost: x\r\n\r\n", 400, "denied unknown tcp  (not a request for a tunnel)"},
		{"CONNECT u:s3cret@example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n", 400, "denied unknown tcp  (not a request for a tunnel)"},
		{"CONNECT http://example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n", 400, "denied unknown tcp  (not a request for a tunnel)"},
		{"CONNECT /example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n", 400, "denied unknown tcp  (not a request for a tunnel)"},
		{"CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 400, "denied unknown tcp  (not a request for a tunnel)"},
		{"CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "denied unknown tcp  (not a request for a tunnel)"},
		{"CONNECT inside.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n", 403, "denied inside.example.com:443 tcp 10.0.0.1 (a private address)"},
	} {
		t.Run(tt.request[8:30], func(t *testing.T) {
			out := web(t, func(http.ResponseWriter, *http.Request) {})
			r := start(t, only(nil, endpoint("example.com", "", "", 443), endpoint("*.example.com", "", "", 443)), out, Options{})
			if status, body := r.raw(tt.request); status != tt.status {
				t.Errorf("got %d %q, want %d", status, body, tt.status)
			}
			var want []string
			if tt.log != "" {
				want = []string{tt.log}
			}
			r.wantLog(want...)
			if len(out.dialled) > 0 || strings.Contains(r.log.String(), "s3cret") {
				t.Errorf("dialled %v, log %s", out.dialled, r.log)
			}
		})
	}
}

// TestTLS runs real TLS through tunnels.
func TestTLS(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "secure "+r.Host) }))
	defer s.Close()
	out := &outside{names: map[string][]string{"example.com": {"1.1.1.1"}}, servers: map[string]string{"1.1.1.1:443": address(s)}}
	for _, protocol := range []string{"https", "tls", "tcp", ""} {
		r := start(t, only(nil, endpoint("example.com", "", protocol, 443)), out, Options{})
		client := r.client()
		roots := x509.NewCertPool()
		roots.AddCert(s.Certificate())
		client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: roots}
		res, err := client.Get("https://example.com/path")
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if string(b) != "secure example.com" {
			t.Errorf("%s: %q", protocol, b)
		}
		r.wantLog("allowed example.com:443 https 1.1.1.1")
	}
}

// sink is a server that keeps what it gets, and may speak first.
type sink struct {
	at    string
	first string
	got   chan []byte
}

func newSink(t *testing.T, first string) *sink {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s := &sink{at: l.Addr().String(), first: first, got: make(chan []byte, 1)}
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		io.WriteString(c, first)
		b, _ := io.ReadAll(c)
		s.got <- b
		io.WriteString(c, "end")
	}()
	return s
}

func TestTunnelStart(t *testing.T) {
	good, other, none := hello(t, "example.com", nil), hello(t, "evil.org", nil), hello(t, "", nil)
	const (
		secure = "https"
		any    = ""
	)
	for _, tt := range []struct {
		name, protocol, host, first string
		sent                        []byte
		passes                      bool
		log                         []string
	}{
		{"TLS", secure, "example.com", "", good, true, []string{"allowed example.com:443 https 1.1.1.1"}},
		{"TLS in a tcp rule", any, "example.com", "", good, true, []string{"allowed example.com:443 https 1.1.1.1"}},
		{"the same name in capitals", secure, "example.com", "", hello(t, "Example.COM", nil), true, []string{"allowed example.com:443 https 1.1.1.1"}},
		{"another name", secure, "example.com", "", other, false, []string{"denied example.com:443 https 1.1.1.1 (TLS for another name) evil.org"}},
		{"another name in a tcp rule", any, "example.com", "", other, false, []string{"denied example.com:443 https 1.1.1.1 (TLS for another name) evil.org"}},
		{"another name behind a warning", any, "example.com", "", append([]byte{21, 3, 1, 0, 2, 1, 0}, other...), false, []string{"denied example.com:443 tcp 1.1.1.1 (what begins as TLS is no TLS)"}},
		{"another name in fragments", any, "example.com", "", fragmented(other, 100), false, []string{"denied example.com:443 https 1.1.1.1 (TLS for another name) evil.org"}},
		{"a name below", any, "example.com", "", hello(t, "www.example.com", nil), false, []string{"denied example.com:443 https 1.1.1.1 (TLS for another name) www.example.com"}},
		{"no name", secure, "example.com", "", none, false, []string{"denied example.com:443 tcp 1.1.1.1 (TLS for no name)"}},
		{"no name in a tcp rule", any, "example.com", "", none, true, []string{"allowed example.com:443 https 1.1.1.1"}},
		{"no name, to a literal", secure, "10.0.0.1", "", none, true, []string{"allowed 10.0.0.1:443 https 10.0.0.1"}},
		{"a name, to a literal", secure, "10.0.0.1", "", good, false, []string{"denied 10.0.0.1:443 https 10.0.0.1 (TLS for another name) example.com"}},
		{"no TLS", secure, "example.com", "", []byte("GET / HTTP/1.1\r\n\r\n"), false, []string{"denied example.com:443 tcp 1.1.1.1 (no TLS, and the rule is for TLS)"}},
		{"no TLS in a tcp rule", any, "example.com", "", []byte("SSH-2.0-x\r\n"), true, []string{"allowed example.com:443 tcp 1.1.1.1"}},
		{"nothing", secure, "example.com", "", nil, false, []string{"denied example.com:443 tcp 1.1.1.1 (no TLS, and the rule is for TLS)"}},
		{"nothing in a tcp rule", any, "example.com", "", nil, true, []string{"allowed example.com:443 tcp 1.1.1.1"}},
		{"half a hello", any, "example.com", "", good[:50], false, []string{"denied example.com:443 tcp 1.1.1.1 (what begins as TLS is no TLS)"}},
		{"garbage", any, "example.com", "", []byte("\x16\x00\x00\x00"), false, []string{"denied example.com:443 tcp 1.1.1.1 (what begins as TLS is no TLS)"}},
		{"TLS with more behind", secure, "example.com", "", append(slices.Clone(good), "more"...), true, []string{"allowed example.com:443 https 1.1.1.1"}},
		{"the server speaks first", any, "example.com", "220 hello\r\n", []byte("EHLO x\r\n"), true, []string{"allowed example.com:443 tcp 1.1.1.1"}},
	} {
		for _, slow := range []bool{false, true} {
			name := tt.name
			if slow {
				name += ", byte by byte"
			}
			t.Run(name, func(t *testing.T) {
				s := newSink(t, tt.first)
				out := &outside{names: map[string][]string{"example.com": {"1.1.1.1"}},
					servers: map[string]string{"1.1.1.1:443": s.at, "10.0.0.1:443": s.at}}
				r := start(t, only(nil, endpoint("example.com", "", tt.protocol, 443), endpoint("", "10.0.0.0/8", tt.protocol, 443)), out, Options{})
				early, late := tt.sent, []byte(nil)
				if slow || tt.first != "" {
					early, late = nil, tt.sent
				}
				c, in, status := r.connect(tt.host+":443", string(early))
				if status != 200 {
					t.Fatalf("status %d", status)
				}
				if tt.first != "" {
					b := make([]byte, len(tt.first))
					if _, err := io.ReadFull(in, b); err != nil || string(b) != tt.first {
						t.Fatalf("%q %v", b, err)
					}
				}
				if slow {
					for i := range late {
						c.Write(late[i : i+1])
					}
				} else {
					c.Write(late)
				}
				c.(*net.UnixConn).CloseWrite()
				back, _ := io.ReadAll(in)
				got := <-s.got
				if tt.passes && (!bytes.Equal(got, tt.sent) || string(back) != "end") {
					t.Errorf("%d of %d bytes passed, %q came back", len(got), len(tt.sent), back)
				}
				if !tt.passes && (len(got) > 0 || len(back) > 0) {
					t.Errorf("%d bytes passed, %q came back", len(got), back)
				}
				r.wantLog(tt.log...)
			})
		}
	}
}

// TestNothingBackBeforeTLS has a server that speaks although only TLS may pass.
func TestNothingBackBeforeTLS(t *testing.T) {
	s := newSink(t, "secret")
	out := &outside{names: map[string][]string{"example.com": {"1.1.1.1"}}, servers: map[string]string{"1.1.1.1:443": s.at}}
	r := start(t, only(nil, endpoint("example.com", "", "https", 443)), out, Options{HeaderTimeout: 100 * time.Millisecond})
	_, in, _ := r.connect("example.com:443", "")
	if b, err := io.ReadAll(in); len(b) > 0 {
		t.Errorf("%q came, %v", b, err)
	}
	r.wantLog("denied example.com:443 tcp 1.1.1.1 (no TLS, and the rule is for TLS)")
}

// TestSlowHello stops in the middle of a hello.
func TestSlowHello(t *testing.T) {
	s := newSink(t, "")
	out := &outside{names: map[string][]string{"example.com": {"1.1.1.1"}}, servers: map[string]string{"1.1.1.1:443": s.at}}
	r := start(t, only(nil, endpoint("example.com", "", "", 443)), out, Options{HeaderTimeout: 100 * time.Millisecond})
	c, in, _ := r.connect("example.com:443", "")
	c.Write(hello(t, "example.com", nil)[:20])
	if b, err := io.ReadAll(in); err != nil || len(b) > 0 {
		t.Errorf("%q, %v", b, err)
	}
	r.wantLog("denied example.com:443 tcp 1.1.1.1 (what begins as TLS is no TLS)")
}

// TestTLSAfterServer starts TLS for another name after the server spoke.
func TestTLSAfterServer(t *testing.T) {
	s := newSink(t, "x")
	out := &outside{names: map[string][]string{"example.com": {"1.1.1.1"}}, servers: map[string]string{"1.1.1.1:443": s.at}}
	r := start(t, only(nil, endpoint("example.com", "", "", 443)), out, Options{})
	c, in, _ := r.connect("example.com:443", "")
	if b, err := in.ReadByte(); b != 'x' {
		t.Fatal(b, err)
	}
	c.Write(hello(t, "evil.org", nil))
	if got := <-s.got; len(got) > 0 {
		t.Errorf("%d bytes passed", len(got))
	}
	r.wantLog("allowed example.com:443 tcp 1.1.1.1", "denied example.com:443 https 1.1.1.1 (TLS for another name) evil.org")
}

// panicking is a connection to a server that panics when it is read.
type panicking struct{ net.Conn }

func (panicking) Read([]byte) (int, error) { panic("on purpose") }

// TestPanicInTunnel has a panic in what carries bytes back, which is a goroutine of its own.
func TestPanicInTunnel(t *testing.T) {
	client, far := net.Pipe()
	server, behind := net.Pipe()
	defer behind.Close()
	log := &buffer{}
	c := &carriage{p: New(nil, Options{Log: log}), g: anything, client: client, in: bufio.NewReader(client),
		server: panicking{server}, open: make(chan struct{}), d: decision{outcome: allowed}}
	var done atomic.Bool
	go func() {
		c.run(context.Background())
		done.Store(true)
	}()
	if _, err := far.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	for range 100 {
		if done.Load() {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if !done.Load() || !strings.Contains(log.String(), "an error of the proxy") || strings.Contains(log.String(), `"allowed"`) {
		t.Errorf("ended %t: %s", done.Load(), log)
	}
}
