package egress

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"umwelt/compilers/confine"
)

// The test binary runs itself in two network namespaces. One is the world outside: it has
// servers on public addresses that exist only there, and the proxy. The other one is the
// sandbox: it has only loopback, with the relay on it, and a socket to the proxy.
const (
	roleVar   = "UMWELT_EGRESS_ROLE"
	socketVar = "UMWELT_EGRESS_SOCKET"
	publicV4  = "11.22.33.44"
	publicV6  = "2600:1234::44"
	lanV4     = "10.9.8.7"
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleVar) {
	case "outside":
		must(runOutside())
	case "sandbox":
		must(runSandbox())
	default:
		os.Exit(m.Run())
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// inNamespace is the test binary in a network namespace of its own, with its loopback up.
func inNamespace(t *testing.T, role, socket string, addresses ...string) *exec.Cmd {
	script := "ip link set lo up"
	for _, a := range addresses {
		script += " && ip addr add " + a + " dev lo nodad"
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("unshare", "--user", "--map-root-user", "--net", "--kill-child", "sh", "-c", script+` && exec "$0"`, exe)
	cmd.Env = append(os.Environ(), roleVar+"="+role, socketVar+"="+socket)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// attempt is one thing that the sandbox tried.
type attempt struct{ Name, Result string }

func TestNamespaces(t *testing.T) {
	for program, of := range map[string]string{"ip": "iproute2", "unshare": "util-linux"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("UMWELT_REQUIRE_TOOLS") == "1" {
				t.Fatalf("%s is missing: apt-get install %s", program, of)
			}
			t.Skipf("%s is missing: apt-get install %s", program, of)
		}
	}
	// A listener of the test's own namespace, which nobody in the sandbox may reach.
	host, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()

	socket := filepath.Join(t.TempDir(), "proxy")
	out := inNamespace(t, "outside", socket, publicV4+"/32", publicV6+"/128", lanV4+"/32")
	var log bytes.Buffer
	out.Stderr = &log
	stdin, err := out.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := out.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Start(); err != nil {
		t.Fatal(err)
	}
	defer out.Process.Kill()
	cert, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		out.Wait()
		t.Fatalf("the world outside did not start: %s", log.String())
	}

	box := inNamespace(t, "sandbox", socket)
	box.Env = append(box.Env, "UMWELT_EGRESS_CERT="+strings.TrimSpace(cert), "UMWELT_EGRESS_HOST="+host.Addr().String())
	box.Stderr = os.Stderr
	// The sandbox says when the proxy is to end.
	boxIn, err := box.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	boxOut, err := box.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := box.Start(); err != nil {
		t.Fatal(err)
	}
	defer box.Process.Kill()
	got := map[string]string{}
	lines := bufio.NewScanner(boxOut)
	for lines.Scan() {
		if lines.Text() == "end the proxy" {
			stdin.Close()
			if err := out.Wait(); err != nil {
				t.Errorf("the world outside: %v: %s", err, log.String())
			}
			io.WriteString(boxIn, "done\n")
			continue
		}
		var a attempt
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		got[a.Name] = a.Result
	}
	if err := box.Wait(); err != nil {
		t.Fatal(err)
	}

	want := []attempt{
		{"http allowed", "200 plain web.test"},
		{"https allowed", "200 secure web.test"},
		{"https over IPv6", "200 secure six.test"},
		{"tunnel of bytes", "echo: hello"},
		{"private with a range", "200 plain lan.test"},
		{"http to another name", "403"},
		{"https to another name", "Forbidden"},
		{"https on another port", "Forbidden"},
		{"private without a range", "403"},
		{"literal", "403"},
		{"literal of the proxy's loopback", "403"},
		{"TLS for another name", "closed"},

		{"direct TCP", "network is unreachable"},
		{"direct TCP over IPv6", "network is unreachable"},
		{"direct TCP to the range", "network is unreachable"},
		{"UDP", "network is unreachable"},
		{"UDP over IPv6", "network is unreachable"},
		{"DNS", "network is unreachable"},
		{"the host's loopback", "connection refused"},
		{"abstract socket of the host", "connection refused"},
		{"after the proxy ended", "refused"},
	}
	for _, w := range want {
		if g, ok := got[w.Name]; !ok || !strings.Contains(g, w.Result) {
			t.Errorf("%s: got %q, want %q", w.Name, g, w.Result)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d attempts, want %d: %v", len(got), len(want), got)
	}
	for _, w := range []string{`"host":"web.test","port":"80","protocol":"http","address":"11.22.33.44"},"verb":"connect","outcome":"allowed"`,
		`"host":"six.test","port":"443","protocol":"https","address":"2600:1234::44"},"verb":"connect","outcome":"allowed"`,
		`"host":"other.test","port":"80","protocol":"http"},"verb":"connect","outcome":"denied"`} {
		if !strings.Contains(log.String(), w) {
			t.Errorf("the log lacks %s:\n%s", w, log.String())
		}
	}
}

// runOutside runs the servers and the proxy until its standard input ends. It prints the
// certificate of its servers on one line, and the log on standard error.
func runOutside() error {
	cert, text, err := certificate("web.test", "six.test", "other.test")
	if err != nil {
		return err
	}
	handler := func(what string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, what+" "+r.Host) })
	}
	for _, ip := range []string{publicV4, publicV6, lanV4} {
		plain, err := net.Listen("tcp", net.JoinHostPort(ip, "80"))
		if err != nil {
			return err
		}
		go http.Serve(plain, handler("plain"))
		secure, err := tls.Listen("tcp", net.JoinHostPort(ip, "443"), &tls.Config{Certificates: []tls.Certificate{cert}})
		if err != nil {
			return err
		}
		go http.Serve(secure, handler("secure"))
	}
	echo, err := net.Listen("tcp", net.JoinHostPort(publicV4, "7"))
	if err != nil {
		return err
	}
	go func() {
		for {
			c, err := echo.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); io.Copy(c, io.MultiReader(strings.NewReader("echo: "), c)) }()
		}
	}()
	if _, err := net.Listen("unix", "@umwelt-egress-test"); err != nil {
		return err
	}

	names := map[string]string{"web.test": publicV4, "other.test": publicV4, "six.test": publicV6, "lan.test": lanV4, "near.test": lanV4}
	rules, problems := Compile(confine.Network{Allow: []confine.Endpoint{
		{Host: "web.test", Protocol: "http", Port: 80},
		{Host: "web.test", Protocol: "https", Port: 443},
		{Host: "six.test", Protocol: "https", Port: 443},
		{Host: "web.test", Protocol: "tcp", Port: 7},
		{Host: "near.test"},
		{Host: "lan.test", CIDR: "10.9.8.0/24"},
	}})
	if len(problems) > 0 {
		return problems[0]
	}
	l, err := net.Listen("unix", os.Getenv(socketVar))
	if err != nil {
		return err
	}
	fmt.Println(text)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	return New(rules, Options{Log: os.Stderr, Resolve: func(_ context.Context, name string) ([]netip.Addr, error) {
		a, err := netip.ParseAddr(names[name])
		return []netip.Addr{a}, err
	}}).Serve(ctx, l)
}

