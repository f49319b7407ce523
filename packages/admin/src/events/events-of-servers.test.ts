import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { DiscoveryRequestSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { createMemoryTransport } from "@xdskit/server";
import type { PeerServer } from "../contract/peers.js";
import { EventReader } from "../testing/event-reader.js";
import { runningApi } from "../testing/running-api.js";

type Api = Awaited<ReturnType<typeof runningApi>>;

const typeUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

/** Another server as the first one asks it. */
function asPeer(api: Api): PeerServer {
  const ask = async (question: string, about: unknown) =>
    JSON.parse(JSON.stringify(await api.answers[question]?.(about as never)));
  return { name: "two", ask };
}

async function connect(api: Api, id: string): Promise<void> {
  const transport = createMemoryTransport();
  await api.server.listenOn(transport, "memory");
  const stream = transport.open("memory", { variant: "sotw", api: "v3", only: undefined, unary: false }, () => {});
  stream.send(toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { node: { id }, typeUrl })));
}

/** Waits until this many events of a kind came. */
async function count(reader: EventReader, event: string, wanted: number): Promise<void> {
  const found = () => reader.events.filter((one) => one.event === event).length;
  for (let tries = 0; found() < wanted; tries += 1) {
    assert.ok(tries < 2_000, `${found()} of ${wanted} ${event}: ${JSON.stringify(reader.events)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe("the events of several servers", () => {
  it("say where another server begins to be heard, is another one, and is gone", async () => {
    const peers: PeerServer[] = [];
    await using one = await runningApi({ peers: () => peers });
    await using two = await runningApi();
    await using restarted = await runningApi();
    await using reader = await EventReader.open(one.base);
    peers.push(asPeer(two));
    await count(reader, "reset", 1);
    await connect(two, "a");
    await count(reader, "node", 1);
    const [{ data } = assert.fail()] = reader.events.filter(({ event }) => event === "node");
    assert.deepEqual([data.node, data.replica], ["a", "two"]);
    // Under the same name, as a worker that was started again.
    peers[0] = asPeer(restarted);
    await connect(two, "unheard");
    await count(reader, "reset", 2);
    await connect(restarted, "b");
    await count(reader, "node", 3);
    peers.length = 0;
    await count(reader, "reset", 3);
    const kinds = reader.events.map(({ event, data: { node } }) => node ?? event);
    assert.deepEqual(kinds, ["reset", "a", "unheard", "reset", "b", "reset"]);
  });
});
