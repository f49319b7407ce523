package main

import (
	"context"
	"net"
	"slices"
	"time"

	"k8s.io/client-go/kubernetes"

	"xdskit/bench/internal/numbers"
	"xdskit/bench/internal/process"
)

// report is what was measured. Times are in milliseconds, unless they are named otherwise.
type report struct {
	FullMs       float64 `json:"fullMs"`  // from the start of the server until one stream has all load assignments
	FullCPU      float64 `json:"fullCpu"` // seconds of the server's CPU until then
	FullMb       float64 `json:"fullMb"`
	ChurnedMb    float64 `json:"churnedMb"` // after all changes
	PeakMb       float64 `json:"peakMb"`
	ChurnCores   float64 `json:"churnCores"` // the server's, while slices change
	Changes      int     `json:"changes"`
	ChangesASec  float64 `json:"changesASecond"`
	Arrivals     int     `json:"arrivals"`
	Missing      int     `json:"missing"`
	Written      latency `json:"written"`      // from the begin of a write to its answer: the API server's own part
	FromBegin    latency `json:"fromBegin"`    // from the begin of the write until a client has it
	FromAnswer   latency `json:"fromAnswer"`   // from the answer of the API server
	MachineCores float64 `json:"machineCores"` // all programs, while slices change
}

type latency struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

func measure(ctx context.Context, client kubernetes.Interface, o options) (*report, error) {
	r := &report{}
	if err := r.start(o); err != nil {
		return nil, err
	}
	c := &churn{turn: o.turn, ofOne: map[int][]int{}}
	wanted := shares(o.streams, o.names, o.services)
	f, err := connect(o.address, wanted, c, o.timeout)
	if err != nil {
		return nil, err
	}
	defer f.close()
	before, err := process.CPU(o.pid)
	if err != nil {
		return nil, err
	}
	machine, began := process.Machine(), time.Now()
	if err := c.write(ctx, client, o); err != nil {
		return nil, err
	}
	seconds := time.Since(began).Seconds()
	after, err := process.CPU(o.pid)
	if err != nil {
		return nil, err
	}
	r.ChurnCores = numbers.Round((after - before).Seconds() / seconds)
	r.MachineCores = numbers.Round((process.Machine() - machine).Seconds() / seconds)
	r.ChangesASec = numbers.Round(float64(len(c.changes)) / seconds)
	r.wait(c, wanted)
	r.add(c)
	if r.ChurnedMb, err = megabytes(process.RSS(o.pid)); err != nil {
		return nil, err
	}
	r.PeakMb, err = megabytes(process.PeakRSS(o.pid))
	return r, err
}

// start waits until one stream has everything.
func (r *report) start(o options) error {
	for limit := time.Now().Add(o.timeout); ; time.Sleep(5 * time.Millisecond) {
		if conn, err := net.Dial("tcp", o.address); err == nil {
			conn.Close()
			break
		} else if time.Now().After(limit) {
			return err
		}
	}
	f, err := connect(o.address, shares(1, o.services, o.services), nil, o.timeout)
	if err != nil {
		return err
	}
	defer f.close()
	r.FullMs = float64(time.Now().UnixMilli() - o.begun)
	used, err := process.CPU(o.pid)
	if err != nil {
		return err
	}
	r.FullCPU = numbers.Round(used.Seconds())
	r.FullMb, err = megabytes(process.RSS(o.pid))
	return err
}

func megabytes(kb int, err error) (float64, error) { return numbers.Round(float64(kb) / 1024), err }

// wait gives the last changes ten seconds to arrive, and counts those that have not.
func (r *report) wait(c *churn, wanted [][]int) {
	receivers := map[int]int{}
	for _, services := range wanted {
		for _, service := range services {
			receivers[service]++
		}
	}
	expected := 0
	for _, one := range c.changes {
		expected += receivers[one.service]
	}
	for limit := time.Now().Add(10 * time.Second); c.arrived() < expected && time.Now().Before(limit); {
		time.Sleep(20 * time.Millisecond)
	}
	r.Changes, r.Missing = len(c.changes), expected-c.arrived()
}

func (r *report) add(c *churn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var written, begun, stored []time.Duration
	for _, one := range c.changes {
		written = append(written, one.stored.Sub(one.begun))
	}
	for _, one := range c.arrivals {
		begun = append(begun, one.at.Sub(one.change.begun))
		stored = append(stored, one.at.Sub(one.change.stored))
	}
	r.Arrivals = len(c.arrivals)
	r.Written, r.FromBegin, r.FromAnswer = latencyOf(written), latencyOf(begun), latencyOf(stored)
}

func latencyOf(all []time.Duration) latency {
	if len(all) == 0 {
		return latency{}
	}
	sorted := make([]float64, len(all))
	for i, one := range all {
		sorted[i] = float64(one.Microseconds()) / 1000
	}
	slices.Sort(sorted)
	return latency{
		numbers.Round(numbers.Quantile(sorted, 0.5)), numbers.Round(numbers.Quantile(sorted, 0.99)), sorted[len(sorted)-1],
	}
}
