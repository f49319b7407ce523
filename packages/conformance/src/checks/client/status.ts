import { ClientResourceStatus } from "@xdskit/api/envoy/admin/v3/config_dump_shared";
import { routelessListeners } from "../../client/client-content.js";
import type { ClientPeer } from "../../client/client-peer.js";
import { pause } from "../../verdicts/bounds.js";
import { Failed, hold } from "../../verdicts/verdicts.js";
import { typeUrlOf } from "../../wire/type-words.js";
import type { CheckBody } from "../contract/check.js";
import { documents } from "../contract/documents.js";
import { accepted, answerTo, begun, brokenFor } from "./answering.js";

/** A client may not take a resource for missing before, and should do so by then: the document says 15 s. */
const [earliestMs, latestMs] = [10_000, 25_000];
const everyMs = 250;
/** How long its own picture may lag behind what it says on the wire. */
const lagMs = 3_000;

/** What the client says of its resources of a type. */
async function statusesOf(client: ClientPeer, type: string): Promise<readonly ClientResourceStatus[]> {
  const configs = (await client.status()).flatMap(({ genericXdsConfigs }) => genericXdsConfigs);
  return configs.filter(({ typeUrl }) => typeUrl === type).map(({ clientStatus }) => clientStatus);
}

/** Throws Failed if the client does not come to say this. */
async function becomes(client: ClientPeer, type: string, due: ClientResourceStatus): Promise<void> {
  const end = Date.now() + lagMs;
  for (;;) {
    const statuses = await statusesOf(client, type);
    if (statuses.includes(due)) return;
    const reported = statuses.map((status) => ClientResourceStatus[status]).join(", ") || "nothing";
    if (Date.now() > end) throw new Failed(`the client says ${reported}`);
    await pause(everyMs);
  }
}

/** What clients say of themselves (CSDS). */
export const clientStatusChecks: readonly CheckBody<ClientPeer>[] = [
  {
    id: "client-status-acked",
    says: "A client that serves its status says ACKED of what it has accepted.",
    because: "CLIENT_ACKED: client received the config and replied with ACK.",
    link: documents.status,
    async run(client) {
      const { request } = await accepted(client);
      await becomes(client, request.type, ClientResourceStatus.ACKED);
    },
  },
  {
    id: "client-status-nacked",
    says: "It says NACKED of what it has rejected.",
    because: "CLIENT_NACKED: client received the config and replied with NACK.",
    link: documents.status,
    async run(client) {
      const { stream, request } = await accepted(client);
      // What cannot be read has no name; a listener without routes has one.
      const isListener = request.type === typeUrlOf("listener");
      const wrong = isListener ? routelessListeners(request) : brokenFor(request);
      const answer = await answerTo(stream, stream.send(request.type, "v2", wrong));
      hold(answer.error !== undefined, "the client accepted what is wrong");
      await becomes(client, request.type, ClientResourceStatus.NACKED);
    },
  },
  {
    id: "client-timer",
    says: "A resource that does not come for 15 seconds does not exist for the client; before, it may still come.",
    because: "Clients are recommended to use a timeout of 15 seconds after they send the request.",
    link: documents.absence,
    level: "SHOULD",
    async run(client) {
      const { request } = await begun(client);
      const begunAt = Date.now();
      for (;;) {
        const askedMs = Date.now() - begunAt;
        const isMissing = (await statusesOf(client, request.type)).includes(ClientResourceStatus.DOES_NOT_EXIST);
        const elapsedMs = Date.now() - begunAt;
        if (isMissing) {
          hold(elapsedMs > earliestMs, `it does not exist for the client after ${elapsedMs} ms`);
          return;
        }
        if (askedMs > latestMs) throw new Failed(`the client says nothing of that within ${latestMs} ms`);
        await pause(everyMs);
      }
    },
  },
];
