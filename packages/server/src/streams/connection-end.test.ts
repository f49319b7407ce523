import assert from "node:assert/strict";
import { describe, it, mock } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { flag } from "../../../grpc-server/src/frames/frames.js";
import { noSettings, preface } from "../../../grpc-server/src/testing/http2-bench.js";
import { headOf, messageOn, type RawHttp2, rawHttp2 } from "../../../grpc-server/src/testing/raw-http2.js";
import { patienceMs, waitFor, within } from "../testing/basics/wait-for.js";
import { openStreams, urlOf, withServer } from "../testing/running-server.js";
import { cluster } from "../testing/test-resources.js";

const typeUrl = urlOf("cluster");
const first = toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { node: { id: "n1" }, typeUrl }));
const ads = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
const fetch = "/envoy.service.cluster.v3.ClusterDiscoveryService/FetchClusters";

/** The number of resources in the first message on a stream. */
function resourcesOf(client: RawHttp2, stream = 1): number {
  const bytes = client.dataOf(stream);
  const length = bytes.length < 5 ? 0 : bytes.readUInt32BE(1);
  return fromBinary(DiscoveryResponseSchema, bytes.subarray(5, 5 + length)).resources.length;
}

describe("a client that closes its half of the TCP connection", () => {
  const cases: readonly (readonly [what: string, path: string, flags: number])[] = [
    ["behind a unary request", fetch, flag.endStream],
    ["behind the request of a stream that it half-closed", ads, flag.endStream],
    ["behind the request of a stream that it left open", ads, 0],
  ];
  for (const [what, path, flags] of cases) {
    it(`a client that closes its half ${what} is answered, and the connection ends`, () =>
      withServer({}, async ({ server, address }) => {
        server.config.set([cluster("a"), cluster("b")]);
        const client = await rawHttp2(address);
        void client.send(headOf(path, 1), messageOn(1, first, flags));
        client.socket.end();
        await client.closed();
        assert.equal(resourcesOf(client), 2);
        // It did not end its open stream, and may have had the answer before it closed.
        if (flags !== 0) assert.match(client.trailersOf(1), /grpc-status.*0/s);
        assert.equal(openStreams(server), 0);
      }));
  }

  it("a client that closes its half is answered even if it waits for its turn among many", () =>
    withServer({}, async ({ server, address }) => {
      server.config.set(Array.from({ length: 50 }, (_, index) => cluster(`c${index}`)));
      const clients = await Promise.all(Array.from({ length: 200 }, () => rawHttp2(address, { handshake: false })));
      const path = [fetch, ads] as const;
      for (const [index, { socket }] of clients.entries()) {
        const request = [headOf(path[index % 2] ?? "", 1), messageOn(1, first, flag.endStream)];
        socket.end(Buffer.concat([preface, noSettings, ...request]));
      }
      for (const client of clients) await client.closed();
      assert.equal(clients.filter((client) => resourcesOf(client) === 50).length, clients.length);
      assert.equal(openStreams(server), 0);
    }));

  it("a client that closes its half after its first answer is gone at once, with its streams", () =>
    withServer({}, async ({ server, address }) => {
      server.config.set([cluster("a")]);
      const client = await rawHttp2(address);
      await client.send(headOf(ads, 1), messageOn(1, first));
      await waitFor("an answer", () => client.dataOf(1).length > 0);
      client.socket.end();
      await client.closed();
      await waitFor("no stream", () => openStreams(server) === 0);
      assert.equal(client.goAway, undefined);
    }));

  it("a client that came back with everything and closes its half is gone at once, though it was sent nothing", () =>
    withServer({}, async ({ server, address, events }) => {
      server.config.set([cluster("a"), cluster("b")]);
      const stream = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";
      const request = (had: Record<string, string>) =>
        messageOn(
          1,
          toBinary(
            DeltaDiscoveryRequestSchema,
            create(DeltaDiscoveryRequestSchema, { node: { id: "n1" }, typeUrl, initialResourceVersions: had }),
          ),
        );
      const before = await rawHttp2(address);
      await before.send(headOf(stream, 1), request({}));
      await waitFor("an answer", () => before.dataOf(1).length > 0);
      const { resources } = fromBinary(DeltaDiscoveryResponseSchema, before.dataOf(1).subarray(5));
      before.end();
      const client = await rawHttp2(address);
      await client.send(
        headOf(stream, 1),
        request(Object.fromEntries(resources.map((had) => [had.name, had.version]))),
      );
      await waitFor("its stream to have all", () => events.some(({ kind }) => kind === "synced"));
      assert.equal(client.dataOf(1).length, 0);
      client.socket.end();
      await client.closed();
      await waitFor("no stream", () => openStreams(server) === 0);
      assert.equal(client.goAway, undefined);
      assert.equal(client.trailersOf(1), "");
    }));

  it("the server does not wait for ever for a client that closes its half and never reads the rest", () =>
    withServer({}, async ({ server, address }) => {
      server.config.set([cluster("a", "x".repeat(500_000))]);
      const client = await rawHttp2(address);
      await client.send(headOf(ads, 1), messageOn(1, first, flag.endStream));
      await waitFor("what its window takes", () => client.dataOf(1).length === 65_535);
      mock.timers.enable({ apis: ["setTimeout"] });
      try {
        client.socket.end();
        // The server is told in a separate turn, and then waits ten seconds.
        for (const bound = Date.now() + patienceMs; !client.isClosed && Date.now() < bound; ) {
          mock.timers.tick(10_000);
          await new Promise(setImmediate);
        }
        assert.ok(client.isClosed);
      } finally {
        mock.timers.reset();
      }
      await waitFor("no stream", () => openStreams(server) === 0);
    }));
});

