import { contentFor } from "../../client/client-content.js";
import type { ClientPeer } from "../../client/client-peer.js";
import type { ClientStream } from "../../client/client-stream.js";
import { hold } from "../../verdicts/verdicts.js";
import type { Received, Request } from "../../wire/messages.js";
import { typeUrlOf } from "../../wire/type-words.js";

/** A status of gRPC. */
export const unavailable = 14;
/** A field of a wire type that there is not. There are parsers that take a string which ends too early. */
export const brokenBody = Uint8Array.of(0xa7, 0x06);
export const known = new Set(["cluster", "listener", "endpoint", "route"].map(typeUrlOf));

export interface Begun {
  readonly stream: ClientStream;
  readonly request: Request;
}

/** The first stream, and its first request for a type that there are resources of. */
export async function begun(client: ClientPeer): Promise<Begun> {
  await client.start();
  const stream = await client.stream();
  return { stream, request: await firstRequest(stream) };
}

/** The first request for a type that there are resources of. */
export const firstRequest = (stream: ClientStream): Promise<Request> =>
  stream.next("a first request", ({ type }) => known.has(type));

/** What a request asks for, and no client can read. */
export const brokenFor = (request: Request) => contentFor(request).map(({ name }) => ({ name, body: brokenBody }));

export const answerTo = (stream: ClientStream, { type, nonce }: Received): Promise<Request> =>
  stream.next("an answer to the response", (request) => request.type === type && request.nonce === nonce);

/** The client has accepted a first response. */
export async function accepted(
  client: ClientPeer,
): Promise<Begun & { readonly answer: Request; readonly response: Received }> {
  const { stream, request } = await begun(client);
  return { stream, request, ...(await acceptedFirst(stream, request)) };
}

/** The client accepts what is sent for the first request of a stream. */
export async function acceptedFirst(
  stream: ClientStream,
  request: Request,
): Promise<{ readonly answer: Request; readonly response: Received }> {
  const response = stream.send(request.type, "v1", contentFor(request));
  const answer = await answerTo(stream, response);
  hold(answer.error === undefined, `the client rejected the response: ${answer.error}`);
  return { response, answer };
}
