import type { CheckedStream } from "../../client/checked-stream.js";
import { contentFor } from "../../client/client-content.js";
import type { ClientPeer } from "../../client/client-peer.js";
import { hold, needed } from "../../verdicts/verdicts.js";
import type { CheckBody } from "../contract/check.js";
import { documents } from "../contract/documents.js";
import { acceptedFirst, answerTo, firstRequest } from "./answering.js";

/** The client's stream to the second server, while the first one is away. It has accepted a response there. */
async function fallenBack(client: ClientPeer): Promise<CheckedStream> {
  await client.start("away");
  const stream = await client.second.stream(2 * client.bounds.answerMs);
  const request = await firstRequest(stream);
  hold(request.node !== undefined, "the first request has no node");
  hold((request.nonce ?? "") === "", "the first request has a nonce");
  await acceptedFirst(stream, request);
  return stream;
}

/** Clients that know several servers. */
export const fallbackChecks: readonly CheckBody<ClientPeer>[] = [
  {
    id: "client-fallback",
    says: "A client with two servers, of which the first is away, asks the second one.",
    because: "If the client cannot reach the primary and lacks a resource, it falls back. Not all clients can.",
    link: documents.fallback,
    level: "either",
    async run(client) {
      await fallenBack(client);
    },
  },
  {
    id: "client-fallback-returns",
    says: "A client that has fallen back returns to the first server once that is there.",
    because: "The client continues to try the primary, and when it is back, stops using the fallback.",
    link: documents.fallback,
    level: "SHOULD",
    async run(client) {
      await needed(() => fallenBack(client), "the client does not use a second server");
      await client.restore();
      // Clients wait before they try a server again, the longer the more often they have tried.
      const stream = await client.stream(5 * client.bounds.answerMs);
      const request = await firstRequest(stream);
      await answerTo(stream, stream.send(request.type, "v2", contentFor(request)));
    },
  },
];
