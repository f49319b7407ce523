import type { CheckedStream } from "../../client/checked-stream.js";
import { contentFor, namesAsked } from "../../client/client-content.js";
import type { ClientPeer } from "../../client/client-peer.js";
import { pause } from "../../verdicts/bounds.js";
import { nameList } from "../../verdicts/names.js";
import { hold, Skipped } from "../../verdicts/verdicts.js";
import type { SentRequest } from "../../wire/messages.js";
import { type Check, type CheckBody, checksOf } from "../contract/check.js";
import { documents } from "../contract/documents.js";
import { accepted, answerTo, type Begun, begun, brokenBody, brokenFor, unavailable } from "./answering.js";
import { fallbackChecks } from "./fallback.js";
import { followingChecks } from "./following.js";
import { clientStatusChecks } from "./status.js";

/**
 * A client that opens more streams than these is no client that waits. Meanwhile we make twice as many attempts
 * ourselves, and take ten seconds at least: on a machine that is busy, one that does not wait is slow as well.
 */
const mostAttempts = 20;
const [ownAttempts, everyMs] = [40, 250];

/** The client has accepted a first response, and rejected a second one that nobody can read. */
async function rejected(client: ClientPeer): Promise<Begun & { readonly answer: SentRequest }> {
  const { stream, request } = await accepted(client);
  return { stream, request, answer: await rejection(stream, request) };
}

/** The answer to a response that nobody can read. */
function rejection(stream: CheckedStream, request: SentRequest): Promise<SentRequest> {
  return answerTo(stream, stream.send(request.type, "v2", brokenFor(request)));
}

function isNack({ error }: SentRequest): void {
  hold(error !== undefined, "the answer has no error_detail");
}

function needsNames({ variant }: CheckedStream): void {
  if (variant === "delta") throw new Skipped("the client uses delta");
}

/** Throws Failed if the answer lacks a name of the request. */
function repeatsNames(request: SentRequest, answer: SentRequest, what: string): void {
  const dropped = namesAsked(request).filter((name) => !namesAsked(answer).includes(name));
  hold(dropped.length === 0, `${what} does not name ${nameList(dropped)}`);
}

