import type { CheckedStream } from "../../client/checked-stream.js";
import { contentFor } from "../../client/client-content.js";
import type { ClientPeer } from "../../client/client-peer.js";
import { hold } from "../../verdicts/verdicts.js";
import type { ReceivedResponse, SentRequest } from "../../wire/messages.js";
import { typeUrlOf } from "../../wire/type-words.js";

/** A status of gRPC. */
export const unavailable = 14;
/** A field of a wire type that there is not. There are parsers that take a string which ends too early. */
export const brokenBody = Uint8Array.of(0xa7, 0x06);
export const known = new Set(["cluster", "listener", "endpoint", "route"].map(typeUrlOf));

export interface Begun {
  readonly stream: CheckedStream;
  readonly request: SentRequest;
}

/** The first stream, and its first request for a type that there are resources of. */
export async function begun(client: ClientPeer): Promise<Begun> {
  await client.start();
  const stream = await client.stream();
  return { stream, request: await firstRequest(stream) };
}

/** The first request for a type that there are resources of. */
export const firstRequest = (stream: CheckedStream): Promise<SentRequest> =>
  stream.next("a first request", ({ type }) => known.has(type));

/** What a request asks for, and no client can read. */
export const brokenFor = (request: SentRequest) => contentFor(request).map(({ name }) => ({ name, body: brokenBody }));

export const answerTo = (stream: CheckedStream, { type, nonce }: ReceivedResponse): Promise<SentRequest> =>
  stream.next("an answer to the response", (request) => request.type === type && request.nonce === nonce);

/** The client has accepted a first response. */
export async function accepted(
  client: ClientPeer,
): Promise<Begun & { readonly answer: SentRequest; readonly response: ReceivedResponse }> {
  const { stream, request } = await begun(client);
  return { stream, request, ...(await acceptedFirst(stream, request)) };
}

/** The client accepts what is sent for the first request of a stream. */
export async function acceptedFirst(
  stream: CheckedStream,
  request: SentRequest,
): Promise<{ readonly answer: SentRequest; readonly response: ReceivedResponse }> {
  const response = stream.send(request.type, "v1", contentFor(request));
  const answer = await answerTo(stream, response);
  hold(answer.error === undefined, `the client rejected the response: ${answer.error}`);
  return { response, answer };
}
