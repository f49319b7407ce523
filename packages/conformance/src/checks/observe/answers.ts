import { Failed } from "../../verdicts/verdicts.js";
import type { ProtocolVariant, ReceivedResponse } from "../../wire/messages.js";
import { typeWord } from "../../wire/type-words.js";
import type { CheckBody } from "../contract/check.js";
import { documents } from "../contract/documents.js";
import { allAsked, oneAsked } from "./openings.js";

/** A server that answers so many rejections with the same resources goes on for ever. */
const rejections = 3;

/** Responses that need an answer: in SotW the last one supersedes the others. */
const toAnswer = (responses: readonly ReceivedResponse[]): readonly ReceivedResponse[] =>
  responses.at(-1)?.variant === "sotw" ? responses.slice(-1) : responses;

/** What a server does when a response is accepted, or rejected. */
export function answerChecks(variant: ProtocolVariant): readonly CheckBody[] {
  return [
    {
      id: `${variant}-ack-silent`,
      says: "After an ACK the server sends nothing until a resource changes.",
      because:
        "The management server should only send updates when the resources have changed. Every response is answered, " +
        "so a server that answers an ACK never stops.",
      link: documents.updates,
      async run(peer) {
        const { type, stream } = allAsked(peer, variant);
        for (const response of toAnswer(await stream.answer(type))) stream.ack(response);
        await stream.silent();
      },
    },
    {
      id: `${variant}-repeated-ack-silent`,
      says: "A repeated ACK is not answered.",
      because: "The client does not expect a DiscoveryResponse for every DiscoveryRequest that it issues.",
      link: documents.hints,
      level: "SHOULD",
      async run(peer) {
        const { type, stream } = allAsked(peer, variant);
        const responses = await stream.answer(type);
        for (const response of toAnswer(responses)) stream.ack(response);
        for (const response of toAnswer(responses)) stream.ack(response);
        await stream.silent();
      },
    },
    {
      id: `${variant}-nack-no-loop`,
      says: "A server does not send what was rejected again and again.",
      because: "The management server should only send updates when the resources have changed.",
      link: documents.updates,
      level: "SHOULD",
      async run(peer) {
        const { type, stream } = allAsked(peer, variant);
        let responses = await stream.answer(type);
        for (let count = 0; count < rejections; count++) {
          for (const response of toAnswer(responses)) stream.nack(response);
          responses = await stream.comes();
          if (responses.length === 0) return count === 0 ? undefined : `the server sent it ${count} times again`;
        }
        throw new Failed(`${rejections} rejections were each answered with what was rejected`);
      },
    },
    {
      id: `${variant}-nack-other-types`,
      says: "A rejection of one type does not keep other types from being answered, nor end the stream.",
      because: "Each resource type is treated as a separate logical stream within the aggregated stream.",
      link: documents.ads,
      async run(peer) {
        const [one, other] = peer.content.two();
        const stream = peer.asking(variant, one.type, one.names);
        stream.nack(await stream.next(one.type));
        stream.ask(other.type, other.names);
        await stream.next(other.type);
      },
    },
    {
      id: `${variant}-nack-with-names`,
      says: "A rejection that also asks for another name gets that resource.",
      because: "The server must resend any newly requested resources.",
      link: documents.names,
      async run(peer) {
        const { type, first, second, stream } = oneAsked(peer, variant);
        const response = await stream.next(type);
        stream.nack(response, stream.adding([first], [second]));
        await stream.gather(type, [second]);
      },
    },
    {
      id: `${variant}-answers-by-type`,
      says: "A request is about the last response of its type, whatever was sent of other types since.",
      because: "The resource type instance version is separate for each resource type.",
      link: documents.versions,
      async run(peer) {
        const { type, first, second, stream } = oneAsked(peer, variant);
        const other = peer.content.two().find((one) => one.type !== type)!;
        const response = await stream.next(type);
        stream.ask(other.type, other.names);
        stream.ack(await stream.next(other.type));
        stream.ack(response, stream.adding([first], [second]));
        await stream.gather(type, [second]);
        return `${typeWord(type)} after ${typeWord(other.type)}`;
      },
    },
  ];
}
