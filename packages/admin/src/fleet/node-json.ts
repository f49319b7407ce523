import { type NodeStatus, type StreamStatus, serviceName } from "@xdskit/server";

/** A node as the API lists it, without its metadata, which may hold anything. */
export function nodeJson({ id, node, group, state, why, streams }: NodeStatus, replica: string): object {
  const { cluster, locality } = node;
  return {
    id,
    cluster,
    locality,
    client: clientOf(node),
    group,
    state,
    why,
    streams: streams.map((stream) => streamJson(stream, replica)),
  };
}

/** The program and its version: `envoy 1.38.0`. */
export function clientOf({ userAgentName, userAgentVersion }: NodeStatus["node"]): string {
  return [userAgentName, userAgentVersion].filter((part) => part !== "").join(" ");
}

function streamJson({ stream: { id, method, peer }, openedAt, types }: StreamStatus, replica: string): object {
  const { variant, api } = method;
  return { id, service: serviceName(method), variant, api, peer, replica, openedAt, types };
}
