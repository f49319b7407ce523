import { hold } from "../../verdicts/verdicts.js";
import type { ProtocolVariant } from "../../wire/messages.js";
import type { CheckBody } from "../contract/check.js";
import { documents } from "../contract/documents.js";
import { endWords, twoAnswered } from "./openings.js";

/** HTTP/2 recommends that a server takes so many at a time, at least. */
const manyStreams = 100;
/** Envoy's node has some thousand extensions. */
const manyExtensions = 1_000;
/** More than the 4 MB that gRPC's servers take unless they are told otherwise. */
const largeRequest = 5 << 20;

/** Clients that ask for much. */
export function limitChecks(variant: ProtocolVariant): readonly CheckBody[] {
  return [
    {
      id: `${variant}-many-streams`,
      says: `A connection can have ${manyStreams} streams at a time, and each is answered.`,
      because: "A client may use a stream for each resource. HTTP/2 recommends no limit below 100 streams.",
      link: documents.http2Streams,
      level: "SHOULD",
      async run(peer) {
        const { type } = peer.content.wildcard(1);
        const streams = Array.from({ length: manyStreams }, () => peer.asking(variant, type));
        const answers = await Promise.allSettled(streams.map((stream) => stream.next(type)));
        const answered = answers.filter(({ status }) => status === "fulfilled").length;
        hold(answered === manyStreams, `${answered} of ${manyStreams} streams were answered`);
      },
    },
    {
      id: `${variant}-large-node`,
      says: `A node with ${manyExtensions} extensions is taken.`,
      because: "extensions: a list of extensions and their versions supported by the node. Envoy sends all of its own.",
      link: documents.node,
      level: "SHOULD",
      async run(peer) {
        const { type } = peer.content.wildcard(1);
        const extensions = Array.from({ length: manyExtensions }, (_, index) => ({
          $typeName: "envoy.config.core.v3.Extension" as const,
          name: `xds.conformance.extension.${index}`,
          category: "xds.conformance.category",
          typeDescriptor: "",
          disabled: false,
          typeUrls: [`xds.conformance.v3.Extension${index}`],
        }));
        const stream = peer.open(variant, { ...peer.node, extensions });
        stream.ask(type);
        await stream.next(type);
      },
    },
    {
      id: `${variant}-large-request`,
      says: "A request of 5 MB, which is more than gRPC's servers take by default, ends its own stream at most.",
      because: "Clients rely on it that one of them cannot end the streams of others. No sentence sets a limit.",
      link: documents.many,
      level: "SHOULD",
      async run(peer) {
        const { type } = peer.content.wildcard(1);
        const metadata = { "xds.conformance": "x".repeat(largeRequest) };
        const large = peer.open(variant, { ...peer.node, metadata });
        let isTaken = false;
        await twoAnswered(peer, variant, {}, async () => {
          large.ask(type);
          // So much takes its time.
          const end = Date.now() + peer.bounds.checkMs / 2;
          while (!isTaken && large.end === undefined && Date.now() < end) {
            isTaken = await large.next(type).then(
              () => true,
              () => false,
            );
          }
        });
        return isTaken ? "the server takes it" : endWords(large, "it is not answered");
      },
    },
  ];
}
