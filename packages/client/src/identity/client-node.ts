import { create, isMessage, type JsonObject, type Message } from "@bufbuild/protobuf";
import { XdskitError } from "@xdskit/api";
import { version } from "@xdskit/api/disk";
import { type Node, NodeSchema } from "@xdskit/api/envoy/config/core/v3/base";
import type { NodeSettings } from "../options/client-options.js";

/**
 * The client's features, in the names that servers know (rules 127–129 and A61 of gRPC): the program handles endpoints
 * without overprovisioning, resources may be wrapped, TTLs work in both variants, and single resources may have errors.
 */
const features = [
  "envoy.lb.does_not_support_overprovisioning",
  "xds.config.resource-in-sotw",
  "xds.config.supports-resource-in-sotw",
  "xds.config.supports-resource-ttl",
  "xds.config.supports-resource-errors",
];

/**
 * The node that the client sends. A whole `Node` keeps its own features if it has any; `more` is added to either.
 * Throws an XdskitError (XDSKIT_CLIENT_OPTION).
 */
export function clientNode(node: NodeSettings | Message, more: readonly string[] = []): Node {
  const agent = {
    userAgentName: "xdskit",
    userAgentVersionType: { case: "userAgentVersion", value: version },
  } as const;
  if ("$typeName" in node) {
    if (!isMessage(node, NodeSchema)) {
      throw XdskitError.of("XDSKIT_CLIENT_OPTION", `node is a ${node.$typeName}, not a ${NodeSchema.typeName}`);
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
