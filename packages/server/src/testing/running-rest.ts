import assert from "node:assert/strict";
import type { ServerEvent } from "../contracts/events.js";
import type { PollAnswer } from "../contracts/poll-transport.js";
import type { ServerOptions } from "../contracts/server-options.js";
import type { XdsServer } from "../contracts/xds-server.js";
import { createServer } from "../create-server.js";
import { createMemoryPollTransport, type MemoryPollTransport } from "../transports/memory/memory-polls.js";
import { type RestClient, type RestJson, restClient } from "./clients/rest-client.js";

/** A server under test that takes polls. */
export interface RunningRest {
  readonly server: XdsServer;
  readonly client: RestClient;
  readonly address: string;
  readonly events: readonly ServerEvent[];
}

/** Longer than any test takes, for polls that must be parked. */
export const longHold = { holdMs: 60_000 };
export const shortHold = { holdMs: 20 };

/** Runs a test against a server that listens on REST; afterwards no poll may be left, and it must have had no fault. */
export async function withRest(options: ServerOptions, test: (running: RunningRest) => Promise<void>): Promise<void> {
  const { server, events } = start(options);
  const { rest: address } = await server.listen({ rest: "127.0.0.1:0" });
  const client = restClient(address);
  await run(server, events, () => test({ server, client, address, events }), client.close);
}

/** The same in memory. */
export async function withMemoryPolls(
  options: ServerOptions,
  test: (running: Omit<RunningRest, "client"> & { readonly transport: MemoryPollTransport }) => Promise<void>,
): Promise<void> {
  const { server, events } = start(options);
  const transport = createMemoryPollTransport();
  const address = await server.pollOn(transport, "here");
  await run(server, events, () => test({ server, transport, address, events }));
}

function start(options: ServerOptions) {
  const server = createServer(options);
  const events: ServerEvent[] = [];
  server.on((event) => events.push(event));
  return { server, events };
}

async function run(server: XdsServer, events: readonly ServerEvent[], test: () => Promise<void>, end = () => {}) {
  try {
    await test();
    assert.deepEqual(
      events.filter(({ kind }) => kind === "fault"),
      [],
    );
  } finally {
    end();
    await server.close({ timeoutMs: 500 });
  }
  assert.equal(parkedPolls(server), 0);
  assert.deepEqual(
    server.stats().groups.map(({ polls }) => polls),
    server.stats().groups.map(() => 0),
  );
}

/** The number of a server's polls in progress. */
export function parkedPolls(server: XdsServer): number {
  return server.stats().polls.reduce((sum, { parked }) => sum + parked, 0);
}

/** The parsed response in an answer; undefined for other answers. */
export function responseIn(answer: PollAnswer): RestJson | undefined {
  return answer.kind === "response" ? (JSON.parse(Buffer.from(answer.body.bytes).toString()) as RestJson) : undefined;
}
