package main

import (
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
)

// made are the resources of one Service, by type and name.
type made map[string]map[string]types.Resource

var typeURLs = []string{resource.ListenerType, resource.RouteType, resource.ClusterType, resource.EndpointType}

// caches are one LinearCache for each type.
type caches struct {
	byType map[string]*cache.LinearCache
	// by Service: what is served, so that equal content changes nothing.
	served map[string]made
}

func newCaches(all map[string]made) *caches {
	c := &caches{byType: map[string]*cache.LinearCache{}, served: all}
	for _, typeURL := range typeURLs {
		initial := map[string]types.Resource{}
		for _, one := range all {
			maps.Copy(initial, one[typeURL])
		}
		c.byType[typeURL] = cache.NewLinearCache(typeURL, cache.WithInitialResources(initial))
	}
	return c
}

func (c *caches) mux() cache.Cache {
	mux := &cache.MuxCache{
		Classify:      func(request *cache.Request) string { return request.GetTypeUrl() },
		ClassifyDelta: func(request *cache.DeltaRequest) string { return request.GetTypeUrl() },
		Caches:        map[string]cache.Cache{},
	}
	for typeURL, one := range c.byType {
		mux.Caches[typeURL] = one
	}
	return mux
}

// set serves what a Service gives from now on. Only one goroutine calls it.
func (c *caches) set(service string, next made) error {
	before := c.served[service]
	for _, typeURL := range typeURLs {
		changed := map[string]types.Resource{}
		for name, one := range next[typeURL] {
			if old := before[typeURL][name]; old == nil || !proto.Equal(old, one) {
				changed[name] = one
			}
		}
		gone := slices.Collect(maps.Keys(before[typeURL]))
		gone = slices.DeleteFunc(gone, func(name string) bool { return next[typeURL][name] != nil })
		if len(changed)+len(gone) == 0 {
			continue
		}
		if err := c.byType[typeURL].UpdateResources(changed, gone); err != nil {
			return err
		}
	}
	if next == nil {
		delete(c.served, service)
	} else {
		c.served[service] = next
	}
	return nil
}
