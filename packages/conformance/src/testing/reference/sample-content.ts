import { createHash } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { resourceTypes } from "@xdskit/api";
import { type Cluster, Cluster_DiscoveryType, ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import { ListenerSchema } from "@xdskit/api/envoy/config/listener/v3/listener";
import { RouteConfigurationSchema } from "@xdskit/api/envoy/config/route/v3/route";
import { HttpConnectionManagerSchema } from "@xdskit/api/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager";
import type { ReferenceContent, ReferenceResource } from "./reference-state.js";

const urlOf = (word: string): string => resourceTypes.find(word)!.typeUrl;

/** Content decides the version. */
function referenceResource(name: string, body: Uint8Array): readonly [string, ReferenceResource] {
  const version = createHash("sha256").update(body).digest("hex").slice(0, 16);
  return [name, { name, version, body }];
}

function clusterOf(name: string): Cluster {
  const ads = { configSourceSpecifier: { case: "ads" as const, value: {} } };
  const clusterDiscoveryType = { case: "type" as const, value: Cluster_DiscoveryType.EDS };
  return create(ClusterSchema, { name, clusterDiscoveryType, edsClusterConfig: { edsConfig: ads } });
}

function listenerBody(name: string, route: string): Uint8Array {
  const manager = create(HttpConnectionManagerSchema, {
    statPrefix: name,
    routeSpecifier: { case: "rds", value: { routeConfigName: route } },
  });
  const typedConfig = {
    typeUrl: `type.googleapis.com/${HttpConnectionManagerSchema.typeName}`,
    value: toBinary(HttpConnectionManagerSchema, manager),
  };
  const filters = [{ name: "http", configType: { case: "typedConfig" as const, value: typedConfig } }];
  return toBinary(ListenerSchema, create(ListenerSchema, { name, filterChains: [{ filters }] }));
}

function routeBody(name: string, cluster: string): Uint8Array {
  const action = { case: "route" as const, value: { clusterSpecifier: { case: "cluster" as const, value: cluster } } };
  const match = { pathSpecifier: { case: "prefix" as const, value: "/" } };
  const virtualHosts = [{ name: "all", domains: ["*"], routes: [{ match, action }] }];
  return toBinary(RouteConfigurationSchema, create(RouteConfigurationSchema, { name, virtualHosts }));
}

/** Three clusters with their endpoints, two listeners with their routes. */
export function sampleContent(): ReferenceContent {
  const clusters = ["a", "b", "c"];
  const listeners = [
    ["l", "r", "a"],
    ["m", "s", "b"],
  ] as const;
  return new Map([
    [
      urlOf("cluster"),
      new Map(clusters.map((name) => referenceResource(name, toBinary(ClusterSchema, clusterOf(name))))),
    ],
    [
      urlOf("endpoint"),
      new Map(
        clusters.map((clusterName) => {
          const assignment = create(ClusterLoadAssignmentSchema, { clusterName, endpoints: [{ priority: 0 }] });
          return referenceResource(clusterName, toBinary(ClusterLoadAssignmentSchema, assignment));
        }),
      ),
    ],
    [urlOf("listener"), new Map(listeners.map(([name, route]) => referenceResource(name, listenerBody(name, route))))],
    [urlOf("route"), new Map(listeners.map(([, name, cluster]) => referenceResource(name, routeBody(name, cluster))))],
  ]);
}
