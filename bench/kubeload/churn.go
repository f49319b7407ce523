package main

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// A marker has 16 bits for the number of a change.
const maxChanges = 1 << 16

// change is one slice that was written anew.
type change struct {
	service       int
	begun, stored time.Time
}

// arrival is a change that one client has.
type arrival struct {
	change *change
	at     time.Time
}

// churn is what changes, and what clients have of it.
type churn struct {
	turn int

	mu       sync.Mutex
	changes  []*change
	ofOne    map[int][]int // by Service: the numbers of its changes, in order
	arrivals []arrival
}

// received takes what a client got. What a newer change of the Service stands for has arrived with it.
func (c *churn) received(numbers []int, had map[int]int, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, number := range numbers {
		if number >= len(c.changes) {
			continue
		}
		service := c.changes[number].service
		of := c.ofOne[service]
		for had[service] < len(of) && of[had[service]] <= number {
			c.arrivals = append(c.arrivals, arrival{c.changes[of[had[service]]], at})
			had[service]++
		}
	}
}

func (c *churn) begin(service int) (int, *change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := &change{service: service, begun: time.Now()}
	c.ofOne[service] = append(c.ofOne[service], len(c.changes))
	c.changes = append(c.changes, one)
	return len(c.changes) - 1, one
}

// arrived is how often a change has reached a client.
func (c *churn) arrived() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.arrivals)
}

// write changes slices at an even pace, one Service after the other in an order that spreads over all, until the
// duration is over.
func (c *churn) write(ctx context.Context, client kubernetes.Interface, o options) error {
	group, ctx := errgroup.WithContext(ctx)
	busy := make([]sync.Mutex, o.services)
	count := min(maxChanges, int(o.duration.Seconds()*float64(o.rate)))
	began := time.Now()
	for i := range count {
		if err := until(ctx, began.Add(time.Duration(i)*time.Second/time.Duration(o.rate))); err != nil {
			break
		}
		service := i * 7919 % o.services
		group.Go(func() error {
			busy[service].Lock()
			defer busy[service].Unlock()
			number, one := c.begin(service)
			slice := marked(newSlice(service, o.endpoints), c.turn, number)
			if _, err := client.DiscoveryV1().EndpointSlices(slice.Namespace).Update(ctx, slice, metav1.UpdateOptions{}); err != nil {
				return err
			}
			one.stored = time.Now()
			return nil
		})
	}
	return group.Wait()
}

func until(ctx context.Context, at time.Time) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Until(at)):
		return nil
	}
}
