package main

import (
	"bytes"
	"strconv"

	"xdskit/bench/internal/numbers"
	"xdskit/bench/internal/xds"
)

// audience is whose arrival a round waits for.
type audience int

const (
	everyone  audience = iota
	reading            // not those that are stalled, or are to be
	returning          // only those
)

func (a audience) has(c *client) bool { return a == everyone || c.stalled == (a == returning) }

// comeback is what a client that stopped gets when it goes on.
type comeback struct {
	seen     int // the newest change that it knew of when it stopped, then of each message
	messages int
	composed int // messages for more than one change
}

// memoryNow is what a server needs after a garbage collection.
type memoryNow struct {
	RSSKB      int `json:"rss_kb"`
	HeapKB     int `json:"heap_kb"`
	ExternalKB int `json:"external_kb"` // bytes outside the heap, where there is such a thing
}

// stallReport: clients stop in the middle of the rounds, and go on. Latency is of those that read all the time, or of all.
type stallReport struct {
	Streams   int            `json:"streams"`
	Rounds    int            `json:"rounds"`
	Reading   latencySpread  `json:"reading"` // before and after
	Stalled   latencySpread  `json:"stalled"` // meanwhile
	Before    memoryNow      `json:"before"`
	Meanwhile memoryNow      `json:"meanwhile"` // at the end of the stall
	After     memoryNow      `json:"after"`
	Messages  numbers.Spread `json:"messages"` // of each stalled stream, until it had the newest
	Composed  numbers.Spread `json:"composed"` // of these, for more than one change
	Back      int            `json:"back"`     // stalled streams that had the newest in the end
}

type latencySpread struct {
	P50Ms  numbers.Spread `json:"p50_ms"`
	P99Ms  numbers.Spread `json:"p99_ms"`
	LastMs numbers.Spread `json:"last_ms"`
}

// stallMeasure collects the rounds with and without the stall.
type stallMeasure struct {
	report stallReport
	series [2]struct{ p50, p99, last []float64 }
}

func (m *stallMeasure) add(l latency, isStalled bool) {
	s := &m.series[0]
	if isStalled {
		s = &m.series[1]
	}
	s.p50, s.p99, s.last = append(s.p50, l.p50), append(s.p99, l.p99), append(s.last, l.last)
}

func (m *stallMeasure) finish() *stallReport {
	for i, into := range []*latencySpread{&m.report.Reading, &m.report.Stalled} {
		s := m.series[i]
		*into = latencySpread{numbers.SpreadOf(s.p50), numbers.SpreadOf(s.p99), numbers.SpreadOf(s.last)}
	}
	return &m.report
}

// stops tells a client whether it neither acknowledges nor reads on. One that stalls only for a while stops at a message of its turn.
func (c *client) stops(kind xds.Kind, message []byte) bool {
	o := &c.fleet.options
	if o.stallFor == 0 {
		return true
	}
	if int(c.fleet.stopping.Load()) <= (c.id*o.stallSpread/len(c.fleet.clients))%o.stallSpread || kind != o.touch.kind {
		return false
	}
	c.back = comeback{seen: newest(message)}
	c.stall(c.streams[kind])
	return true
}

// noteReturn counts what a client gets that stopped.
func (c *client) noteReturn(kind xds.Kind, message []byte) {
	p := c.fleet.probe.Load()
	if p == nil || p.who != returning || p.kind != kind || !c.stalled || c.probe == p && c.hits >= p.k {
		return
	}
	marker := newest(message)
	c.back.messages++
	if marker > c.back.seen+1 {
		c.back.composed++
	}
	c.back.seen = marker
}

// newest is the highest marker in a message.
func newest(message []byte) int {
	most := 0
	for at := bytes.Index(message, []byte("m-0")); at >= 0 && at+10 <= len(message); {
		if marker, err := strconv.Atoi(string(message[at+2 : at+10])); err == nil {
			most = max(most, marker)
		}
		next := bytes.Index(message[at+3:], []byte("m-0"))
		if next < 0 {
			break
		}
		at += 3 + next
	}
	return most
}

// stallRounds is where among the rounds the stall begins and ends.
func (o *options) stallRounds() (from, to int) {
	if o.stallFor == 0 {
		return o.touch.rounds, o.touch.rounds
	}
	from = (o.touch.rounds - o.stallFor) / 2
	return from, from + o.stallFor
}

// resume lets all stalled clients go on, and waits until they have the newest change.
func (f *fleet) resume(marker int, into *stallReport) error {
	f.stopping.Store(0)
	p := newProbe(f.options.touch, returning, marker, len(f.clients), into.Streams)
	f.probe.Store(p)
	for _, c := range f.clients {
		if c.stalled {
			f.conns[c.id].Resume()
		}
	}
	if err := p.wait(f.options.timeout); err != nil {
		return err
	}
	var messages, composed []float64
	for _, c := range f.clients {
		if c.stalled {
			messages = append(messages, float64(c.back.messages))
			composed = append(composed, float64(c.back.composed))
			if c.back.seen == marker {
				into.Back++
			}
		}
	}
	into.Messages, into.Composed = numbers.SpreadOf(messages), numbers.SpreadOf(composed)
	return nil
}
