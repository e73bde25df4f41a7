package egress

import (
	"net"
	"sync"
	"time"
)

// limited accepts at most as many connections at once as slots has room for; further ones
// wait to be accepted. It closes a connection on which nothing moves for the time of idle.
type limited struct {
	net.Listener
	idle  time.Duration
	slots chan struct{}
	once  sync.Once
	done  chan struct{}
}

func limit(l net.Listener, most int, idle time.Duration) *limited {
	return &limited{Listener: l, idle: idle, slots: make(chan struct{}, most), done: make(chan struct{})}
}

func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.done:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	release := sync.OnceFunc(func() { <-l.slots })
	timer := time.AfterFunc(l.idle, func() {
		c.Close()
		release()
	})
	return &bounded{Conn: c, idle: l.idle, timer: timer, release: release}, nil
}

func (l *limited) Close() error {
	l.once.Do(func() { close(l.done) })
	return l.Listener.Close()
}

// bounded is an accepted connection.
type bounded struct {
	net.Conn
	idle    time.Duration
	timer   *time.Timer
	release func()
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Conn.Read(p)
	if n > 0 {
		b.timer.Reset(b.idle)
	}
	return n, err
}

func (b *bounded) Write(p []byte) (int, error) {
	n, err := b.Conn.Write(p)
	if n > 0 {
		b.timer.Reset(b.idle)
	}
	return n, err
}

func (b *bounded) CloseWrite() error { return closeWrite(b.Conn) }

func (b *bounded) Close() error {
	b.timer.Stop()
	b.release()
	return b.Conn.Close()
}

// closeWrite tells the other side that nothing more comes. A connection that cannot say
// so is closed.
func closeWrite(c net.Conn) error {
	if h, ok := c.(interface{ CloseWrite() error }); ok {
		return h.CloseWrite()
	}
	return c.Close()
}
