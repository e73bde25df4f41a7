package egress

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"time"
)

// forward answers a plain HTTP request for an absolute URL. Each request is decided on its
// own and gets a connection of its own; the request that goes out is written anew from
// what was parsed, with the host that was decided about.
func (p *Proxy) forward(w http.ResponseWriter, r *http.Request) {
	bad := decision{target: target{form: plain}, outcome: denied}
	switch {
	case r.URL.Scheme != "http" || r.URL.Host == "" || r.URL.Opaque != "":
		bad.reason = "not a request to a proxy for plain HTTP"
	case r.URL.User != nil:
		bad.reason = "the address holds a user name"
	}
	if bad.reason != "" {
		p.refuse(w, http.StatusBadRequest, bad)
		return
	}
	t, err := parseTarget(r.URL.Host, plain)
	if err != nil {
		bad.reason = err.Error()
		p.refuse(w, http.StatusBadRequest, bad)
		return
	}
	conn, _, d := p.open(r.Context(), t)
	if conn == nil {
		p.refuse(w, status(d), d)
		return
	}
	defer conn.Close()
	if p.log.write(d) != nil {
		http.Error(w, "umwelt: the decision cannot be logged", http.StatusServiceUnavailable)
		return
	}

	// No upgrade: what follows one would not be HTTP.
	r.Header.Del("Upgrade")
	once := conn
	(&httputil.ReverseProxy{
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.Out.URL.Host = t.urlHost()
			pr.Out.URL.RawQuery = r.URL.RawQuery
			pr.Out.Host = ""
		},
		Transport: &http.Transport{
			DialContext: func(context.Context, string, string) (net.Conn, error) {
				if once == nil {
					return nil, errors.New("the one connection is used up")
				}
				c := once
				once = nil
				return c, nil
			},
			DisableKeepAlives:      true,
			DisableCompression:     true,
			ExpectContinueTimeout:  time.Second,
			MaxResponseHeaderBytes: maxResponseHead,
		},
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
		ModifyResponse: func(res *http.Response) error {
			if res.StatusCode == http.StatusSwitchingProtocols {
				return errors.New("an upgrade that was not asked for")
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			http.Error(w, "umwelt: failed: no answer", http.StatusBadGateway)
		},
	}).ServeHTTP(w, r)
}

// status is the HTTP status for a request that was not let out.
func status(d decision) int {
	if d.outcome == failed {
		return http.StatusBadGateway
	}
	return http.StatusForbidden
}
