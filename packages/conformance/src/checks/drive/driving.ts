import { baseWorld, type World } from "../../driver/driven-content.js";
import type { ServerPeer } from "../../peer/peer.js";
import type { ProtocolVariant, ReceivedResponse, ResponseResource } from "../../wire/messages.js";
import { typeNamed } from "../../wire/type-words.js";
import type { XdsStream } from "../../wire/xds-stream.js";

/** Has the server serve the base world, except for what is said. */
export async function begin(peer: ServerPeer, changed: Partial<World> = {}): Promise<void> {
  await peer.set({ ...baseWorld, ...changed });
}

/** The base world, with these clusters changed or added: their contents. */
export const withClusters = (contents: World["clusters"]): World => ({
  ...baseWorld,
  clusters: { ...baseWorld.clusters, ...contents },
});

/** A stream that has accepted the clusters of the base world by their wildcard, and is quiet. */
export const allClusters = (peer: ServerPeer, variant: ProtocolVariant): Promise<XdsStream> =>
  streamInSync(peer, variant, "cluster", Object.keys(baseWorld.clusters), "wildcard");

/** The same, and the server was given the base world first. */
export async function clustersInSync(peer: ServerPeer, variant: ProtocolVariant): Promise<XdsStream> {
  await begin(peer);
  return await allClusters(peer, variant);
}

/** A stream that has accepted these names of a type, or these of its wildcard, and is quiet. */
export async function streamInSync(
  peer: ServerPeer,
  variant: ProtocolVariant,
  word: string,
  names: readonly string[],
  how: "by name" | "wildcard",
): Promise<XdsStream> {
  const { typeUrl } = typeNamed(word);
  const stream = peer.asking(variant, typeUrl, how === "wildcard" ? [] : names);
  await stream.gather(typeUrl, names);
  await stream.acceptRest();
  return stream;
}

/** A resource of a response. */
export function resourceIn({ resources }: ReceivedResponse, name: string): ResponseResource | undefined {
  return resources.find((resource) => resource.name === name);
}

/** Accepts responses of a type until one is as it must be. Throws Failed if none is. */
export async function comesWith(
  stream: XdsStream,
  type: string,
  isDue: (response: ReceivedResponse) => boolean,
): Promise<ReceivedResponse> {
  for (;;) {
    const response = await stream.next(type);
    stream.ack(response);
    if (isDue(response)) return response;
  }
}

/** The last content of a resource that a stream got; undefined if none came. */
export function lastOf(stream: XdsStream, type: string, name: string): ResponseResource | undefined {
  return stream
    .received(type)
    .map((response) => resourceIn(response, name))
    .findLast((resource) => resource !== undefined);
}

/** Accepts responses until the resource has another content than it had. Throws Failed if it does not come. */
export function comesChanged(
  stream: XdsStream,
  type: string,
  name: string,
  before: Uint8Array,
): Promise<ReceivedResponse> {
  return comesWith(stream, type, (response) => {
    const now = resourceIn(response, name);
    return now !== undefined && Buffer.compare(now.body, before) !== 0;
  });
}
