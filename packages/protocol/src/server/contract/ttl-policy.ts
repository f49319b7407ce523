import type { ApiVersion, ResourceType } from "@xdskit/api";
import { clientKindOf, isEnvoyFrom } from "../../model/client-kind.js";
import type { Node } from "../../model/node.js";
import type { SotwOrDelta } from "../../wire/sotw-or-delta.js";
import type { StreamOptions, TtlPolicy } from "./options.js";

// Rule 127 to 129, in all the spellings that there are.
const ttlFeature = /^(?:xds|envoy)\.config\.(?:supports-)?resource-ttl$/;
const wrapperFeature = /^(?:xds|envoy)\.config\.(?:supports-)?resource-in-sotw$/;
/**
 * The protocol's document gates TTLs in SotW by this name alone; without `supports-` it is gRPC's and means the wrapper
 * only.
 */
const ttlInSotwFeature = /^(?:xds|envoy)\.config\.supports-resource-in-sotw$/;

/** The first Envoy that knows TTLs, and the wrapper that they need in SotW. None says so in its node. */
const envoyWithTtl = [1, 17] as const;

/**
 * Whether a stream's client is told TTLs, and so needs heartbeats. `api` is the method's: the messages of v2 have no
 * place for a TTL.
 */
export function tellsTtl(
  { variant, api }: { readonly variant: SotwOrDelta; readonly api: ApiVersion },
  node: Pick<Node, "clientFeatures" | "userAgentName" | "userAgentVersion">,
  policy: TtlPolicy,
): boolean {
  if (api === "v2") return false;
  const { clientFeatures } = node;
  const isGrpc = clientKindOf(node) === "grpc";
  const says = (feature: RegExp) => clientFeatures.some((name) => feature.test(name));
  // gRPC on the wire, 1 and 2: it unwraps at best, and knows no TTL.
  if (policy === "always" && !isGrpc) return true;
  if (policy === "auto" && isEnvoyFrom(node, envoyWithTtl)) return true;
  if (variant === "delta") return says(ttlFeature);
  return says(wrapperFeature) && (says(ttlFeature) || (says(ttlInSotwFeature) && !isGrpc));
}

/** The types of which Envoy outlives the end of a TTL on an aggregated SotW stream. */
const outlived: ReadonlySet<string> = new Set(["cds", "lds", "rtds", "ecds"]);

/**
 * Whether a client had better not be told the TTLs of a type. On an aggregated SotW stream Envoy 1.40 dies of a
 * segmentation fault when the time of a load assignment, a route configuration, a scoped route or a secret is over; on
 * streams of one type, and on delta ones, it does not.
 */
export function isTtlFatal(
  type: ResourceType,
  { variant, only }: Pick<StreamOptions, "variant" | "only">,
  node: Pick<Node, "userAgentName">,
): boolean {
  return variant === "sotw" && only === undefined && clientKindOf(node) === "envoy" && !outlived.has(type.abbreviation);
}
