package main

import (
	"context"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
)

var servedTypes = []string{resource.ClusterType, resource.EndpointType, resource.ListenerType, resource.RouteType}

// oneNode gives every client the same snapshot.
type oneNode struct{}

func (oneNode) ID(*core.Node) string { return "all" }

type snapshotStore struct{ kept cache.SnapshotCache }

func (s snapshotStore) cache() cache.Cache { return s.kept }

func (s snapshotStore) set(ctx context.Context, version string, resources map[string]map[string]types.Resource) error {
	lists := map[string][]types.Resource{}
	for _, url := range servedTypes {
		lists[url] = nil
		for _, one := range resources[url] {
			lists[url] = append(lists[url], one)
		}
	}
	snapshot, err := cache.NewSnapshot(version, lists)
	if err != nil {
		return err
	}
	return s.kept.SetSnapshot(ctx, "all", snapshot)
}

// linearStore has one LinearCache for each type.
type linearStore struct {
	mux    *cache.MuxCache
	linear map[string]*cache.LinearCache
}

func newLinearStore() linearStore {
	store := linearStore{linear: map[string]*cache.LinearCache{}}
	store.mux = &cache.MuxCache{
		Classify:      func(request *cache.Request) string { return request.GetTypeUrl() },
		ClassifyDelta: func(request *cache.DeltaRequest) string { return request.GetTypeUrl() },
		Caches:        map[string]cache.Cache{},
	}
	for _, url := range servedTypes {
		store.linear[url] = cache.NewLinearCache(url)
		store.mux.Caches[url] = store.linear[url]
	}
	return store
}

func (s linearStore) cache() cache.Cache { return s.mux }

func (s linearStore) set(_ context.Context, _ string, resources map[string]map[string]types.Resource) error {
	for url, linear := range s.linear {
		var gone []string
		for name := range linear.GetResources() {
			if _, stays := resources[url][name]; !stays {
				gone = append(gone, name)
			}
		}
		if err := linear.UpdateResources(resources[url], gone); err != nil {
			return err
		}
	}
	return nil
}