describe("a server that closes", () => {
  it("a server that closes waits for no client without a stream that is silent and does not close its half", () =>
    withServer({}, async ({ server, address }) => {
      server.config.set([cluster("a")]);
      const idle = await rawHttp2(address);
      const stranger = await rawHttp2(address, { handshake: false });
      const busy = await rawHttp2(address);
      // The client does not answer the end of the connection.
      for (const { socket } of [idle, stranger, busy]) socket.removeAllListeners("end");
      await busy.send(headOf(ads, 1), messageOn(1, first));
      await waitFor("an answer", () => busy.dataOf(1).length > 0 && idle.frames.length > 0);
      mock.timers.enable({ apis: ["setTimeout"] });
      try {
        let isClosed = false;
        const closing = server.close({ timeoutMs: 300_000 }).then(() => {
          isClosed = true;
        });
        const bound = Date.now() + patienceMs;
        // Three seconds in all, which is less than any of its clients may take.
        for (let turn = 0; !isClosed && Date.now() < bound; turn++) {
          await new Promise(setImmediate);
          if (turn < 30) mock.timers.tick(100);
        }
        assert.ok(isClosed, "it waits for them");
        await closing;
      } finally {
        mock.timers.reset();
      }
      await waitFor("GOAWAY", () => idle.goAway === 0 && busy.goAway === 0);
      assert.match(busy.trailersOf(1), /grpc-status.*0/s);
      for (const client of [idle, stranger, busy]) client.end();
    }));

  it("a server that closes ends a half-received call, and then the connection", () =>
    withServer({}, async ({ server, address }) => {
      server.config.set([cluster("a")]);
      const client = await rawHttp2(address);
      const request = messageOn(1, first, flag.endStream);
      // Half of a message, so that the call exists and cannot be answered.
      await client.send(headOf(fetch, 1), request.subarray(0, 20));
      await waitFor("the connection", () => client.frames.length >= 2);
      const closing = server.close({ timeoutMs: 300_000 });
      await waitFor("GOAWAY", () => client.goAway === 0);
      await client.send(request.subarray(20));
      await within("the server", closing);
      await client.closed();
      assert.match(client.trailersOf(1), /grpc-status.*14/s);
    }));
});

describe("a connection that may be silent for longer than Node's timers know", () => {
  it("a connection that may be silent for very long is pinged no sooner", () =>
    withServer({ keepalive: { intervalMs: 2 ** 32, timeoutMs: 2 ** 32 } }, async ({ server, address }) => {
      const warnings: string[] = [];
      const note = ({ name }: Error) => warnings.push(name);
      process.on("warning", note);
      try {
        server.config.set([cluster("a")]);
        const client = await rawHttp2(address);
        await client.send(headOf(ads, 1), messageOn(1, first));
        await waitFor("an answer", () => client.dataOf(1).length > 0);
        assert.deepEqual(warnings, []);
        client.end();
      } finally {
        process.off("warning", note);
      }
    }));
});

describe("a connection that becomes too old", () => {
  it("a connection that becomes too old says so, lets its streams go on for a while, and ends them with OK", () =>
    withServer({ keepalive: { maxAgeMs: 300, maxAgeGraceMs: 300 } }, async ({ server, address }) => {
      server.config.set([cluster("a")]);
      const client = await rawHttp2(address);
      await client.send(headOf(ads, 1), messageOn(1, first));
      await client.closed();
      assert.equal(client.goAway, 0);
      assert.equal(resourcesOf(client), 1);
      assert.match(client.trailersOf(1), /grpc-status.*0/s);
      await waitFor("no stream", () => openStreams(server) === 0);
      const next = await rawHttp2(address);
      await next.send(headOf(ads, 1), messageOn(1, first));
      await waitFor("an answer", () => next.dataOf(1).length > 0);
      next.end();
    }));
});

describe("clients that are asked to go", () => {
  it("clients that are asked to go get GOAWAY, have the grace for their streams, and are asked once", () =>
    withServer({ keepalive: { maxAgeGraceMs: 200 } }, async ({ server, address }) => {
      server.config.set([cluster("a")]);
      const clients = [await rawHttp2(address), await rawHttp2(address), await rawHttp2(address)];
      for (const client of clients) {
        await client.send(headOf(ads, 1), messageOn(1, first));
        await waitFor("an answer", () => client.dataOf(1).length > 0);
      }
      assert.equal(server.connections(), 3);
      assert.equal(server.askToGo(2), 2);
      assert.equal(server.connections(), 1);
      await waitFor("GOAWAY", () => clients.filter(({ goAway }) => goAway === 0).length === 2);
      const asked = clients.filter(({ goAway }) => goAway === 0);
      const [stayed] = clients.filter((client) => !asked.includes(client));
      for (const client of asked) {
        await client.closed();
        assert.match(client.trailersOf(1), /grpc-status.*0/s);
      }
      assert.equal(openStreams(server), 1);
      assert.equal(server.askToGo(5), 1);
      assert.equal(server.askToGo(5), 0);
      await stayed?.closed();
    }));
});
