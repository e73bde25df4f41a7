package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"time"
)

// maxRelayed is the number of connections that a relay carries at once.
const maxRelayed = 256

// Relay makes a proxy's Unix socket reachable at a listener, which is one on the loopback
// of the sandbox. It decides nothing. It ends when the context does, and returns nil then.
// It closes the listener. A connection that comes while the proxy is gone is closed.
func Relay(ctx context.Context, l net.Listener, socket string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	defer all.Wait()
	accepting := limit(l, maxRelayed, defaultIdle)
	context.AfterFunc(ctx, func() { accepting.Close() })
	for {
		c, err := accepting.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
				time.Sleep(10 * time.Millisecond)
				continue
			}
			cancel()
			return err
		}
		all.Go(func() { relayOne(ctx, c, socket) })
	}
}

func relayOne(ctx context.Context, client net.Conn, socket string) {
	defer client.Close()
	proxy, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return
	}
	defer proxy.Close()
	stop := context.AfterFunc(ctx, func() { client.Close(); proxy.Close() })
	defer stop()
	var back sync.WaitGroup
	back.Go(func() { pass(client, proxy) })
	pass(proxy, client)
	back.Wait()
}

// pass carries one direction to its end.
func pass(to, from net.Conn) {
	if _, err := io.Copy(to, from); err != nil {
		to.Close()
		from.Close()
		return
	}
	closeWrite(to)
}

// Variable is an environment variable that points programs to a proxy.
type Variable struct{ Name, Value string }

// Env are the variables for a proxy at a host and port, as the relay has one. The
// sandbox's own loopback is reached without it.
func Env(address string) []Variable {
	url, direct := "http://"+address, "localhost,127.0.0.1,::1"
	return []Variable{
		{"ALL_PROXY", url}, {"HTTPS_PROXY", url}, {"HTTP_PROXY", url}, {"NO_PROXY", direct},
		{"all_proxy", url}, {"http_proxy", url}, {"https_proxy", url}, {"no_proxy", direct},
	}
}
