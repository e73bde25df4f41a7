package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"time"
)

// maxHello is how much of a tunnel's start is read for finding the name in it, in bytes.
const maxHello = 96 << 10

var (
	errHello    = errors.New("what begins as TLS is no TLS")
	errStop     = errors.New("stop")
	errMaxHello = errors.New("the start of TLS is too long")
)

// isTLS reports whether a stream that begins with a byte can be TLS: the content types of
// its records.
func isTLS(first byte) bool { return first >= 20 && first <= 24 }

// clientHello reads the start of a TLS stream and says for which server name it is, ""
// for none. read is every byte that was taken from r, to be passed on. The parser is the
// one of crypto/tls, so that fragments, warnings and repeated extensions are read as
// servers read them.
func clientHello(ctx context.Context, r *bufio.Reader) (name string, read []byte, err error) {
	rec := &recorder{from: r}
	seen := false
	tls.Server(rec, &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		name, seen = h.ServerName, true
		return nil, errStop
	}}).HandshakeContext(ctx)
	switch {
	case seen:
		return name, rec.read, nil
	case rec.err != nil:
		return "", rec.read, rec.err
	}
	return "", rec.read, errHello
}

// recorder is a connection that keeps what is read from it and drops what is written.
type recorder struct {
	from *bufio.Reader
	read []byte
	err  error // what ended the reading
}

func (c *recorder) Read(p []byte) (int, error) {
	if len(c.read) >= maxHello {
		c.err = errMaxHello
		return 0, c.err
	}
	n, err := c.from.Read(p[:min(len(p), maxHello-len(c.read))])
	c.read = append(c.read, p[:n]...)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

func (c *recorder) Write(p []byte) (int, error)      { return len(p), nil }
func (c *recorder) Close() error                     { return nil }
func (c *recorder) LocalAddr() net.Addr              { return &net.UnixAddr{} }
func (c *recorder) RemoteAddr() net.Addr             { return &net.UnixAddr{} }
func (c *recorder) SetDeadline(time.Time) error      { return nil }
func (c *recorder) SetReadDeadline(time.Time) error  { return nil }
func (c *recorder) SetWriteDeadline(time.Time) error { return nil }
