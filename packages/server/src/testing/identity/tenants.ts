import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { envoySchema } from "@xdskit/api";
import type {
  DeltaDiscoveryRequestSchema,
  DiscoveryRequestSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import type { LoadStatsRequestSchema } from "@xdskit/api/envoy/service/load_stats/v3/lrs";
import type { ClientStatusResponseSchema } from "@xdskit/api/envoy/service/status/v3/csds";
import type { Method } from "../../contracts/transport.js";
import { createIssuer } from "./issuer.js";

/** A tenant of a test: the node that it may be, and its tokens. */
export interface Tenant {
  readonly id: string;
  readonly cluster: string;
  readonly good: string;
  readonly expired: string;
  /** Signed by a key that the issuer does not have. */
  readonly wrong: string;
}

/** Two tenants of one issuer, and its keys. */
export async function tenants() {
  const [right, wrong] = [await createIssuer(), await createIssuer()];
  const tenant = async (name: string): Promise<Tenant> => ({
    id: `cart.${name}.pod-1`,
    cluster: name,
    good: await right.sign(`${name}:cart`, 3_600),
    expired: await right.sign(`${name}:cart`, -3_600),
    wrong: await wrong.sign(`${name}:cart`, 3_600),
  });
  return { a: await tenant("a"), b: await tenant("b"), jwks: right.jwks };
}

/** The first message of a call that says it comes from a node, where its messages say so. */
export function nodeRequest(
  service: string,
  { id, cluster }: Pick<Tenant, "id" | "cluster">,
  method: Method | undefined,
): Uint8Array {
  const node = { id, cluster };
  if (method === undefined) {
    if (!service.includes("load_stats")) return new Uint8Array();
    const schema = envoySchema<typeof LoadStatsRequestSchema>("envoy.service.load_stats.v3.LoadStatsRequest");
    return toBinary(schema, create(schema, { node }));
  }
  const typeUrl = method.only === undefined ? clusterUrl[method.api] : "";
  if (method.variant === "sotw") {
    const schema = envoySchema<typeof DiscoveryRequestSchema>("envoy.service.discovery.v3.DiscoveryRequest");
    return toBinary(schema, create(schema, { node, typeUrl }));
  }
  const schema = envoySchema<typeof DeltaDiscoveryRequestSchema>("envoy.service.discovery.v3.DeltaDiscoveryRequest");
  return toBinary(schema, create(schema, { node, typeUrl }));
}

const clusterUrl = {
  v2: "type.googleapis.com/envoy.api.v2.Cluster",
  v3: "type.googleapis.com/envoy.config.cluster.v3.Cluster",
};

/** The ids of the nodes in an answer of CSDS. */
export function clientConfigs(bytes: Uint8Array): readonly string[] {
  const schema = envoySchema<typeof ClientStatusResponseSchema>("envoy.service.status.v3.ClientStatusResponse");
  return fromBinary(schema, bytes).config.map(({ node }) => node?.id ?? "");
}
