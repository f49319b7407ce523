import assert from "node:assert/strict";
import { constants, connect as http2Connect } from "node:http2";
import { connect } from "node:net";
import { describe, it } from "node:test";
import { resourceTypes } from "@xdskit/api";
import type { Method } from "../../contracts/transport.js";
import { createTcpProxy } from "../../testing/basics/tcp-proxy.js";
import { waitFor, within } from "../../testing/basics/wait-for.js";
import { grpcClient, type RawClient } from "../../testing/clients/raw-client.js";
import { sotw } from "../../testing/clients/xds-client.js";
import { ads, openStreams, perType, urlOf, withServer } from "../../testing/running-server.js";
import { cluster } from "../../testing/test-resources.js";

const node = { id: "n1" };
const typeUrl = urlOf("cluster");
const methods: readonly Method[] = [
  ads("sotw", "v3"),
  ads("delta", "v3"),
  ads("sotw", "v2"),
  ads("delta", "v2"),
  perType("sotw", "endpoint"),
  perType("delta", "listener"),
  { ...perType("sotw", "cluster"), unary: true },
];

/** Asserts that the server still serves. */
async function serves(client: RawClient): Promise<void> {
  const raw = client.open(ads("sotw"));
  const stream = sotw(raw);
  stream.send({ node, typeUrl });
  assert.ok((await stream.next()).resources.length > 0);
  raw.finish();
  assert.equal((await within("the end", raw.status)).code, 0);
}

describe("a server under abuse", () => {
  it("a server lives on and forgets the streams of connections that are reset in the middle of 200 streams", () =>
    withServer({}, async ({ server, client, address }) => {
      server.config.set([cluster("a", "x".repeat(100_000))]);
      const proxy = await createTcpProxy(address);
      const victim = grpcClient(resourceTypes, proxy.address);
      for (let index = 0; index < 200; index++) {
        const stream = victim.open(methods[index % 4]!);
        if (index % 4 === 0) sotw(stream).send({ node, typeUrl });
        else stream.send(Uint8Array.of(0x0a, 0xff));
      }
      await waitFor("answers on their way", () => server.stats().types.some(({ responses }) => responses >= 10));
      proxy.reset();
      server.config.set([cluster("a", "y".repeat(100_000))]);
      await waitFor("no stream", () => openStreams(server) === 0);
      const { nodes, streams, groups } = server.stats();
      assert.deepEqual([nodes, groups[0]?.streams], [0, 0]);
      assert.ok(streams.every(({ behind }) => behind === 0));
      victim.close();
      await proxy.close();
      await serves(client);
    }));

  it("keepalive ends the streams of a client that left without closing its connection", () =>
    withServer({ keepalive: { intervalMs: 100, timeoutMs: 1_500 } }, async ({ server, address, client }) => {
      server.config.set([cluster("a")]);
      const proxy = await createTcpProxy(address);
      const victim = grpcClient(resourceTypes, proxy.address);
      const stream = sotw(victim.open(ads("sotw")));
      stream.send({ node, typeUrl });
      await stream.next();
      // Answered pings keep it open. The test itself may be held up for a while: an answer has longer than that.
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      assert.equal(openStreams(server), 1);
      proxy.swallow();
      await waitFor("no stream", () => openStreams(server) === 0);
      victim.close();
      await proxy.close();
      await serves(client);
    }));

  it("a server lives on when it gets bytes that are not gRPC, not HTTP/2, or none of its methods", () =>
    withServer({}, async ({ server, client, address }) => {
      server.config.set([cluster("a")]);
      const [host = "", port = ""] = address.split(":");
      for (const garbage of [
        "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "\0\xff".repeat(1_000),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nxxxxxxxxxx",
      ]) {
        await within(
          "the server to hang up",
          new Promise<void>((resolve) => {
            const socket = connect(Number(port), host, () => socket.end(garbage, "latin1"));
            socket.on("error", () => {});
            socket.on("close", () => resolve());
            socket.resume();
          }),
        );
      }
      const ask = (path: string, frames: Buffer, headers: Record<string, string> = {}) =>
        within(
          `an answer to ${path}`,
          new Promise<Record<string, unknown>>((resolve) => {
            const session = http2Connect(`http://${address}`);
            const request = session.request({
              ":method": "POST",
              ":path": path,
              "content-type": "application/grpc",
              te: "trailers",
              ...headers,
            });
            const said: Record<string, unknown> = {};
            request.on("response", (answer) => Object.assign(said, answer));
            request.on("trailers", (trailers) => Object.assign(said, trailers));
            request.on("error", () => {});
            request.resume();
            request.on("close", () => {
              session.destroy();
              resolve(said);
            });
            request.end(frames);
          }),
        );
      const adsPath = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
      const frame = (flag: number, length: number, ...bytes: number[]) =>
        Buffer.from([flag, 0, 0, 0, length, ...bytes]);
      assert.equal((await ask("/envoy.service.discovery.v3.Nothing/Stream", frame(0, 0)))["grpc-status"], "12");
      assert.equal(
        (await ask(adsPath, frame(0, 0), { "content-type": "text/html" }))[constants.HTTP2_HEADER_STATUS],
        415,
      );
      // A message of no bytes has no node; the others are cut off, or claim a compression that they do not have.
      assert.equal((await ask(adsPath, frame(0, 0)))["grpc-status"], "3");
      assert.equal((await ask(adsPath, frame(0, 50, 1, 2, 3)))["grpc-status"], "13");
      assert.equal((await ask(adsPath, frame(1, 3, 1, 2, 3), { "grpc-encoding": "gzip" }))["grpc-status"], "13");
      assert.equal((await ask(adsPath, frame(1, 3, 1, 2, 3), { "grpc-encoding": "lzma" }))["grpc-status"], "12");
      assert.equal((await ask(adsPath, Buffer.from([0, 0xff, 0xff, 0xff, 0xff])))["grpc-status"], "8");
      assert.equal((await ask(adsPath, frame(0, 0), { "grpc-timeout": "soon" }))["grpc-status"], "13");
      await waitFor("no stream", () => openStreams(server) === 0);
      await serves(client);
    }));
});
