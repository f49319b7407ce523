import { baseWorld, type World } from "../../driver/driven-content.js";
import type { ServerPeer } from "../../peer/peer.js";
import type { ProtocolVariant } from "../../wire/messages.js";
import { typeUrlOf } from "../../wire/type-words.js";
import type { XdsStream } from "../../wire/xds-stream.js";
import type { CheckBody } from "../contract/check.js";
import { documents } from "../contract/documents.js";
import { comesChanged, comesWith, lastOf, resourceIn, streamInSync } from "./driving.js";

const endpoint = typeUrlOf("endpoint");
/** 75 kB: more than HTTP/2 lets a server send to a client that does not read. */
const manyEndpoints = 3_000;
const contents = [2, 3, 4];

/** The endpoints of `a`, which are many. */
function worldOf(content: number): World {
  const lbEndpoints = Array.from({ length: manyEndpoints }, (_, index) => {
    const address = `10.0.${index >> 8}.${index & 0xff}`;
    return { endpoint: { address: { socketAddress: { address, portValue: 20_000 + content } } } };
  });
  return { ...baseWorld, more: { [endpoint]: { a: { clusterName: "a", endpoints: [{ lbEndpoints }] } } } };
}

/** A client that reads nothing from its first answer on, while another one is told of changes: that one. */
async function beside(peer: ServerPeer, variant: ProtocolVariant) {
  await peer.set(worldOf(1));
  const { stream: stalled, readOn } = peer.stalled(variant);
  stalled.ask(endpoint, ["a"]);
  // The server has read it.
  await stalled.comes();
  const stream = await streamInSync(peer, variant, "endpoint", ["a"], "by name");
  for (const content of contents) {
    const before = lastOf(stream, endpoint, "a")!.body;
    await peer.set(worldOf(content));
    await comesChanged(stream, endpoint, "a", before);
  }
  return { stalled, readOn, last: lastOf(stream, endpoint, "a")!.body };
}

/** Clients that do not read. */
export function stalledChecks(variant: ProtocolVariant): readonly CheckBody[] {
  return [
    {
      id: `${variant}-stalled-others-updated`,
      says: "A client that does not read does not keep others from being told of changes.",
      because: "The management server must supply the requested resources if they exist, whatever others do.",
      link: documents.names,
      level: "SHOULD",
      async run(peer) {
        await beside(peer, variant);
      },
    },
    {
      id: `${variant}-stalled-catches-up`,
      says: "A client that did not read, and reads again, comes to what is served now, or its stream ends.",
      because: "Envoy's xDS APIs are eventually consistent. A client whose stream ends asks again.",
      link: documents.ordering,
      async run(peer) {
        const { stalled, readOn, last } = await beside(peer, variant);
        readOn();
        return await caughtUp(stalled, last);
      },
    },
  ];
}

async function caughtUp(stream: XdsStream, last: Uint8Array): Promise<string | undefined> {
  try {
    await comesWith(stream, endpoint, (one) => Buffer.compare(resourceIn(one, "a")?.body ?? Buffer.of(), last) === 0);
    return undefined;
  } catch (error) {
    if (stream.end === undefined) throw error;
    return `the server ends the stream with status ${stream.end.code}`;
  }
}
