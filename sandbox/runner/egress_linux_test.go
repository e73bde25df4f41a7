//go:build amd64 || arm64

package runner

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"umwelt/compilers/confine"
)

// A policy that opens single endpoints opens them, through the proxy, and nothing else.
func TestEndpointsThroughTheProxy(t *testing.T) {
	for _, w := range ways(t) {
		t.Run(w.String(), func(t *testing.T) { endpointsOf(t, newScene(t, w), w) })
	}
}

// endpointsOf tries what is open and what is not.
func endpointsOf(t *testing.T, s *scene, w way) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "reached by "+r.Host) }))
	defer server.Close()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "reached the other") }))
	defer other.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	var number int
	if _, err := fmt.Sscan(port, &number); err != nil {
		t.Fatal(err)
	}
	s.environ = []string{"HTTP_PROXY=http://192.0.2.1:1", "no_proxy=*"}
	s.c.Env = []confine.Env{{Name: "HTTP_PROXY"}, {Name: "no_proxy"}}
	// A range speaks of literals; loopback addresses need one, as all that are not
	// public do.
	s.c.Network = confine.Network{Allow: []confine.Endpoint{{CIDR: host + "/32", Port: number}}}
	results := s.try(w, "get "+server.URL+"/", "get "+other.URL+"/", "dial tcp4 "+address, "dial udp4 "+address, "get http://localhost:"+port+"/", "environ HTTP_PROXY=http://127.0.0.1:3128",
		"connect @x", "between")
	for op, fault := range results {
		want := op == "get "+server.URL+"/" || strings.HasPrefix(op, "environ") || op == "between"
		if w.bare {
			want = false // no namespaces, no proxy, no network at all
		}
		if (fault == "") != want {
			t.Errorf("%s: %q, want success %v", op, fault, want)
		}
	}
	before := s.c.Network
	s.c.Network = confine.Network{Open: true, Deny: []string{"localhost"}}
	if r := s.try(w, "get "+server.URL+"/"); r["get "+server.URL+"/"] == "" {
		t.Error("an open network does not open addresses that are not public")
	}
	s.c.Network = before
	s.nothingRuns()
}
