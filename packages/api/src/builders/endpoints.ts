import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { AddressSchema } from "@xdskit/api/envoy/config/core/v3/address";
import { type ClusterLoadAssignment, ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import { LbEndpointSchema, LocalityLbEndpointsSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint_components";
import { checkCall, type OptionRule } from "../errors/option-table.js";
import { type BesideFields, builderCall, withFields } from "./fields.js";

/** An address with its port, as Envoy's `SocketAddress` has them. */
export interface SocketOption {
  /** An IP address; for clusters by DNS a host name. */
  readonly address: string;
  readonly portValue: number;
}

/** An endpoint: where it is, and fields of `LbEndpoint` such as `healthStatus` and `metadata`. */
export type EndpointOption = SocketOption &
  Omit<BesideFields<typeof LbEndpointSchema, "hostIdentifier">, "loadBalancingWeight"> & {
    /** Its share of the requests beside the others of its locality. Default: all have the same. */
    readonly loadBalancingWeight?: number | undefined;
  };

/** The endpoints of one locality, and fields of `LocalityLbEndpoints` such as `locality` and `priority`. */
export type LocalityOption = Omit<
  BesideFields<typeof LocalityLbEndpointsSchema, "lbEndpoints" | "lbConfig">,
  "loadBalancingWeight"
> & {
  readonly endpoints: readonly EndpointOption[];
  /** Its share of the requests beside other localities. Default: 1; clients of gRPC ignore a locality without one. */
  readonly loadBalancingWeight?: number | undefined;
};

/** The options of a load assignment. */
export type LoadAssignmentOptions = BesideFields<typeof ClusterLoadAssignmentSchema, "clusterName" | "endpoints"> & {
  readonly clusterName: string;
  /** The endpoints of one locality. */
  readonly endpoints?: readonly EndpointOption[] | undefined;
  /** Instead of `endpoints`: those of several localities. */
  readonly localities?: readonly LocalityOption[] | undefined;
};

/** The rules for where a socket is. */
export const socketRules = { address: "string", portValue: "count" } as const;

/** The rule for a list of endpoints. */
export const endpointsRule: OptionRule = {
  items: withFields({ ...socketRules, loadBalancingWeight: "count" }, LbEndpointSchema, ["hostIdentifier"]),
  needs: ["address", "portValue"],
};

const call = builderCall({
  call: "loadAssignment",
  example: '{ clusterName: "web", endpoints: [{ address: "10.0.0.1", portValue: 8080 }] }',
  needs: ["clusterName"],
  beside: ClusterLoadAssignmentSchema,
  own: {
    clusterName: "string",
    endpoints: endpointsRule,
    localities: {
      items: withFields({ endpoints: endpointsRule, loadBalancingWeight: "count" }, LocalityLbEndpointsSchema, [
        "lbEndpoints",
        "lbConfig",
      ]),
      needs: ["endpoints"],
    },
  },
});

/**
 * Makes the endpoints of a cluster (EDS). Without endpoints the cluster is there, and answers 503.
 *
 * @example
 * ```ts
 * import { loadAssignment } from "@xdskit/api/builders";
 *
 * const endpoints = [{ address: "10.0.0.1", portValue: 8080 }, { address: "10.0.0.2", portValue: 8080 }];
 * const web = loadAssignment({ clusterName: "web", endpoints });
 * ```
 */
export function loadAssignment(options: LoadAssignmentOptions): ClusterLoadAssignment {
  checkCall(call, options);
  const { endpoints = [], localities, ...more } = options;
  const all = localities ?? (endpoints.length === 0 ? [] : [{ endpoints }]);
  return create(ClusterLoadAssignmentSchema, { ...more, endpoints: all.map(localityEndpoints) });
}

function localityEndpoints({ endpoints, loadBalancingWeight = 1, ...more }: LocalityOption) {
  return create(LocalityLbEndpointsSchema, {
    locality: {},
    ...more,
    loadBalancingWeight,
    lbEndpoints: endpoints.map(lbEndpoint),
  });
}

function lbEndpoint({ address, portValue, loadBalancingWeight, ...more }: EndpointOption) {
  const endpoint = { address: socketAddress({ address, portValue }) };
  return create(LbEndpointSchema, {
    ...more,
    ...(loadBalancingWeight === undefined ? {} : { loadBalancingWeight }),
    hostIdentifier: { case: "endpoint", value: endpoint },
  });
}

/** The address of a socket, as endpoints and listeners have it. */
export function socketAddress({ address, portValue }: SocketOption): MessageInitShape<typeof AddressSchema> {
  const portSpecifier = { case: "portValue", value: portValue } as const;
  return { address: { case: "socketAddress", value: { address, portSpecifier } } };
}
