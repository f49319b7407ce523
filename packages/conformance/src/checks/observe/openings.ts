import type { Existing } from "../../peer/found-names.js";
import type { ServerPeer } from "../../peer/peer.js";
import type { ProtocolVariant, SentRequest } from "../../wire/messages.js";
import type { XdsStream } from "../../wire/xds-stream.js";

/** A stream that asked for all of a type that has a wildcard, and the names that there are. */
export function allAsked(peer: ServerPeer, variant: ProtocolVariant): Existing & { readonly stream: XdsStream } {
  const { type, names } = peer.content.wildcard(1);
  return { type, names, stream: peer.asking(variant, type) };
}

/** A stream that asked for the first of some names, by default for one of two. */
export function oneAsked(peer: ServerPeer, variant: ProtocolVariant, { type, names }: Existing = peer.content.any(2)) {
  const [first = "", second = ""] = names;
  return { type, first, second, stream: peer.asking(variant, type, [first]) };
}

/**
 * One type is asked for and answered, and then another one. `later`: what all but the first request say as well.
 * `between`: what is done beside the stream meanwhile.
 */
export async function twoAnswered(
  peer: ServerPeer,
  variant: ProtocolVariant,
  later: Partial<SentRequest> = {},
  between: () => Promise<void> = async () => {},
): Promise<void> {
  const [first, second] = peer.content.two();
  const stream = peer.asking(variant, first.type, first.names);
  stream.ack(await stream.next(first.type), later);
  await between();
  stream.ask(second.type, second.names, later);
  await stream.next(second.type);
}

/** How a stream ended, or that it did not, in words. */
export function endWords({ end }: XdsStream, otherwise: string): string {
  return end === undefined ? otherwise : `that stream ends with status ${end.code}`;
}
