import { baseWorld } from "../../driver/driven-content.js";
import type { ServerPeer } from "../../peer/peer.js";
import type { ProtocolVariant, ResponseResource, SentRequest } from "../../wire/messages.js";
import { typeUrlOf } from "../../wire/type-words.js";
import type { CheckBody } from "../contract/check.js";
import { documents } from "../contract/documents.js";
import {
  allClusters,
  begin,
  clustersInSync,
  comesChanged,
  comesWith,
  lastOf,
  resourceIn,
  withClusters,
} from "./driving.js";

const cluster = typeUrlOf("cluster");
const changedA = withClusters({ a: 2 });

/** A client whose stream has ended, after `begin`: what it had of `a`, and its `first` request on the next one. */
async function left(
  peer: ServerPeer,
  variant: ProtocolVariant,
): Promise<{ before: ResponseResource; first: SentRequest }> {
  const old = await allClusters(peer, variant);
  const versions = Object.keys(baseWorld.clusters).map((name) => [name, lastOf(old, cluster, name)!.version] as const);
  const { version } = old.received(cluster).at(-1)!;
  old.cancel();
  const has = variant === "sotw" ? { version } : { initial: Object.fromEntries(versions) };
  return { before: lastOf(old, cluster, "a")!, first: { type: cluster, ...has } };
}

/** Clients that reject, reconnect, or are not alone. */
export function clientChecks(variant: ProtocolVariant): readonly CheckBody[] {
  return [
    {
      id: `${variant}-update-after-nack`,
      says: "A client that rejected a version is sent the next one.",
      because: "After a NACK, an API update may succeed at a new version.",
      link: documents.versions,
      async run(peer) {
        const stream = await clustersInSync(peer, variant);
        const first = lastOf(stream, cluster, "a")!;
        await peer.set(changedA);
        let response = await stream.next(cluster);
        while (Buffer.compare(resourceIn(response, "a")?.body ?? first.body, first.body) === 0) {
          stream.ack(response);
          response = await stream.next(cluster);
        }
        stream.nack(response);
        // The server must have heard of it. Whether it sends the same again is another check's.
        for (const again of await stream.comes()) stream.nack(again);
        const rejected = resourceIn(response, "a")!.body;
        await peer.set(withClusters({ a: 3 }));
        for (;;) {
          const next = await stream.next(cluster);
          const body = resourceIn(next, "a")?.body;
          if (body !== undefined && Buffer.compare(body, rejected) !== 0) break;
          stream.nack(next);
        }
      },
    },
    {
      id: `${variant}-two-clients-updated`,
      says: "Two streams of one node are both told of a change.",
      because: "A client may use a stream for each resource.",
      link: documents.many,
      async run(peer) {
        const streams = [await clustersInSync(peer, variant), await allClusters(peer, variant)];
        const before = lastOf(streams[0]!, cluster, "a")!;
        await peer.set(changedA);
        for (const stream of streams) await comesChanged(stream, cluster, "a", before.body);
      },
    },
    {
      id: `${variant}-reconnect-after-change`,
      says: "A client that reconnects with what it had before a change is sent the change.",
      because: "The server sends the resources that have changed since the version that the client has seen.",
      link: documents.overview,
      async run(peer) {
        await begin(peer);
        const { before, first } = await left(peer, variant);
        await peer.set(changedA);
        const stream = peer.open(variant);
        stream.send(first);
        await comesChanged(stream, cluster, "a", before.body);
      },
    },
    {
      id: `${variant}-restarted`,
      says: "After a restart of the server, a client that reconnects with what it had gets later changes.",
      because: "The version for a resource type is a property of the resources, and not of a stream.",
      link: documents.versions,
      async run(peer) {
        await begin(peer);
        peer.needs("restart");
        const { before, first } = await left(peer, variant);
        peer.transcript.add("restart");
        await peer.driver.restart();
        peer.reconnect();
        const stream = peer.open(variant);
        stream.send(first);
        await stream.acceptRest();
        await peer.set(changedA);
        await comesChanged(stream, cluster, "a", before.body);
        const another = peer.asking(variant, cluster);
        await comesWith(another, cluster, (one) => resourceIn(one, "a") !== undefined);
      },
    },
  ];
}
