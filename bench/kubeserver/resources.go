package main

import (
	"cmp"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/wrapperspb"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpoint "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listener "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	route "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	router "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	hcm "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
)

// The resources have the names that xdskit gives them, so that the same clients ask both servers.

// fromADS is shared by all resources: nothing changes it.
var fromADS = &core.ConfigSource{
	ResourceApiVersion:    core.ApiVersion_V3,
	ConfigSourceSpecifier: &core.ConfigSource_Ads{Ads: &core.AggregatedConfigSource{}},
}

var routerConfig = mustAny(&router.Router{})

func makeResources(service *corev1.Service, slicesOf []*discoveryv1.EndpointSlice) made {
	all := made{}
	for _, typeURL := range typeURLs {
		all[typeURL] = map[string]types.Resource{}
	}
	for _, port := range service.Spec.Ports {
		host := service.Name + "." + service.Namespace
		name := fmt.Sprintf("%s:%d", host, port.Port)
		all[resource.ClusterType][name] = &clusterv3.Cluster{
			Name:                 name,
			ClusterDiscoveryType: &clusterv3.Cluster_Type{Type: clusterv3.Cluster_EDS},
			EdsClusterConfig:     &clusterv3.Cluster_EdsClusterConfig{EdsConfig: fromADS},
		}
		all[resource.RouteType][name] = newRoute(name)
		for _, target := range targets(host, port, len(service.Spec.Ports)) {
			all[resource.ListenerType][target] = newListener(target, name)
		}
		all[resource.EndpointType][name] = newAssignment(name, port.Name, slicesOf)
	}
	return all
}

func targets(host string, port corev1.ServicePort, ports int) []string {
	endings := []string{fmt.Sprintf(":%d", port.Port)}
	if port.Name != "" {
		endings = append(endings, ":"+port.Name)
	}
	if ports == 1 {
		endings = append(endings, "")
	}
	var names []string
	for _, one := range []string{host, host + ".svc", host + ".svc.cluster.local"} {
		for _, ending := range endings {
			names = append(names, one+ending)
		}
	}
	return names
}

func newRoute(name string) *route.RouteConfiguration {
	return &route.RouteConfiguration{Name: name, VirtualHosts: []*route.VirtualHost{{
		Name: name, Domains: []string{"*"},
		Routes: []*route.Route{{
			Match: &route.RouteMatch{PathSpecifier: &route.RouteMatch_Prefix{}},
			Action: &route.Route_Route{Route: &route.RouteAction{
				ClusterSpecifier: &route.RouteAction_Cluster{Cluster: name},
			}},
		}},
	}}}
}

func newListener(name, routeName string) *listener.Listener {
	return &listener.Listener{Name: name, ApiListener: &listener.ApiListener{ApiListener: mustAny(&hcm.HttpConnectionManager{
		StatPrefix: routeName,
		RouteSpecifier: &hcm.HttpConnectionManager_Rds{
			Rds: &hcm.Rds{ConfigSource: fromADS, RouteConfigName: routeName},
		},
		HttpFilters: []*hcm.HttpFilter{{
			Name: "router", ConfigType: &hcm.HttpFilter_TypedConfig{TypedConfig: routerConfig},
		}},
	})}}
}

// newAssignment has the ready endpoints of all slices, by zone.
func newAssignment(name, portName string, all []*discoveryv1.EndpointSlice) *endpoint.ClusterLoadAssignment {
	byZone := map[string][]*endpoint.LbEndpoint{}
	seen := map[string]bool{}
	for _, slice := range all {
		port := portOf(slice, portName)
		if port == 0 || slice.AddressType == discoveryv1.AddressTypeFQDN {
			continue
		}
		for _, one := range slice.Endpoints {
			ready := one.Conditions.Ready == nil || *one.Conditions.Ready
			if !ready || len(one.Addresses) == 0 || seen[one.Addresses[0]] {
				continue
			}
			seen[one.Addresses[0]] = true
			zone := ""
			if one.Zone != nil {
				zone = *one.Zone
			}
			byZone[zone] = append(byZone[zone], newEndpoint(one.Addresses[0], port))
		}
	}
	assignment := &endpoint.ClusterLoadAssignment{ClusterName: name}
	for zone, endpoints := range byZone {
		slices.SortFunc(endpoints, func(a, b *endpoint.LbEndpoint) int { return cmp.Compare(addressOf(a), addressOf(b)) })
		assignment.Endpoints = append(assignment.Endpoints, &endpoint.LocalityLbEndpoints{
			Locality:            &core.Locality{Zone: zone},
			LoadBalancingWeight: wrapperspb.UInt32(uint32(len(endpoints))),
			LbEndpoints:         endpoints,
		})
	}
	slices.SortFunc(assignment.Endpoints, func(a, b *endpoint.LocalityLbEndpoints) int {
		return cmp.Compare(a.Locality.Zone, b.Locality.Zone)
	})
	return assignment
}

func portOf(slice *discoveryv1.EndpointSlice, name string) uint32 {
	for _, port := range slice.Ports {
		if port.Port != nil && port.Name != nil && *port.Name == name {
			return uint32(*port.Port)
		}
	}
	return 0
}

func newEndpoint(address string, port uint32) *endpoint.LbEndpoint {
	socket := &core.SocketAddress{Address: address, PortSpecifier: &core.SocketAddress_PortValue{PortValue: port}}
	return &endpoint.LbEndpoint{
		HealthStatus: core.HealthStatus_HEALTHY,
		HostIdentifier: &endpoint.LbEndpoint_Endpoint{Endpoint: &endpoint.Endpoint{
			Address: &core.Address{Address: &core.Address_SocketAddress{SocketAddress: socket}},
		}},
	}
}

func addressOf(one *endpoint.LbEndpoint) string {
	return one.GetEndpoint().GetAddress().GetSocketAddress().GetAddress()
}

func mustAny(message proto.Message) *anypb.Any {
	packed, err := anypb.New(message)
	if err != nil {
		panic(err)
	}
	return packed
}
