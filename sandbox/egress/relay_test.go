package egress

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"testing"
	"time"
)

func mustURL(text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil {
		panic(err)
	}
	return u
}

// relay runs a relay to a socket, and says where it listens.
func relay(t *testing.T, socket string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Relay(ctx, l, socket) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(10 * time.Second):
			t.Error("the relay does not end")
		}
	})
	return l.Addr().String()
}

func TestRelay(t *testing.T) {
	out := web(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") })
	r := start(t, only(nil, endpoint("example.com", "", "", 0)), out, Options{})
	at := relay(t, r.socket)
	tr := &http.Transport{Proxy: http.ProxyURL(mustURL("http://" + at))}
	defer tr.CloseIdleConnections()
	client := &http.Client{Transport: tr, Timeout: 10 * time.Second}
	for target, want := range map[string]int{"http://example.com/": 200, "http://other.org/": 403} {
		res, err := client.Get(target)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: %d, want %d", target, res.StatusCode, want)
		}
	}

	r.stop()
	if res, err := client.Get("http://example.com/"); err == nil {
		res.Body.Close()
		t.Errorf("an answer without a proxy: %d", res.StatusCode)
	}
}

// TestRelayHalfClose checks that the end of one direction leaves the other one open.
func TestRelayHalfClose(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		b, _ := io.ReadAll(c)
		c.Write(append([]byte("got "), b...))
	}()
	c, err := net.Dial("tcp", relay(t, socket))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	io.WriteString(c, "all")
	c.(*net.TCPConn).CloseWrite()
	if b, err := io.ReadAll(c); err != nil || string(b) != "got all" {
		t.Errorf("%q %v", b, err)
	}
}

func TestEnv(t *testing.T) {
	got := map[string]string{}
	for _, v := range Env("127.0.0.1:3128") {
		got[v.Name] = v.Value
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		if got[name] != "http://127.0.0.1:3128" {
			t.Errorf("%s: %q", name, got[name])
		}
	}
	if got["NO_PROXY"] != "localhost,127.0.0.1,::1" || got["no_proxy"] != got["NO_PROXY"] || len(got) != 8 {
		t.Errorf("%v", got)
	}
}
