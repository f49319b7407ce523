import type { Existing } from "../../peer/found-names.js";
import type { ServerPeer } from "../../peer/peer.js";
import { hold } from "../../verdicts/verdicts.js";
import type { ProtocolVariant } from "../../wire/messages.js";
import type { Picture, XdsStream } from "../../wire/xds-stream.js";
import type { CheckBody } from "../contract/check.js";
import { documents } from "../contract/documents.js";
import { allThere, namesIn, sameNames } from "./differences.js";
import { missingName } from "./names.js";
import { oneAsked } from "./openings.js";

/** A version, or a nonce, that no server has made. */
const unknown = "xds-conformance-unknown";

/** A second stream of a client whose first one ends: that one had all of a wildcard, or one name of a type. */
async function reconnecting(
  peer: ServerPeer,
  variant: ProtocolVariant,
  one?: Existing,
): Promise<Picture & Existing & { readonly stream: XdsStream }> {
  const { type, names } = one ?? peer.content.wildcard(1);
  const asked = one === undefined ? undefined : names.slice(0, 1);
  const [old, stream] = [peer.open(variant), peer.open(variant)];
  old.ask(type, asked);
  const had = await old.gather(type, asked);
  old.cancel();
  return { type, names, stream, ...had };
}

/** A new stream of a client that was connected before, in both variants. */
export function reconnectChecks(variant: ProtocolVariant): readonly CheckBody[] {
  return [
    {
      id: `${variant}-reconnect-old-nonce`,
      says: "A nonce of another stream in a first request does not keep it from being answered.",
      because: "The nonce is valid only in the context of an individual xDS stream.",
      link: documents.overview,
      async run(peer) {
        const { type, stream, last } = await reconnecting(peer, variant);
        stream.send({ type, nonce: last.nonce });
        await stream.next(type);
      },
    },
    {
      id: `${variant}-unknown-nonce`,
      says: "A nonce that the server never made does not end the stream, and the next request is answered.",
      because: "The response_nonce says which response a request is about. No sentence is about one that nobody made.",
      link: documents.nack,
      level: "SHOULD",
      async run(peer) {
        const { type, first, second, stream } = oneAsked(peer, variant);
        const response = await stream.next(type);
        if (variant === "sotw") stream.send({ type, version: response.version, nonce: unknown, names: [first] });
        else stream.send({ type, nonce: unknown });
        let last = response;
        for (const more of await stream.comes()) last = more;
        stream.ack(last, stream.adding([first], [second]));
        await stream.gather(type, [second]);
      },
    },
  ];
}

/** Versions and nonces of SotW. */
export const sotwReconnectChecks: readonly CheckBody[] = [
  {
    id: "sotw-reconnect-current",
    says: "A client that reconnects to a wildcard with the current version gets nothing, or everything.",
    because: "Servers may decide to optimize by not resending resources. A response holds the complete state.",
    link: documents.versions,
    async run(peer) {
      const { type, names, stream, last } = await reconnecting(peer, "sotw");
      stream.send({ type, version: last.version });
      const responses = await stream.comes();
      for (const response of responses) sameNames("the answer", namesIn([response]), names);
      return responses.length === 0 ? "the server sends nothing" : "the server sends everything again";
    },
  },
  {
    id: "sotw-reconnect-unknown-version",
    says: "A client that reconnects with a version that the server does not know gets everything.",
    because: "The server sends the resources that have changed since the version that the client has seen.",
    link: documents.overview,
    async run(peer) {
      const { type, names } = peer.content.wildcard(1);
      const stream = peer.open("sotw");
      stream.send({ type, version: unknown });
      sameNames("the answer", (await stream.gather(type)).resources.keys(), names);
    },
  },
  {
    id: "sotw-reconnect-another-name",
    says: "A client that reconnects with the current version and a name that it did not have gets that resource.",
    because: "Only if servers know that the client is not subscribing to a new resource may they send nothing.",
    link: documents.versions,
    async run(peer) {
      const { type, names, stream, last } = await reconnecting(peer, "sotw", peer.content.any(2));
      stream.send({ type, version: last.version, names: names.slice(0, 2) });
      await stream.gather(type, names.slice(1, 2));
    },
  },
  {
    id: "sotw-stale-nonce",
    says: "A request with a stale nonce is not answered.",
    because: "The management server should not send a DiscoveryResponse for a request that has a stale nonce.",
    link: documents.hints,
    level: "SHOULD",
    async run(peer) {
      const { type, first, second, stream } = oneAsked(peer, "sotw");
      const stale = await stream.next(type);
      stream.ack(stale, { names: [first, second] });
      await stream.gather(type, [second]);
      await stream.comes();
      stream.send({ type, version: stale.version, nonce: stale.nonce, names: [first] });
      await stream.silent();
    },
  },
  {
    id: "sotw-full-state",
    says: "A response of clusters or listeners has all that the client asked for, also what it has already.",
    because: "The server must include the complete state of the world, even what did not change.",
    link: documents.grouping,
    async run(peer) {
      const { type, first, second, stream } = oneAsked(peer, "sotw", peer.content.wildcard(2));
      const { last } = await stream.gather(type, [first]);
      stream.ack(last, { names: [first, second] });
      allThere("the answer to a second name", namesIn([await stream.next(type)]), [first, second]);
    },
  },
];

/** Versions of resources that a delta client says it has. */
export const deltaReconnectChecks: readonly CheckBody[] = [
  {
    id: "delta-reconnect-current",
    says: "What a reconnecting client has in its current version is not sent again under a wildcard.",
    because: "The client may tell its known resources to avoid resending them over the network.",
    link: documents.delta,
    level: "SHOULD",
    async run(peer) {
      const { type, stream, resources } = await reconnecting(peer, "delta");
      stream.send({ type, initial: versionsOf(resources) });
      sameNames("the answer", namesIn(await stream.comes()), []);
    },
  },
  {
    id: "delta-reconnect-old-version",
    says: "What a reconnecting client has in another version is sent.",
    because: "The client tells its known resources to avoid resending them. This one it does not know.",
    link: documents.delta,
    async run(peer) {
      const { type, names, stream, resources } = await reconnecting(peer, "delta");
      const [name = ""] = names;
      stream.send({ type, initial: { ...versionsOf(resources), [name]: unknown } });
      hold((await stream.gather(type, [name])).resources.has(name), `${name} was told as removed`);
    },
  },
  {
    id: "delta-reconnect-deleted",
    says: "A resource that a reconnecting client has, and that does not exist any more, is told as removed.",
    because: "The server signals that a resource should be deleted via the removed_resources field.",
    link: documents.deleting,
    async run(peer) {
      const { type, stream, resources } = await reconnecting(peer, "delta");
      stream.send({ type, initial: { ...versionsOf(resources), [missingName]: unknown } });
      hold((await stream.gather(type, [missingName])).removed.has(missingName), "a resource of that name came");
    },
  },
  {
    id: "delta-initial-is-no-subscription",
    says: "A version that a client says it has does not subscribe to that resource.",
    because: "The reconnecting client must provide the server with all resource names it is interested in.",
    link: documents.delta,
    level: "SHOULD",
    async run(peer) {
      const { type, names } = peer.content.any(2);
      const [first = "", second = ""] = names;
      const stream = peer.open("delta");
      stream.send({ type, subscribe: [first], initial: { [second]: unknown } });
      sameNames("the answer", namesIn(await stream.answer(type)), [first]);
    },
  },
];

function versionsOf(resources: ReadonlyMap<string, { readonly version: string }>): Record<string, string> {
  return Object.fromEntries([...resources].map(([name, { version }]) => [name, version]));
}
