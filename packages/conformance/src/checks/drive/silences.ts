import type { ServerPeer } from "../../peer/peer.js";
import { hold } from "../../verdicts/verdicts.js";
import type { ProtocolVariant, ReceivedResponse } from "../../wire/messages.js";
import { typeUrlOf } from "../../wire/type-words.js";
import type { XdsStream } from "../../wire/xds-stream.js";
import type { CheckBody } from "../contract/check.js";
import { documents } from "../contract/documents.js";
import { begin, clustersInSync, comesChanged, lastOf, resourceIn, streamInSync, withClusters } from "./driving.js";

const cluster = typeUrlOf("cluster");

/** Neither the one nor the other is told, and then a change of `a` is. */
async function onlyA(peer: ServerPeer, stream: XdsStream): Promise<void> {
  const a = lastOf(stream, cluster, "a")!;
  await peer.set(withClusters({ b: 2 }));
  const answer = await stream.comes();
  const isOfB = (response: ReceivedResponse) => resourceIn(response, "b") !== undefined;
  hold(!answer.some(isOfB), "a change of b came");
  for (const response of answer) stream.ack(response);
  await peer.set(withClusters({ a: 2, b: 2 }));
  await comesChanged(stream, cluster, "a", a.body);
}

/** Changes that a client must not be told. */
export function silenceChecks(variant: ProtocolVariant): readonly CheckBody[] {
  const isSotw = variant === "sotw";
  return [
    {
      id: `${variant}-unchanged-silent`,
      says: "A configuration that is applied again and changes nothing is not sent.",
      because: "The management server should only send updates when the resources have changed.",
      link: documents.updates,
      level: "SHOULD",
      async run(peer) {
        const stream = await clustersInSync(peer, variant);
        await begin(peer);
        await stream.silent();
      },
    },
    {
      id: `${variant}-other-changes-silent`,
      says: "A client that asked for one cluster is not told of changes of another one.",
      because: "The server sends resources that the client has subscribed to.",
      link: documents.overview,
      level: "SHOULD",
      async run(peer) {
        await begin(peer);
        await onlyA(peer, await streamInSync(peer, variant, "cluster", ["a"], "by name"));
      },
    },
    {
      id: `${variant}-unsubscribed-silent`,
      says: "A client that dropped a name is not told of its changes.",
      because: "Unsubscribing is done by a request without the name, or with resource_names_unsubscribe.",
      link: documents.unsubscribing,
      level: "SHOULD",
      async run(peer) {
        await begin(peer);
        const stream = await streamInSync(peer, variant, "cluster", ["a", "b"], "by name");
        stream.drop(stream.received(cluster).at(-1)!, ["a"], ["b"]);
        await stream.acceptRest();
        await onlyA(peer, stream);
      },
    },
    {
      id: `${variant}-wildcard-ended`,
      says: "A client that had everything, and then asks for one name only, is told of changes of that one alone.",
      because:
        "Server interprets this as unsubscribing to *. But it can also send updates for resources that the client has " +
        "not subscribed to.",
      link: documents.names,
      level: "SHOULD",
      async run(peer) {
        const stream = await clustersInSync(peer, variant);
        if (isSotw) stream.ack(stream.received(cluster).at(-1)!, { names: ["a"] });
        else {
          stream.ask(cluster, ["a"]);
          await stream.acceptRest();
          stream.send({ type: cluster, unsubscribe: ["*"] });
        }
        await stream.acceptRest();
        await onlyA(peer, stream);
      },
    },
  ];
}
