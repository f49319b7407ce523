import type { Message } from "@bufbuild/protobuf";
import type { ResourceName, XdskitError } from "@xdskit/api";
import type { Cluster } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import type { ClusterLoadAssignment } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import type { LbEndpointCollection } from "@xdskit/api/envoy/config/endpoint/v3/endpoint_components";
import type { Listener } from "@xdskit/api/envoy/config/listener/v3/listener";
import type { RouteConfiguration } from "@xdskit/api/envoy/config/route/v3/route";
import type { ReceivedResource } from "@xdskit/protocol";

/** The messages that make up a configuration, by the name of their type. */
export interface LeafShapes {
  readonly listener: Listener;
  readonly route: RouteConfiguration;
  readonly cluster: Cluster;
  readonly endpoint: ClusterLoadAssignment;
  readonly "locality-endpoint-collection": LbEndpointCollection;
}

/** The types that make up a configuration. */
export type LeafType = keyof LeafShapes;

/** The known state of one resource. */
export type LeafState<Shape extends Message = Message> =
  | { readonly kind: "waiting" }
  | { readonly kind: "here"; readonly resource: ReceivedResource<Shape> }
  | { readonly kind: "error"; readonly error: XdskitError };

/** Returns the known state of a resource, and records that the resource is needed. */
export type AskLeaf = <Type extends LeafType>(type: Type, name: ResourceName) => LeafState<LeafShapes[Type]>;
