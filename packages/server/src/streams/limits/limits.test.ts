import assert from "node:assert/strict";
import { connect } from "node:http2";
import { describe, it } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { DiscoveryRequestSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { statusCode } from "@xdskit/protocol";
import { waitFor, within } from "../../testing/basics/wait-for.js";
import { delta, sotw } from "../../testing/clients/xds-client.js";
import { ads, openStreams, perType, urlOf, withMemoryServer, withServer } from "../../testing/running-server.js";
import { cluster } from "../../testing/test-resources.js";

const node = { id: "n1" };
const typeUrl = urlOf("cluster");

describe("limits", () => {
  it("the server ends the stream of a request that is too large, and no other (rule 162)", () =>
    withServer({ limits: { requestBytes: 10_000 } }, async ({ server, client }) => {
      server.config.set([cluster("a")]);
      const [good, bad] = [client.open(ads("sotw")), client.open(ads("sotw"))];
      const stream = sotw(good);
      stream.send({ node, typeUrl });
      await stream.next();
      sotw(bad).send({ node, typeUrl, resourceNames: ["x".repeat(20_000)] });
      assert.equal((await within("the end", bad.status)).code, statusCode.resourceExhausted);
      server.config.set([cluster("b")]);
      await stream.next();
      await waitFor("one stream", () => openStreams(server) === 1);
    }));

  it("the server takes Envoy's node and 100,000 names by default, and not one more", () =>
    withServer({}, async ({ server, client }) => {
      server.config.set([cluster("a")]);
      const names = Array.from({ length: 100_000 }, (_, index) => `${"cluster-".repeat(8)}${index}`);
      const raw = client.open(ads("delta"));
      const stream = delta(raw);
      const extensions = Array.from({ length: 600 }, (_, index) => ({ name: `${"extension.".repeat(9)}${index}` }));
      stream.send({ node: { ...node, extensions }, typeUrl: urlOf("endpoint"), resourceNamesSubscribe: names });
      assert.equal((await stream.next()).removedResources.length, 100_000);
      const more = client.open(ads("delta"));
      delta(more).send({ node, typeUrl: urlOf("endpoint"), resourceNamesSubscribe: [...names, "another"] });
      assert.equal((await within("the end", more.status)).code, statusCode.resourceExhausted);
    }));

  it("the server refuses too many names and too many types", () =>
    withServer({ limits: { namesPerRequest: 3, typesPerStream: 2 } }, async ({ server, client }) => {
      server.config.set([]);
      const many = client.open(ads("sotw"));
      sotw(many).send({ node, typeUrl, resourceNames: ["a", "b", "c", "d"] });
      assert.equal((await within("the end", many.status)).code, statusCode.resourceExhausted);
      const types = client.open(ads("sotw"));
      const stream = sotw(types);
      for (const type of ["cluster", "listener", "route"] as const) stream.send({ node, typeUrl: urlOf(type) });
      assert.equal((await within("the end", types.status)).code, statusCode.resourceExhausted);
    }));

  it("the server ends a stream that sends too many requests per second", () =>
    withMemoryServer({ limits: { requestsPerSecond: 10, requestBurst: 50 } }, async ({ server, client }) => {
      server.config.set([cluster("a")]);
      const raw = client.open(ads("sotw"));
      const stream = sotw(raw);
      for (let request = 0; request < 60; request++) stream.send({ node, typeUrl });
      const { code, message } = await within("the end", raw.status);
      assert.deepEqual([code, message], [8, "more than 10 requests per second on one stream"]);
      assert.deepEqual(server.stats().refused, [{ code: 8, count: 1 }]);
    }));

  it("the server counts a stream that is half-closed until its client has read the responses", () =>
    withMemoryServer({ limits: { streams: 1 } }, async ({ server, client }) => {
      server.config.set([cluster("a")]);
      const lazy = client.open(ads("sotw"));
      lazy.pause();
      sotw(lazy).send({ node, typeUrl });
      lazy.finish();
      await waitFor("the answer", () => server.stats().streams.some(({ behind }) => behind === 1));
      const other = client.open(ads("sotw"));
      assert.equal((await within("the refusal", other.status)).code, statusCode.resourceExhausted);
      lazy.resume();
      assert.equal((await within("the end", lazy.status)).code, statusCode.ok);
      assert.equal(lazy.responses.length, 1);
      assert.equal(openStreams(server), 0);
    }));

  it("the server counts a stream that ended with an error until its client has read the responses before it, or is cut off", () =>
    withMemoryServer({ limits: { streams: 3, streamsPerNode: 1 } }, async ({ server, client }) => {
      server.config.set([cluster("a")]);
      const lazy = client.open(ads("sotw"));
      lazy.pause();
      sotw(lazy).send({ node, typeUrl });
      await waitFor("the answer", () => server.stats().streams.some(({ behind }) => behind === 1));
      lazy.send(Uint8Array.of(0xff));
      await waitFor("the error", () => server.stats().refused.length === 1);
      assert.equal(openStreams(server), 1);
      const same = client.open(ads("sotw"));
      sotw(same).send({ node, typeUrl });
      assert.match((await within("the refusal", same.status)).message, /node "n1" has 1 streams open/);
      for (const _ of [2, 3]) client.open(ads("sotw"));
      const fourth = await within("the refusal", client.open(ads("sotw")).status);
      assert.equal(fourth.message, "the server has 3 streams open and takes no more");
      await waitFor("it to be cut off", () => openStreams(server) === 2);
      assert.equal(server.stats().nodes, 0);
    }));

  it("the server counts a unary call until its client has read the answer", () =>
    withServer({ limits: { streams: 1 } }, async ({ server, client, address }) => {
      server.config.set([cluster("a", "x".repeat(1_000_000))]);
      const fetch = () => {
        const raw = client.open({ ...perType("sotw", "cluster"), unary: true });
        sotw(raw).send({ node });
        return within("the answer", raw.status);
      };
      const session = connect(`http://${address}`);
      const lazy = session.request({
        ":method": "POST",
        ":path": "/envoy.service.cluster.v3.ClusterDiscoveryService/FetchClusters",
        "content-type": "application/grpc",
        te: "trailers",
      });
      const request = toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { node }));
      lazy.end(Buffer.from([0, 0, 0, 0, request.byteLength, ...request]));
      await waitFor("the call", () => server.stats().fetches.length === 1);
      assert.equal((await fetch()).message, "the server has 1 streams open and takes no more");
      assert.deepEqual(server.stats().refused, [{ code: 8, count: 1 }]);
      lazy.resume();
      await within("the end", new Promise((resolve) => lazy.once("close", resolve)));
      for (let call = 0; call < 3; call++) assert.equal((await fetch()).code, statusCode.ok);
      session.destroy();
    }));

  it("the server refuses streams beyond those of a node, and beyond the total", () =>
    withMemoryServer({ limits: { streams: 5, streamsPerNode: 2 } }, async ({ server, client, events }) => {
      server.config.set([cluster("a")]);
      const open = (id: string) => {
        const raw = client.open(ads("sotw"));
        sotw(raw).send({ node: { id }, typeUrl });
        return raw;
      };
      const [first] = [open("x"), open("x")];
      const third = await within("the refusal", open("x").status);
      assert.deepEqual(third, {
        code: 8,
        message: 'node "x" has 2 streams open, and no node may have more (limits.streams_per_node)',
      });
      first.cancel();
      await waitFor("room", () => openStreams(server) === 1);
      for (const id of ["x", "y", "y", "z"]) open(id);
      const sixth = await within("the refusal", open("z").status);
      assert.deepEqual(sixth, { code: 8, message: "the server has 5 streams open and takes no more" });
      assert.equal(server.stats().nodes, 3);
      assert.equal(events.filter(({ kind }) => kind === "stream-refused").length, 2);
    }));
});
