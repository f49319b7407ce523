package main

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"xdskit/bench/internal/h2"
	"xdskit/bench/internal/xds"
)

// window is a receive window in which everything has room.
const window = 16 << 20

// client is one stream that asks for load assignments by name (SotW, ADS), as clients of gRPC do.
type client struct {
	conn  *h2.Conn
	names []byte
	left  int // of the load assignments that it has not had yet
	full  func()
	churn *churn      // nil: only the first answers count
	had   map[int]int // by Service: how many of its changes have arrived
}

// dial connects a client that asks for these Services. full is called once it has all of them.
func dial(address string, id int, services []int, c *churn, full func(), failed func(error)) (*client, error) {
	conn, err := h2.Dial(h2.Config{Address: address, Window: window, OnEnd: func(_ *h2.Stream, err error) { failed(err) }})
	if err != nil {
		return nil, err
	}
	names := make([]string, len(services))
	for i, service := range services {
		names[i] = assignmentOf(service)
	}
	one := &client{conn: conn, names: xds.Names(names), left: len(services), full: full, churn: c, had: map[int]int{}}
	stream := conn.Open(xds.AggregatedPath(false))
	stream.OnMessage = func(message []byte) {
		if err := one.receive(stream, message); err != nil {
			failed(err)
		}
	}
	stream.Send(xds.Request{Kind: xds.EDS, Node: fmt.Sprintf("bench-%d", id)}.Append(nil, false), one.names)
	return one, conn.Start()
}

func (c *client) receive(stream *h2.Stream, message []byte) error {
	now := time.Now()
	response, err := xds.ReadResponse(message, false, nil)
	if err != nil {
		return err
	}
	if c.churn != nil {
		c.churn.received(markers(message, c.churn.turn), c.had, now)
	}
	request := xds.Request{Kind: response.Kind, Version: string(response.Version), Nonce: response.Nonce}
	stream.Send(request.Append(nil, false), c.names)
	if c.left > 0 {
		if c.left -= response.Resources; c.left <= 0 {
			c.full()
		}
	}
	return nil
}

// markers finds the numbers of changes: addresses of this turn, each behind its tag (field 2 of a SocketAddress) and length.
func markers(message []byte, turn int) []int {
	prefix := fmt.Appendf(nil, "172.%d.", turn)
	var numbers []int
	for at := 0; ; {
		found := bytes.Index(message[at:], prefix)
		if found < 0 {
			return numbers
		}
		at += found
		if at >= 2 && message[at-2] == 0x12 {
			end := min(len(message), at+int(message[at-1]))
			if address, err := netip.ParseAddr(string(message[at:end])); err == nil {
				four := address.As4()
				numbers = append(numbers, int(four[2])<<8|int(four[3]))
			}
		}
		at += len(prefix)
	}
}

// fleet is all clients of one measurement.
type fleet struct {
	clients []*client
	left    atomic.Int64
	full    chan struct{}

	mu  sync.Mutex
	err error
}

// connect connects clients that ask for these Services, and returns once each has all of its own.
func connect(address string, wanted [][]int, c *churn, timeout time.Duration) (*fleet, error) {
	f := &fleet{full: make(chan struct{})}
	f.left.Store(int64(len(wanted)))
	for id, services := range wanted {
		one, err := dial(address, id, services, c, f.clientIsFull, f.fail)
		if err != nil {
			f.close()
			return nil, err
		}
		f.clients = append(f.clients, one)
	}
	select {
	case <-f.full:
		return f, f.failure()
	case <-time.After(timeout):
		f.close()
		return nil, fmt.Errorf("%d clients have not got everything in %v: %w", f.left.Load(), timeout, f.failure())
	}
}

func (f *fleet) clientIsFull() {
	if f.left.Add(-1) == 0 {
		close(f.full)
	}
}

func (f *fleet) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
}

func (f *fleet) failure() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (f *fleet) close() {
	for _, one := range f.clients {
		one.conn.Close()
	}
}

// shares gives each stream so many Services in a row, and begins again at the first one after the last.
func shares(streams, names, services int) [][]int {
	all := make([][]int, streams)
	for i := range all {
		for j := range min(names, services) {
			all[i] = append(all[i], (i*names+j)%services)
		}
		slices.Sort(all[i])
	}
	return all
}
