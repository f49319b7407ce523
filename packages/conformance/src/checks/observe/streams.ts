import { create } from "@bufbuild/protobuf";
import { NodeSchema } from "@xdskit/api/envoy/config/core/v3/base";
import { hold } from "../../verdicts/verdicts.js";
import type { ProtocolVariant } from "../../wire/messages.js";
import type { CheckBody } from "../contract/check.js";
import { documents } from "../contract/documents.js";
import { allAsked, endWords, twoAnswered } from "./openings.js";

/** A type that no server has. */
const noType = "type.googleapis.com/xds.conformance.NoSuchType";
/** A field that ends too early. */
const brokenMessage = Uint8Array.of(0x0a, 0x7f, 0x61);

const ok = 0;

/** What the node of a request means. */
export function nodeChecks(variant: ProtocolVariant): readonly CheckBody[] {
  return [
    {
      id: `${variant}-node-once`,
      says: "Only the first request of a stream needs a node.",
      because: "Only the first request on a stream is guaranteed to carry the node identifier.",
      link: documents.overview,
      async run(peer) {
        await twoAnswered(peer, variant);
      },
    },
    {
      id: `${variant}-node-repeated`,
      says: "A node that is repeated does no harm.",
      because: "The node identifier should always be identical if present more than once on the stream.",
      link: documents.overview,
      async run(peer) {
        await twoAnswered(peer, variant, { node: peer.node });
      },
    },
    {
      id: `${variant}-node-differs`,
      says: "A later node that differs from the first one changes nothing.",
      because: "It is sufficient to only check the first message for the node identifier.",
      link: documents.overview,
      level: "either",
      async run(peer) {
        await twoAnswered(peer, variant, { node: create(NodeSchema, { id: `${peer.node.id}-other` }) });
      },
    },
  ];
}

/** What a stream must live through, and how it ends. */
export function streamChecks(variant: ProtocolVariant): readonly CheckBody[] {
  return [
    {
      id: `${variant}-unknown-type`,
      says: "A request for a type that the server does not know does not keep others from being answered.",
      because: "Each resource type is treated as a separate logical stream within the aggregated stream.",
      link: documents.ads,
      level: "SHOULD",
      async run(peer) {
        const { type } = peer.content.wildcard(1);
        const stream = peer.asking(variant, noType, ["a"]);
        stream.ask(type);
        await stream.next(type);
      },
    },
    {
      id: `${variant}-ads-without-type`,
      says: "An aggregated request without a type URL is answered with no resources.",
      because: "The type_url is required for ADS. No sentence says what becomes of a request without it.",
      link: documents.request,
      level: "SHOULD",
      async run(peer) {
        const stream = peer.asking(variant, "");
        await peer.quiet();
        const answered = stream.taken().find(({ resources }) => resources.length > 0);
        hold(answered === undefined, `resources of ${answered?.type} came`);
        return endWords(stream, "the server says nothing");
      },
    },
    {
      id: `${variant}-two-streams`,
      says: "Two streams of one node are both answered.",
      because: "A client may use a stream for each resource.",
      link: documents.many,
      async run(peer) {
        const [first, second] = peer.content.two();
        const streams = [peer.open(variant), peer.open(variant)];
        for (const { type, names } of [first, second]) {
          for (const stream of streams) {
            stream.ask(type, names);
            stream.ack(await stream.next(type));
          }
        }
      },
    },
    {
      id: `${variant}-broken-bytes`,
      says: "Bytes that are no request end their own stream at most.",
      because: "Clients rely on it that one of them cannot end the streams of others. No sentence says so.",
      link: documents.overview,
      level: "SHOULD",
      async run(peer) {
        const broken = peer.open(variant);
        await twoAnswered(peer, variant, {}, async () => {
          broken.sendBytes(brokenMessage);
          await peer.quiet();
        });
        const { type, stream } = allAsked(peer, variant);
        await stream.next(type);
        return endWords(broken, "that stream goes on");
      },
    },
    {
      id: `${variant}-half-close`,
      says: "When the client ends its side, the server ends the stream with status OK.",
      because: "A stream whose client is done need not be kept.",
      link: documents.ads,
      level: "SHOULD",
      async run(peer) {
        const { type, stream } = allAsked(peer, variant);
        stream.ack(await stream.next(type));
        stream.finish();
        const { code, message } = await stream.ended();
        hold(code === ok, `the server ended the stream with status ${code} (${message})`);
      },
    },
  ];
}
