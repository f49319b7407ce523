import assert from "node:assert/strict";
import { connect } from "node:http2";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { queryObjects } from "node:v8";
import { create, toBinary } from "@bufbuild/protobuf";
import { resourceTypes } from "@xdskit/api";
import { DiscoveryRequestSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { flag, frame, frameType } from "../../../../grpc-server/src/frames/frames.js";
import { http2Error } from "../../../../grpc-server/src/frames/http2-errors.js";
import { noSettings, uint32 } from "../../../../grpc-server/src/testing/http2-bench.js";
import {
  headBlock,
  headOf,
  messageOn,
  type RawHttp2,
  rawHttp2,
} from "../../../../grpc-server/src/testing/raw-http2.js";
import { createServer } from "../../create-server.js";
import { patienceMs, waitFor } from "../../testing/basics/wait-for.js";
import { grpcClient } from "../../testing/clients/raw-client.js";
import { type SotwStream, sotw } from "../../testing/clients/xds-client.js";
import { ads, openStreams, type Running, urlOf, withServer } from "../../testing/running-server.js";
import { cluster } from "../../testing/test-resources.js";

const typeUrl = urlOf("cluster");
const path = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
const first = toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { node: { id: "bad" }, typeUrl }));
const ping = frame(frameType.ping, 0, 0, Buffer.alloc(8));
const { enhanceYourCalm, flowControlError } = http2Error;

/** An attack: its first frames, its repeated frames for each stream, and the error that must end it. */
interface Attack {
  readonly before?: readonly Uint8Array[];
  /** Many frames of it make one write. */
  readonly again: (stream: number) => readonly Uint8Array[];
  readonly ends: number;
  /** True if the server keeps something while the attack goes on. */
  readonly leaves?: true;
}

const attacks: Readonly<Record<string, Attack>> = {
  "PING (CVE-2019-9512)": { again: () => [ping], ends: enhanceYourCalm },
  "SETTINGS (CVE-2019-9515)": { again: () => [noSettings], ends: enhanceYourCalm },
  "streams that are opened and reset at once (CVE-2023-44487)": {
    again: (id) => [headOf(path, id), frame(frameType.rstStream, 0, id, uint32(8))],
    ends: enhanceYourCalm,
  },
  "streams that are ended, so that they are answered, and reset at once": {
    again: (id) => [
      headOf(path, id),
      frame(frameType.data, flag.endStream, id, Buffer.alloc(0)),
      frame(frameType.rstStream, 0, id, uint32(8)),
    ],
    ends: enhanceYourCalm,
  },
  "streams that are asked something and reset at once": {
    again: (id) => [headOf(path, id), messageOn(id, first), frame(frameType.rstStream, 0, id, uint32(8))],
    leaves: true,
    ends: enhanceYourCalm,
  },
  "CONTINUATION without end (CVE-2024-27316)": {
    before: [frame(frameType.headers, 0, 1, headBlock(path))],
    again: () => [frame(frameType.continuation, 0, 1, Buffer.alloc(0))],
    leaves: true,
    ends: enhanceYourCalm,
  },
  "empty DATA (CVE-2019-9518)": {
    before: [headOf(path, 1)],
    again: () => [frame(frameType.data, 0, 1, Buffer.alloc(0))],
    ends: enhanceYourCalm,
  },
  "WINDOW_UPDATE by one": {
    before: [headOf(path, 1)],
    again: () => [frame(frameType.windowUpdate, 0, 1, uint32(1)), frame(frameType.windowUpdate, 0, 0, uint32(1))],
    ends: enhanceYourCalm,
  },
  "WINDOW_UPDATE beyond what a window may be": {
    again: () => [frame(frameType.windowUpdate, 0, 0, uint32(2 ** 30))],
    ends: flowControlError,
  },
  "WINDOW_UPDATE by nothing, each of which ends a stream (CVE-2025-8671)": {
    again: (id) => [headOf(path, id), frame(frameType.windowUpdate, 0, id, uint32(0))],
    ends: enhanceYourCalm,
  },
  PRIORITY: { again: (id) => [frame(frameType.priority, 0, id, Buffer.alloc(5))], ends: enhanceYourCalm },
  "frames that nobody knows": { again: () => [frame(77, 0, 0, Buffer.alloc(100))], ends: enhanceYourCalm },
};

/** Sends until the connection is ended; returns how often the frames were repeated. */
async function flood(address: string, { before = [], again }: Attack): Promise<{ times: number; client: RawHttp2 }> {
  const client = await rawHttp2(address);
  await client.send(...before);
  let times = 0;
  let stream = before.length > 0 ? 3 : 1;
  const end = Date.now() + patienceMs;
  for (let open = true; open && Date.now() < end; ) {
    const batch: Uint8Array[] = [];
    for (let index = 0; index < 500; index++, stream += 2) batch.push(...again(stream));
    times += 500;
    open = await client.send(...batch);
  }
  await client.closed();
  return { times, client };
}

