package h2

import (
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// Poller reads all of its connections on one thread, with bare system calls: one read and one write for each wake-up of a
// connection, and no goroutine to wake.
type Poller struct {
	epoll  int
	mu     sync.Mutex
	conns  map[int32]*Conn
	buffer []byte
}

const pollerBuffer = 1 << 18

// NewPoller starts a poller, which lives as long as the program.
func NewPoller() (*Poller, error) {
	epoll, err := unix.EpollCreate1(0)
	if err != nil {
		return nil, err
	}
	p := &Poller{epoll: epoll, conns: map[int32]*Conn{}, buffer: make([]byte, pollerBuffer)}
	go p.run()
	return p, nil
}

func (p *Poller) add(c *Conn, socket *bareSocket) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[int32(socket.fd)] = c
	return unix.EpollCtl(p.epoll, unix.EPOLL_CTL_ADD, socket.fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(socket.fd)})
}

func (p *Poller) remove(socket *bareSocket) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, int32(socket.fd))
	unix.EpollCtl(p.epoll, unix.EPOLL_CTL_DEL, socket.fd, nil)
}

func (p *Poller) run() {
	runtime.LockOSThread()
	events := make([]unix.EpollEvent, 256)
	ready := make([]*Conn, 0, len(events))
	for {
		n, err := unix.EpollWait(p.epoll, events, -1)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			panic(err)
		}
		p.mu.Lock()
		for _, event := range events[:n] {
			if c := p.conns[event.Fd]; c != nil {
				ready = append(ready, c)
			}
		}
		p.mu.Unlock()
		for _, c := range ready {
			c.readOnce(p)
		}
		ready = ready[:0]
	}
}

// readOnce takes what the socket has, at most a buffer of it: epoll tells of the rest.
func (c *Conn) readOnce(p *Poller) {
	c.reading.Lock()
	defer c.reading.Unlock()
	if c.over {
		return
	}
	kept := copy(p.buffer, c.kept)
	n, err := c.socket.Read(p.buffer[kept:])
	if err == unix.EAGAIN || err == unix.EINTR {
		return
	}
	if err == nil {
		c.received.Add(int64(n))
		var rest []byte
		if rest, err = c.handleFrames(p.buffer[:kept+n]); err == nil {
			c.kept = append(c.kept[:0], rest...)
			err = c.Flush()
		}
	}
	switch {
	case err != nil:
		c.leavePoller()
		c.fail(err)
	case c.paused:
		p.remove(c.socket.(*bareSocket))
	}
}

// rejoinPoller lets a paused connection be read again.
func (c *Conn) rejoinPoller() {
	c.reading.Lock()
	defer c.reading.Unlock()
	if c.over || !c.paused {
		return
	}
	c.paused = false
	if err := c.config.Poller.add(c, c.socket.(*bareSocket)); err != nil {
		panic(err)
	}
}

// leavePoller ends the reading; c.reading is held.
func (c *Conn) leavePoller() {
	if !c.over {
		c.over = true
		c.config.Poller.remove(c.socket.(*bareSocket))
		close(c.ended)
	}
}

// bareSocket is a socket that the runtime does not know of.
type bareSocket struct{ fd int }

func dialBare(address string) (*bareSocket, error) {
	tcp, err := net.ResolveTCPAddr("tcp4", address)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	at := &unix.SockaddrInet4{Port: tcp.Port, Addr: [4]byte(tcp.IP.To4())}
	if err = unix.Connect(fd, at); err == nil {
		err = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	}
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("connect %s: %w", address, err)
	}
	return &bareSocket{fd}, nil
}

func (s *bareSocket) Read(into []byte) (int, error) {
	n, err := unix.Read(s.fd, into)
	if n == 0 && err == nil {
		return 0, io.EOF
	}
	return n, err
}

// Write writes all of it, waiting for room where there is none.
func (s *bareSocket) Write(content []byte) (int, error) {
	for written := 0; ; {
		n, err := unix.Write(s.fd, content[written:])
		if n > 0 {
			written += n
		}
		switch {
		case written == len(content):
			return written, nil
		case err == unix.EAGAIN:
			unix.Poll([]unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLOUT}}, 1000)
		case err != nil && err != unix.EINTR:
			return written, err
		}
	}
}

// Close may be called again: the number may be another socket's by then.
func (s *bareSocket) Close() error {
	if s.fd < 0 {
		return nil
	}
	fd := s.fd
	s.fd = -1
	return unix.Close(fd)
}
