import assert from "node:assert/strict";
import type { ResourceType } from "@xdskit/api";
import type { StatusCode } from "@xdskit/protocol";
import type { PollAnswer, PollHandler, PollTransport } from "../../contracts/poll-transport.js";
import type { Accept, Call, CallHandler, Refusal, ServedService, Transport } from "../../contracts/transport.js";
import type { XdsServer } from "../../contracts/xds-server.js";
import { type Evidence, noEvidence } from "../../identity/evidence.js";

/** The doors of a server, as a transport gets them. */
export interface Doors {
  readonly accept: Accept;
  readonly services: readonly ServedService[];
  readonly polls: PollHandler;
}

export async function doorsOf(made: XdsServer): Promise<Doors> {
  let doors: Omit<Doors, "polls"> | undefined;
  let polls: PollHandler | undefined;
  const transport: Transport = {
    async listen(address, accept, services) {
      doors = { accept, services };
      return address;
    },
    async close() {},
  };
  await made.listenOn(transport, "here");
  const ofPolls: PollTransport = {
    async listen(address, handler) {
      polls = handler;
      return address;
    },
    async close() {},
  };
  await made.pollOn(ofPolls, "here");
  if (doors === undefined || polls === undefined) assert.fail("nothing listens");
  return { ...doors, polls };
}

export interface Called {
  readonly sent: Uint8Array[];
  ended: { readonly code: StatusCode; readonly message: string } | undefined;
  send(bytes: Uint8Array): void;
  close(): void;
}

/** Calls a method as gRPC does, with a token. */
export function callOf(open: (call: Call) => CallHandler | Refusal, token: string | undefined, unary: boolean): Called {
  const evidence = evidenceOf(token);
  const called: Called = { sent: [], ended: undefined, send() {}, close() {} };
  const call: Call = {
    peer: "10.0.0.1:1",
    evidence,
    send(body, tail) {
      called.sent.push(Buffer.concat([body, tail ?? new Uint8Array()]));
      return true;
    },
    end(code, message) {
      called.ended ??= { code, message };
    },
  };
  const handler = open(call);
  if ("code" in handler) called.ended = handler;
  else {
    called.send = (bytes) => {
      if (called.ended === undefined) handler.received(bytes);
      if (unary && called.ended === undefined) handler.finished();
    };
    called.close = () => handler.closed();
  }
  return called;
}

/**
 * Until nothing is left to do: a token is verified, and turns of streams come. What must be refused is waited for,
 * since a busy machine takes its time for a token; whatever is sent before that ends the wait.
 */
export async function settle(called: Called, isRefused = false): Promise<void> {
  const turns = isRefused ? 20_000 : 200;
  for (let turn = 0; turn < turns && called.ended === undefined && called.sent.length === 0; turn++)
    await new Promise((resolve) => setTimeout(resolve, 1));
}

/** Polls as REST does, with a token. */
export async function pollOf(
  polls: PollHandler,
  token: string | undefined,
  type: ResourceType,
  json: unknown,
): Promise<PollAnswer> {
  const connection = { peer: "10.0.0.1:1", address: "10.0.0.1", open: true };
  const call = { api: "v3", type, path: `/v3/discovery:${type.name}`, json, bytes: 100, connection } as const;
  return await new Promise((resolve) => void polls.poll({ ...call, evidence: evidenceOf(token) }, resolve));
}

function evidenceOf(token: string | undefined): () => Evidence {
  const authorization = token === undefined ? undefined : `Bearer ${token}`;
  return () => ({ ...noEvidence, authorization, address: "10.0.0.1" });
}