/** A well-behaved client on a connection of its own. It must get each change whatever others do. */
async function healthy({
  server,
  client,
}: Pick<Running, "server" | "client">): Promise<{ told(change: string): Promise<void> }> {
  const stream: SotwStream = sotw(client.open(ads("sotw")));
  server.config.set([cluster("a", "first")]);
  stream.send({ node: { id: "good" }, typeUrl });
  await stream.next();
  return {
    async told(change) {
      server.config.set([cluster("a", change)]);
      const { resources, nonce, versionInfo } = await stream.next();
      stream.send({ typeUrl, responseNonce: nonce, versionInfo });
      assert.ok(Buffer.from(resources[0]?.value ?? []).includes(change), change);
    },
  };
}

/** How many objects are reachable, once the number no longer falls: the ends of connections take some turns. */
async function objectsInUse(): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (;;) {
    // This collects garbage first.
    const now = queryObjects(Object, { format: "count" });
    if (now >= least) return least;
    least = now;
    await sleep(10);
  }
}

describe("an attack that ends its own connection, while other clients are served:", () => {
  for (const [name, attack] of Object.entries(attacks)) {
    it(name, () =>
      withServer({}, async (running) => {
        const { server, address } = running;
        const good = await healthy(running);
        const flooding = flood(address, attack);
        for (let change = 0; change < 5; change++) await good.told(`during ${change}`);
        const { client } = await flooding;
        assert.equal(client.goAway, attack.ends);
        await good.told("afterwards");
        // The good client's stream is left.
        await waitFor("no stream of the attacker", () => openStreams(server) === 1);
      }),
    );
  }

  it("PING of one that does not read the answers", () =>
    withServer({}, async (running) => {
      const good = await healthy(running);
      const client = await rawHttp2(running.address);
      client.reading(false);
      const batch = Buffer.concat(Array(1_000).fill(ping));
      // 64 kB of answers beyond what the kernel takes; it takes some megabytes, and each ping there is one of the
      // budget, too.
      for (let sent = 0; sent < 200 && (await client.send(batch)); sent++) if (sent < 5) await good.told(`${sent}`);
      client.reading(true);
      await client.closed();
      assert.ok(client.isClosed);
      await good.told("afterwards");
    }));

  it("streams that Node's own client opens and cancels", () =>
    withServer({}, async (running) => {
      const { server, address } = running;
      const good = await healthy(running);
      const session = connect(`http://${address}`);
      let code: number | undefined;
      session.on("error", () => {});
      session.on("goaway", (said) => {
        code = said;
      });
      for (let batch = 0; batch < 500 && !session.destroyed && !session.closed; batch++) {
        for (let index = 0; index < 200 && !session.destroyed && !session.closed; index++) {
          const cancel = new AbortController();
          const request = session.request(
            { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" },
            { signal: cancel.signal },
          );
          request.on("error", () => {});
          // Not `close`, which ends the request first: after 10,000 answers on streams that it has reset, Node 22's
          // client ends the connection itself.
          cancel.abort();
        }
        await new Promise(setImmediate);
        if (batch % 5 === 0) await good.told(`${batch}`);
      }
      await waitFor("GOAWAY", () => code !== undefined);
      assert.equal(code, enhanceYourCalm);
      session.destroy();
      await good.told("afterwards");
      await waitFor("no stream of the attacker", () => openStreams(server) === 1);
    }));
});

describe("a head in pieces", () => {
  const pieces = (count: number) => {
    const block = headBlock(path);
    const cut = (index: number) =>
      block.subarray(Math.floor((block.length * index) / count), Math.floor((block.length * (index + 1)) / count));
    return Array.from({ length: count }, (_, index) => {
      const flags = index === count - 1 ? flag.endHeaders : 0;
      return frame(index === 0 ? frameType.headers : frameType.continuation, flags, 1, cut(index));
    });
  };

  it("is read in 32 CONTINUATIONs", () =>
    withServer({}, async ({ server, address }) => {
      server.config.set([cluster("a")]);
      const client = await rawHttp2(address);
      await client.send(...pieces(33), messageOn(1, first));
      await waitFor("an answer", () => client.dataOf(1).length > 0);
      client.end();
    }));

  // Clients cut at 16 kB, and a head may have 32 kB: three pieces. A client that makes more pieces wants to keep the
  // server busy.
  it("is refused in more", () =>
    withServer({}, async ({ address }) => {
      const client = await rawHttp2(address);
      await client.send(...pieces(34), messageOn(1, first));
      await client.closed();
      assert.equal(client.goAway, enhanceYourCalm);
    }));
});

it("attackers leave nothing behind: after one more of each there are as many objects as before", async () => {
  // Nothing records events: that alone would take memory.
  const server = createServer();
  const { grpc: address } = await server.listen({ grpc: "127.0.0.1:0" });
  const client = grpcClient(resourceTypes, address);
  const some = Object.values(attacks).filter(({ leaves }) => leaves);
  const good = await healthy({ server, client });
  /** How many objects there are after one more of each. */
  async function round(): Promise<number> {
    for (const attack of some) await flood(address, attack);
    await waitFor("no stream of the attackers", () => openStreams(server) === 1);
    await good.told("this");
    await good.told("that");
    return objectsInUse();
  }
  try {
    // Objects that are made once stay.
    const before = await round();
    const after = await round();
    // One of the attacks opens 2,000 streams before it is ended.
    assert.ok(after - before < 500, `${before} objects, then ${after}`);
  } finally {
    client.close();
    await server.close({ timeoutMs: 500 });
  }
});
