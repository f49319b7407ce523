import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resourceTypes } from "@xdskit/api";
import type { Method } from "../contracts/transport.js";
import { discoveryMethods } from "./discovery-methods.js";

/** The protocol's table of services: those of each version of the API, with their methods. */
const expected = `
v3 envoy.service.discovery.v3.AggregatedDiscoveryService Stream:AggregatedResources Delta:AggregatedResources
v2 envoy.service.discovery.v2.AggregatedDiscoveryService Stream:AggregatedResources Delta:AggregatedResources
v3 envoy.service.listener.v3.ListenerDiscoveryService Stream:Listeners Delta:Listeners Fetch:Listeners
v2 envoy.api.v2.ListenerDiscoveryService Stream:Listeners Delta:Listeners Fetch:Listeners
v3 envoy.service.route.v3.RouteDiscoveryService Stream:Routes Delta:Routes Fetch:Routes
v2 envoy.api.v2.RouteDiscoveryService Stream:Routes Delta:Routes Fetch:Routes
v3 envoy.service.route.v3.ScopedRoutesDiscoveryService Stream:ScopedRoutes Delta:ScopedRoutes Fetch:ScopedRoutes
v2 envoy.api.v2.ScopedRoutesDiscoveryService Stream:ScopedRoutes Delta:ScopedRoutes Fetch:ScopedRoutes
v3 envoy.service.route.v3.VirtualHostDiscoveryService Delta:VirtualHosts
v2 envoy.api.v2.VirtualHostDiscoveryService Delta:VirtualHosts
v3 envoy.service.cluster.v3.ClusterDiscoveryService Stream:Clusters Delta:Clusters Fetch:Clusters
v2 envoy.api.v2.ClusterDiscoveryService Stream:Clusters Delta:Clusters Fetch:Clusters
v3 envoy.service.endpoint.v3.EndpointDiscoveryService Stream:Endpoints Delta:Endpoints Fetch:Endpoints
v2 envoy.api.v2.EndpointDiscoveryService Stream:Endpoints Delta:Endpoints Fetch:Endpoints
v3 envoy.service.secret.v3.SecretDiscoveryService Stream:Secrets Delta:Secrets Fetch:Secrets
v2 envoy.service.discovery.v2.SecretDiscoveryService Stream:Secrets Delta:Secrets Fetch:Secrets
v3 envoy.service.runtime.v3.RuntimeDiscoveryService Stream:Runtime Delta:Runtime Fetch:Runtime
v2 envoy.service.discovery.v2.RuntimeDiscoveryService Stream:Runtime Delta:Runtime Fetch:Runtime
v3 envoy.service.extension.v3.ExtensionConfigDiscoveryService Stream:ExtensionConfigs Delta:ExtensionConfigs Fetch:ExtensionConfigs
v3 envoy.service.endpoint.v3.LocalityEndpointDiscoveryService Delta:LocalityEndpoints
`;

describe("discoveryMethods", () => {
  it("the discovery methods are those of the protocol, each with its variant", () => {
    const found: string[] = [];
    const kindOf = ({ unary, variant }: Method) => (unary ? "Fetch" : variant === "delta" ? "Delta" : "Stream");
    for (const [service, methods] of discoveryMethods(resourceTypes)) {
      for (const [name, method] of methods) {
        assert.ok(name.startsWith(kindOf(method)), `${name} is served as ${kindOf(method)}`);
        found.push(`${method.api} ${service} ${name}`);
      }
    }
    const wanted = expected
      .trim()
      .split("\n")
      .flatMap((line) => {
        const [api, service, ...methods] = line.split(" ");
        return methods.map((method) => `${api} ${service} ${method.replace(":", "")}`);
      });
    assert.deepEqual(found.sort(), wanted.sort());
  });
});
