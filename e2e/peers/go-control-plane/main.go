// Command go-control-plane-server is a management server made of go-control-plane, for tests of clients.
//
// Each line of standard input is the whole configuration that is served from then on, as JSON:
//
//	{"version": "7", "resources": [{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "a"}]}
//
// Standard output holds `grpc listening on HOST:PORT`, then a JSON object a line: `set` once a configuration is served, and what happens on streams (`opened`,
// `closed`, `request`, `response`).
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"os"

	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/config"
	"github.com/envoyproxy/go-control-plane/pkg/server/sotw/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/anypb"

	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	clusterservice "github.com/envoyproxy/go-control-plane/envoy/service/cluster/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	endpointservice "github.com/envoyproxy/go-control-plane/envoy/service/endpoint/v3"
	listenerservice "github.com/envoyproxy/go-control-plane/envoy/service/listener/v3"
	routeservice "github.com/envoyproxy/go-control-plane/envoy/service/route/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
)

// store is what a configuration is put into.
type store interface {
	cache() cache.Cache
	set(ctx context.Context, version string, resources map[string]map[string]types.Resource) error
}

func main() {
	kind := flag.String("cache", "snapshot", "snapshot or linear")
	address := flag.String("grpc", "127.0.0.1:0", "HOST:PORT of ADS and every per-type service")
	ads := flag.Bool("ads", true, "ADS flag of the SnapshotCache: hold a response until every named resource exists")
	ordered := flag.Bool("ordered", false, "order responses of one ADS stream by type (SotW)")
	flag.Parse()

	ctx := context.Background()
	var kept store
	switch *kind {
	case "snapshot":
		kept = snapshotStore{cache.NewSnapshotCache(*ads, oneNode{}, nil)}
	case "linear":
		kept = newLinearStore()
	default:
		log.Fatalf("no such cache: %s", *kind)
	}
	var options []config.XDSOption
	if *ordered {
		options = append(options, sotw.WithOrderedADS())
	}
	events := newEvents(os.Stdout)
	xds := server.NewServer(ctx, kept.cache(), events.callbacks(), options...)
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	to := grpc.NewServer()
	discovery.RegisterAggregatedDiscoveryServiceServer(to, xds)
	clusterservice.RegisterClusterDiscoveryServiceServer(to, xds)
	endpointservice.RegisterEndpointDiscoveryServiceServer(to, xds)
	listenerservice.RegisterListenerDiscoveryServiceServer(to, xds)
	routeservice.RegisterRouteDiscoveryServiceServer(to, xds)
	go func() { log.Fatal(to.Serve(listener)) }()
	events.line(fmt.Sprintf("grpc listening on %s", listener.Addr()))

	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		version, resources, err := parse(lines.Bytes())
		if err != nil {
			log.Fatal(err)
		}
		if err := kept.set(ctx, version, resources); err != nil {
			log.Fatal(err)
		}
		events.add(event{Event: "set", Version: version})
	}
}

// parse gives the resources of one line of input by type and name.
func parse(line []byte) (string, map[string]map[string]types.Resource, error) {
	var input struct {
		Version   string            `json:"version"`
		Resources []json.RawMessage `json:"resources"`
	}
	if err := json.Unmarshal(line, &input); err != nil {
		return "", nil, err
	}
	resources := map[string]map[string]types.Resource{}
	for _, text := range input.Resources {
		var packed anypb.Any
		if err := protojson.Unmarshal(text, &packed); err != nil {
			return "", nil, err
		}
		message, err := packed.UnmarshalNew()
		if err != nil {
			return "", nil, err
		}
		if resources[packed.TypeUrl] == nil {
			resources[packed.TypeUrl] = map[string]types.Resource{}
		}
		resources[packed.TypeUrl][cache.GetResourceName(message)] = message
	}
	return input.Version, resources, nil
}
