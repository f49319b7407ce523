import { fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { createUnpack } from "../messages/any.js";
import { createRewrite } from "../messages/rewrite.js";
import { v2NameOf } from "../messages/v2-names.js";
import type { ApiVersion } from "../names/identifiers.js";
import { perObject } from "../names/per-object.js";
import { envoyRegistry } from "../registry/registry.js";
import type { EncodedResource, Resource } from "../resources/resource.js";

type ClusterWithWeights = Message & {
  readonly totalWeight?: number | undefined;
  readonly clusters: readonly { readonly weight?: number | undefined }[];
};

const rewriteToV2 = createRewrite({
  // A type that v2 did not have keeps its name. The client ignores or rejects it, as it does with everything newer than
  // itself.
  nameOf: (schema) => v2NameOf(schema) ?? schema.typeName,
  change: new Map([["envoy.config.route.v3.WeightedCluster", withTotalWeight]]),
});

/** v2 clients assume a total of 100, and reject the route if the weights have another sum. */
function withTotalWeight(message: Message): Message {
  const weighted = message as ClusterWithWeights;
  if (weighted.totalWeight !== undefined) return message;
  const totalWeight = weighted.clusters.reduce((sum, cluster) => sum + (cluster.weight ?? 0), 0);
  return totalWeight === 0
    ? message
    : Object.assign(Object.create(Object.getPrototypeOf(message)), message, { totalWeight });
}

/**
 * A resource as one version of the API encodes it. In v3 this is its body, shared. For v2 it is rewritten once: the
 * type URL, and those of all known nested `Any`s. A type that v2 did not have stays v3.
 */
export function encodedAs(resource: Resource, api: ApiVersion): EncodedResource {
  const { type } = resource;
  if (api === "v3" || type.v2TypeUrl === undefined) return { typeUrl: type.typeUrl, value: resource.body };
  return encodedInV2(resource);
}

const encodedInV2 = perObject((resource: Resource): EncodedResource => {
  const { v2TypeUrl, typeUrl } = resource.type;
  return { typeUrl: v2TypeUrl ?? typeUrl, value: v2Body(resource) };
});

function v2Body({ type, body }: Resource): Uint8Array {
  const { schema } = type;
  if (schema === undefined) return body;
  const message = fromBinary(schema, body);
  const v2 = rewriteToV2(schema, message, createUnpack(envoyRegistry()));
  return v2 === message ? body : toBinary(schema, v2);
}
