import { create, isMessage, type JsonObject, type Message } from "@bufbuild/protobuf";
import { XdskitError } from "@xdskit/api";
import { type Node, NodeSchema } from "@xdskit/api/envoy/config/core/v3/base";
import type { NodeSettings } from "./client-options.js";
import { version } from "./version.js";

/**
 * What this client can do, in the names that servers know (rules 127–129 and A61 of gRPC): endpoints without overprovisioning are the program's affair, resources in
 * wrappers, TTLs in both variants, errors of single resources.
 */
const features = [
  "envoy.lb.does_not_support_overprovisioning",
  "xds.config.resource-in-sotw",
  "xds.config.supports-resource-in-sotw",
  "xds.config.supports-resource-ttl",
  "xds.config.supports-resource-errors",
];

/** Who the client says it is. A whole `Node` says itself what it can do, unless it says nothing; `more` is added to either. Throws an XdskitError (XDSKIT_CLIENT_OPTION). */
export function clientNode(node: NodeSettings | Message, more: readonly string[] = []): Node {
  const agent = {
    userAgentName: "xdskit",
    userAgentVersionType: { case: "userAgentVersion", value: version },
  } as const;
  if ("$typeName" in node) {
    if (!isMessage(node, NodeSchema)) {
      throw XdskitError.of("XDSKIT_CLIENT_OPTION", `node is a ${node.$typeName}, and no ${NodeSchema.typeName}`);
    }
    const own = node.clientFeatures.length === 0 ? features : node.clientFeatures;
    const clientFeatures = [...new Set([...own, ...more])];
    return create(NodeSchema, { ...node, clientFeatures, ...(node.userAgentName === "" ? agent : {}) });
  }
  const { id, cluster, locality, metadata, clientFeatures = [] } = node;
  return create(NodeSchema, {
    id,
    cluster,
    locality,
    ...agent,
    metadata: metadata as JsonObject | undefined,
    clientFeatures: [...new Set([...features, ...clientFeatures, ...more])],
  });
}
