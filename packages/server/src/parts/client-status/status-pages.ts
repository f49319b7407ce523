import { inTurns } from "@xdskit/api";
import type { SourceTrouble } from "../../contracts/nodes/node-status.js";
import type { ClientStatusAsked, ClientStatusPage, StatusPeer } from "../../contracts/nodes/status-peers.js";
import { AnswerTooLarge, type StatusPart, type StatusSource, statusParts } from "./status-answer.js";
import { readStatusRequest } from "./status-request.js";

/** A page ends with the node that brings it to this many bytes. */
const pageBytes = 1024 * 1024;

/** The reports of the other servers of the store, and the servers that gave none. */
export interface PeersStatus {
  readonly parts: readonly (readonly StatusPart[])[];
  readonly troubles: readonly SourceTrouble[];
}

/** A page of this server's report for the others. Rejects with a reason for people. */
export async function statusPage(source: StatusSource, asked: ClientStatusAsked): Promise<ClientStatusPage> {
  const request = readStatusRequest(Buffer.from(asked.request, "base64"));
  if (typeof request === "string") throw new Error(request);
  const { parts, hasMore } = await inTurns(statusParts(source, request, { after: asked.after, bytes: pageBytes }));
  const nodes = parts.map(({ id, node, entries }) => ({
    id,
    node: Buffer.from(node).toString("base64"),
    entries: Buffer.concat(entries).toString("base64"),
  }));
  return { nodes, hasMore, troubles: hasMore ? [] : source.troubles() };
}

/** Asks all others at once, each page by page. Rejects with AnswerTooLarge, and for no other reason. */
export async function askStatusPeers(
  peers: readonly StatusPeer[],
  request: Uint8Array,
  maxBytes: number,
): Promise<PeersStatus> {
  const asked = Buffer.from(request).toString("base64");
  let bytes = 0;
  const parts: (readonly StatusPart[])[] = [];
  const troubles: SourceTrouble[] = [];
  const ask = async (peer: StatusPeer): Promise<void> => {
    const found: StatusPart[] = [];
    for (let after = ""; ; ) {
      const page = await peer.ask({ request: asked, after });
      for (const { id, node, entries } of page.nodes) {
        const part = { id, node: Buffer.from(node, "base64"), entries: [Buffer.from(entries, "base64")] };
        bytes += part.node.byteLength + (part.entries[0]?.byteLength ?? 0);
        found.push(part);
      }
      if (bytes > maxBytes) throw new AnswerTooLarge(`the answer has more than ${maxBytes} bytes: ask for fewer nodes`);
      const last = page.nodes.at(-1)?.id;
      if (page.hasMore && last !== undefined && last > after) {
        after = last;
        continue;
      }
      parts.push(found);
      troubles.push(...page.troubles);
      return;
    }
  };
  const asking = peers.map((peer) =>
    ask(peer).catch((error: Error) => {
      if (error instanceof AnswerTooLarge) throw error;
      troubles.push({ source: peer.name, kind: "silent", message: error.message });
    }),
  );
  await Promise.all(asking);
  return { parts, troubles };
}
