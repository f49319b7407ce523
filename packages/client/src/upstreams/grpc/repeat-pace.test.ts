import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { DiscoveryResponseSchema, ResourceSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { createClientWith } from "../../create-client.js";
import { manualClock } from "../../testing/manual-clock.js";
import { clusterUrl, oddCluster } from "../../testing/odd/odd-responses.js";
import { type ScriptedTransport, scriptedTransport } from "../../testing/scripted/scripted-transport.js";
import { settle } from "../../testing/settle.js";
import { createStreamUpstream } from "./stream-upstream.js";

/** A full state of one cluster. */
function fullState(version: string, ttl?: bigint): Uint8Array {
  const bare = anyPack(ClusterSchema, oddCluster("a", version));
  const wrapped = create(ResourceSchema, { name: "a", ttl: { seconds: ttl ?? 0n }, resource: bare });
  const resources = [ttl === undefined ? bare : anyPack(ResourceSchema, wrapped)];
  const response = { typeUrl: clusterUrl, versionInfo: version, nonce: "n", resources };
  return toBinary(DiscoveryResponseSchema, create(DiscoveryResponseSchema, response));
}

interface Tools {
  readonly clock: ReturnType<typeof manualClock>;
  readonly transport: ScriptedTransport;
  /** Contents that the watcher was told. */
  readonly told: string[];
  /** The server's responses wait here until the client reads them. */
  send(bytes: Uint8Array): Promise<void>;
  readonly unread: readonly Uint8Array[];
}

async function withServer(test: (tools: Tools) => Promise<void>): Promise<void> {
  const clock = manualClock();
  const transport = scriptedTransport(clock.now);
  const client = createClientWith({ servers: ["one:1"], node: { id: "me" }, clock }, (_, context, sink) =>
    createStreamUpstream({ server: "one:1", variant: "sotw", api: "v3", aggregated: true, transport }, context, sink),
  );
  const told: string[] = [];
  const unread: Uint8Array[] = [];
  client.watch(ClusterSchema, "*", {
    onChanged: ({ upserted }) => void told.push(...upserted.map(({ version }) => version)),
  });
  transport.last.opened();
  await settle();
  const send = async (bytes: Uint8Array) => {
    unread.push(bytes);
    while (transport.last.wanted > 0 && unread.length > 0) {
      transport.last.received(unread.shift() as Uint8Array);
      await settle();
    }
  };
  try {
    await test({ clock, transport, told, send, unread });
  } finally {
    const closed = client.close();
    for (const stream of transport.streams) stream.ended(0, "");
    await closed;
  }
}

describe("a server that repeats itself", () => {
  it("a server that repeats itself as fast as it can is read ever more slowly", () =>
    withServer(async ({ clock, transport, send, unread }) => {
      for (let count = 0; count < 1_000; count += 1) {
        await send(fullState("1"));
        clock.advance(10);
      }
      assert.ok(unread.length > 900, `${unread.length} are unread`);
      assert.equal(transport.last.isOver, false);
    }));

  it("a server that repeats itself fast, and is slow now and then, is read ever more slowly, too", () =>
    withServer(async ({ clock, send, unread }) => {
      for (let count = 0; count < 1_000; count += 1) {
        await send(fullState("1"));
        clock.advance(count % 15 === 0 ? 100 : 1);
      }
      assert.ok(unread.length > 900, `${unread.length} are unread`);
    }));

  it("a server that repeats itself at its own pace is read as before, and a change after that at once", () =>
    withServer(async ({ clock, told, send }) => {
      for (let count = 0; count < 100; count += 1) {
        await send(fullState("1"));
        clock.advance(250);
      }
      await send(fullState("2"));
      assert.deepEqual(told, ["1", "2"]);
    }));

  it("a heartbeat is read at once, however many came together (rule 130)", () =>
    withServer(async ({ told, send, unread }) => {
      for (let count = 0; count < 100; count += 1) await send(fullState("1", 10n));
      await send(fullState("2", 10n));
      assert.deepEqual([told, unread.length], [["1", "2"], 0]);
    }));
});