// runSandbox tries what the sandbox should and should not be able to do, through the
// environment variables that programs get.
func runSandbox() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go Relay(context.Background(), l, os.Getenv(socketVar))
	for _, v := range Env(l.Addr().String()) {
		os.Setenv(v.Name, v.Value)
	}
	roots := x509.NewCertPool()
	text, err := url.QueryUnescape(os.Getenv("UMWELT_EGRESS_CERT"))
	if err != nil || !roots.AppendCertsFromPEM([]byte(text)) {
		return fmt.Errorf("no certificate: %v", err)
	}
	out := json.NewEncoder(os.Stdout)
	try := func(name string, f func() string) { out.Encode(attempt{name, f()}) }

	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}}
	get := func(target string) func() string {
		return func() string {
			res, err := client.Get(target)
			if err != nil {
				return "no answer: " + err.Error()
			}
			defer res.Body.Close()
			b, _ := io.ReadAll(res.Body)
			return fmt.Sprint(res.StatusCode, " ", string(b))
		}
	}
	for name, target := range map[string]string{
		"http allowed": "http://web.test/", "https allowed": "https://web.test/", "https over IPv6": "https://six.test/",
		"private with a range": "http://lan.test/", "http to another name": "http://other.test/",
		"https to another name": "https://other.test/", "https on another port": "https://web.test:80/",
		"private without a range": "http://near.test/", "literal": "http://" + publicV4 + "/",
	} {
		try(name, get(target))
	}

	tunnel := func(authority, sent string) string {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			return err.Error()
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(5 * time.Second))
		fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n%s", authority, authority, sent)
		in := bufio.NewReader(c)
		if res, err := http.ReadResponse(in, &http.Request{Method: http.MethodConnect}); err != nil {
			return err.Error()
		} else if res.StatusCode != 200 {
			return res.Status
		}
		c.(*net.TCPConn).CloseWrite()
		b, err := io.ReadAll(in)
		if err != nil || len(b) == 0 {
			return fmt.Sprintf("closed: %v", err)
		}
		return string(b)
	}
	try("tunnel of bytes", func() string { return tunnel("web.test:7", "hello") })
	// Programs reach what they take for their own loopback without the proxy.
	try("literal of the proxy's loopback", func() string { return tunnel("127.0.0.1:80", "") })
	rec := &writes{}
	tls.Client(rec, &tls.Config{ServerName: "other.test"}).Handshake()
	try("TLS for another name", func() string { return tunnel("web.test:443", string(rec.b)) })

	direct := func(network, address string) func() string {
		return func() string {
			c, err := net.DialTimeout(network, address, 2*time.Second)
			if err != nil {
				return err.Error()
			}
			defer c.Close()
			if _, err := c.Write([]byte("x")); err != nil {
				return err.Error()
			}
			return "connected"
		}
	}
	for name, to := range map[string][2]string{
		"direct TCP":                  {"tcp", publicV4 + ":80"},
		"direct TCP over IPv6":        {"tcp", "[" + publicV6 + "]:80"},
		"direct TCP to the range":     {"tcp", lanV4 + ":80"},
		"UDP":                         {"udp", publicV4 + ":53"},
		"UDP over IPv6":               {"udp", "[" + publicV6 + "]:53"},
		"the host's loopback":         {"tcp", os.Getenv("UMWELT_EGRESS_HOST")},
		"abstract socket of the host": {"unix", "@umwelt-egress-test"},
	} {
		try(name, direct(to[0], to[1]))
	}
	try("DNS", func() string {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		r := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, publicV4+":53")
		}}
		_, err := r.LookupHost(ctx, "web.test")
		return fmt.Sprint(err)
	})

	fmt.Println("end the proxy")
	bufio.NewReader(os.Stdin).ReadString('\n')
	try("after the proxy ended", func() string {
		if c, err := net.Dial("unix", os.Getenv(socketVar)); err == nil {
			c.Close()
			return "something listens"
		}
		if got := get("http://web.test/")(); !strings.HasPrefix(got, "no answer: ") {
			return got
		}
		return "refused"
	})
	return nil
}

// certificate makes a certificate for names, also as PEM text escaped to one line.
func certificate(names ...string) (tls.Certificate, string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, "", err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: names, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, "", err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, url.QueryEscape(string(text)), nil
}