const bodies: readonly CheckBody<ClientPeer>[] = [
  {
    id: "client-node",
    says: "The first request of a stream says the node.",
    because: "Each xDS stream begins with a request which specifies the node identifier.",
    link: documents.overview,
    async run(client) {
      await client.start();
      const stream = await client.stream();
      hold((await stream.next("a first request")).node !== undefined, "the first request has no node");
    },
  },
  {
    id: "client-ack",
    says: "The client answers a response that it takes with its nonce, in SotW with its version, and without an error.",
    because: "ACK signifies successful configuration update and contains the version_info from the response.",
    link: documents.nack,
    async run(client) {
      const { stream, answer } = await accepted(client);
      if (stream.variant === "sotw")
        hold(answer.version === "v1", `its version_info is ${JSON.stringify(answer.version)}`);
    },
  },
  {
    id: "client-ack-names",
    says: "An ACK of SotW repeats the names.",
    because: "The client must specify all resource names it is interested in with each request.",
    link: documents.names,
    async run(client) {
      const { stream, request, answer } = await accepted(client);
      needsNames(stream);
      repeatsNames(request, answer, "the ACK");
    },
  },
  {
    id: "client-nack",
    says: "The client answers a response that it cannot read with its nonce and an error, and does not claim its version.",
    because: "NACK signifies unsuccessful configuration and is indicated by the presence of the error_detail field.",
    link: documents.nack,
    async run(client) {
      const { answer } = await rejected(client);
      isNack(answer);
      hold(answer.version !== "v2", "the answer has the version that it rejects");
    },
  },
  {
    id: "client-nack-names",
    says: "A NACK of SotW repeats the names.",
    because: "The client must specify all resource names it is interested in with each request.",
    link: documents.names,
    async run(client) {
      const { stream, request } = await accepted(client);
      needsNames(stream);
      const answer = await rejection(stream, request);
      isNack(answer);
      repeatsNames(request, answer, "the NACK");
    },
  },
  {
    id: "client-nack-in-part",
    says: "The client rejects a response of which it cannot read one resource, and can read the others.",
    because: "The protocol requires NACKs to be done on a per-response basis instead of a per-resource basis.",
    link: documents.nackInPart,
    async run(client) {
      const { stream, request } = await begun(client);
      const named = namesAsked(request).filter((name) => name !== "*");
      if (named.length === 1) throw new Skipped("the client asks for one resource");
      const names = named.length === 0 ? ["a", "b"] : named;
      const content = contentFor({ ...request, names });
      const broken = content.map((one, index) => (index === 0 ? one : { ...one, body: brokenBody }));
      isNack(await answerTo(stream, stream.send(request.type, "v1", broken)));
    },
  },
  {
    id: "client-ack-after-nack",
    says: "After a NACK the client takes the next response that is right.",
    because: "After a NACK, an API update may succeed at a new version.",
    link: documents.versions,
    async run(client) {
      const { stream, request } = await rejected(client);
      const answer = await answerTo(stream, stream.send(request.type, "v3", contentFor(request)));
      hold(answer.error === undefined, `the client rejected the response: ${answer.error}`);
    },
  },
  {
    id: "client-reconnect",
    says: "When a stream ends, the client opens another one, and says its node and its names, and no nonce.",
    because: "The nonce is valid only in the context of an individual xDS stream.",
    link: documents.overview,
    async run(client) {
      const { stream, request } = await accepted(client);
      stream.end(unavailable);
      const next = await client.stream();
      const first = await next.next("a first request");
      hold(first.node !== undefined, "the first request of the new stream has no node");
      const isSame = ({ type }: SentRequest) => type === request.type;
      const again = isSame(first) ? first : await next.next("a request for the same type", isSame);
      hold((again.nonce ?? "") === "", "the new stream has a nonce of the old one");
      const lacks = namesAsked(request).filter((name) => name !== "*" && !namesAsked(again).includes(name));
      hold(lacks.length === 0, `the new stream does not name ${nameList(lacks)}`);
    },
  },
  {
    id: "client-reconnect-version",
    says: "A new stream says what the client had on the old one.",
    because: "The client's initial request on the new stream should indicate the most recent version it has seen.",
    link: documents.versions,
    level: "SHOULD",
    async run(client) {
      const { stream, request } = await accepted(client);
      stream.end(unavailable);
      const next = await client.stream();
      const again = await next.next("a request for the same type", ({ type }) => type === request.type);
      const versions = stream.variant === "sotw" ? [again.version] : Object.values(again.initial ?? {});
      hold(versions.length > 0 && versions.every((version) => version === "v1"), `it says ${JSON.stringify(versions)}`);
    },
  },
  {
    id: "client-backoff",
    says: "A client whose streams fail waits before it tries again.",
    because:
      "If the stream fails without a response, the client must use exponential backoff. That is gRPC's document.",
    link: documents.failures,
    level: "SHOULD",
    async run(client) {
      await client.start();
      const begun = Date.now();
      (await client.stream()).end(unavailable);
      let isOver = false;
      // At once, so that the client's own wait is seen, and not ours.
      const endAll = async () => {
        while (!isOver)
          await client
            .stream(everyMs)
            .then((stream) => stream.end(unavailable))
            .catch(() => {});
      };
      const ending = endAll();
      const isDue = () => client.opened <= mostAttempts && Date.now() < begun + client.bounds.checkMs / 2;
      for (let own = 0; own < ownAttempts && isDue(); own++) {
        await Promise.all([client.attempt(), pause(everyMs)]);
      }
      isOver = true;
      await ending;
      const seen = `the client opened ${client.opened} streams in ${Date.now() - begun} ms`;
      hold(client.opened <= mostAttempts, seen);
      return seen;
    },
  },
];

/** All checks of clients. */
export const clientChecks: readonly Check<ClientPeer>[] = checksOf("client", "2026-12", [
  ...bodies,
  ...followingChecks,
  ...fallbackChecks,
  ...clientStatusChecks,
]);
