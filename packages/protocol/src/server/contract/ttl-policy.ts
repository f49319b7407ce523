import type { ApiVersion, ResourceType } from "@xdskit/api";
import { clientKindOf, isEnvoyFrom } from "../../model/basics/client-kind.js";
import type { Node } from "../../model/basics/node.js";
import type { SotwOrDelta } from "../../wire/basics/sotw-or-delta.js";
import type { StreamOptions, TtlPolicy } from "./options.js";

// Rules 127 to 129, in all known spellings.
const ttlFeature = /^(?:xds|envoy)\.config\.(?:supports-)?resource-ttl$/;
const wrapperFeature = /^(?:xds|envoy)\.config\.(?:supports-)?resource-in-sotw$/;
/**
 * In SotW, the protocol's document enables TTLs by this name alone. Without `supports-` it is gRPC's name and means the
 * wrapper only.
 */
const ttlInSotwFeature = /^(?:xds|envoy)\.config\.supports-resource-in-sotw$/;

/** The first Envoy version that knows TTLs and the wrapper that they need in SotW. No Envoy says so in its node. */
const envoyWithTtl = [1, 17] as const;

/**
 * Whether a stream's client is told TTLs, and so needs heartbeats. `api` is the method's version: the messages of v2
 * have no field for a TTL.
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
  // gRPC on the wire, 1 and 2: it unwraps at best, and does not know TTLs.
  if (policy === "always" && !isGrpc) return true;
  if (policy === "auto" && isEnvoyFrom(node, envoyWithTtl)) return true;
  if (variant === "delta") return says(ttlFeature);
  return says(wrapperFeature) && (says(ttlFeature) || (says(ttlInSotwFeature) && !isGrpc));
}

/** The types whose TTL may end on an aggregated SotW stream without a crash of Envoy. */
const outlived: ReadonlySet<string> = new Set(["cds", "lds", "rtds", "ecds"]);

/**
 * Whether the client must not be told the TTLs of a type. On an aggregated SotW stream, Envoy 1.40 crashes with a
 * segmentation fault when the TTL of a load assignment, a route configuration, a scoped route or a secret ends. On
 * streams of one type and on delta streams it does not.
 */
export function isTtlFatal(
  type: ResourceType,
  { variant, only }: Pick<StreamOptions, "variant" | "only">,
  node: Pick<Node, "userAgentName">,
): boolean {
  return variant === "sotw" && only === undefined && clientKindOf(node) === "envoy" && !outlived.has(type.abbreviation);
}
