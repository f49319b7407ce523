import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { resourceTypes } from "@xdskit/api";
import { createServer } from "./index.js";
import { waitFor, within } from "./testing/basics/wait-for.js";
import { grpcClient } from "./testing/clients/raw-client.js";
import { delta, sotw } from "./testing/clients/xds-client.js";
import { ads, openStreams, perType, type TypeName, types, urlOf, withServer } from "./testing/running-server.js";
import { cluster, listener, loadAssignment, routeConfiguration } from "./testing/test-resources.js";

const node = { id: "n1", cluster: "c" };

for (const api of ["v3", "v2"] as const) {
  describe(`a server, ${api}`, () => {
    it("serves SotW over ADS with a first answer, ACK, change and NACK", () =>
      withServer({}, async ({ server, client, events }) => {
        server.config.set([cluster("a"), cluster("b"), listener("l")]);
        const stream = sotw(client.open(ads("sotw", api)));
        const typeUrl = urlOf("cluster", api);
        stream.send({ node, typeUrl });
        const first = await stream.next();
        assert.equal(first.typeUrl, typeUrl);
        assert.deepEqual(
          first.resources.map((any) => any.typeUrl),
          [typeUrl, typeUrl],
        );
        stream.send({ typeUrl, versionInfo: first.versionInfo, responseNonce: first.nonce });
        await waitFor("the ACK", () => events.some(({ kind }) => kind === "acknowledged"));

        server.config.update({ upsert: [cluster("a", "changed")], remove: [{ type: "cds", name: "b" }] });
        const second = await stream.next();
        assert.equal(second.resources.length, 1);
        assert.notEqual(second.versionInfo, first.versionInfo);
        const rejection = { code: 3, message: "no, thanks" };
        stream.send({ typeUrl, versionInfo: first.versionInfo, responseNonce: second.nonce, errorDetail: rejection });
        await waitFor("the NACK", () => events.some(({ kind }) => kind === "rejected"));
        const rejected = events.find((event) => event.kind === "rejected");
        assert.equal(rejected?.message, "no, thanks");
        assert.equal(rejected?.stream.node.id, "n1");
        assert.equal(rejected?.version, second.versionInfo);
        await sleep(30);
        assert.equal(stream.count, 2);
      }));

    it("serves delta over ADS with a first answer, change, removal and missing names", () =>
      withServer({}, async ({ server, client }) => {
        server.config.set([cluster("a"), cluster("b")]);
        const stream = delta(client.open(ads("delta", api)));
        const typeUrl = urlOf("cluster", api);
        stream.send({ node, typeUrl });
        const first = await stream.next();
        assert.deepEqual(first.resources.map(({ name }) => name).sort(), ["a", "b"]);
        stream.send({ typeUrl, responseNonce: first.nonce });
        server.config.update({ upsert: [cluster("a", "changed")], remove: [{ type: "cluster", name: "b" }] });
        const second = await stream.next();
        assert.deepEqual([second.resources.map(({ name }) => name), second.removedResources], [["a"], ["b"]]);
        stream.send({ typeUrl, resourceNamesSubscribe: ["missing"] });
        assert.deepEqual((await stream.next()).removedResources, ["missing"]);
      }));

    it("serves per-type streams of both kinds", () =>
      withServer({}, async ({ server, client }) => {
        server.config.set([loadAssignment("x", 1), loadAssignment("y", 2), routeConfiguration("r", "x")]);
        const endpoints = sotw(client.open(perType("sotw", "endpoint", api)));
        // Rule 159: the method implies the type.
        endpoints.send({ node, resourceNames: ["y"] });
        const answer = await endpoints.next();
        assert.deepEqual([answer.typeUrl, answer.resources.length], [urlOf("endpoint", api), 1]);
        const routes = delta(client.open(perType("delta", "route", api)));
        routes.send({ node, resourceNamesSubscribe: ["r"] });
        assert.deepEqual(
          (await routes.next()).resources.map(({ name }) => name),
          ["r"],
        );
      }));

    it("answers the unary Fetch, whatever version the caller has", () =>
      withServer({}, async ({ server, client }) => {
        const fetch = async (typeName: TypeName, request: Parameters<ReturnType<typeof sotw>["send"]>[0]) => {
          const raw = client.open({ ...perType("sotw", typeName, api), unary: true });
          const stream = sotw(raw);
          stream.send(request);
          const { code, message } = await within("the answer", raw.status);
          return code === 0 ? await stream.next() : { code, message };
        };
        const unknown = await fetch("cluster", { node });
        assert.deepEqual(unknown, { code: 14, message: "no configuration is known yet" });
        server.config.set([cluster("a"), cluster("b")]);
        const first = await fetch("cluster", { node });
        assert.ok("resources" in first, JSON.stringify(first));
        assert.equal(first.resources.length, 2);
        const again = await fetch("cluster", { node, versionInfo: first.versionInfo, responseNonce: first.nonce });
        assert.ok("resources" in again);
        assert.equal(again.resources.length, 2);
        const none = await fetch("endpoint", { node, resourceNames: ["missing"] });
        assert.ok("resources" in none);
        assert.deepEqual([none.typeUrl, none.resources], [urlOf("endpoint", api), []]);
        const foreign = await fetch("endpoint", { node, typeUrl: urlOf("cluster", api) });
        assert.ok("code" in foreign);
        assert.equal(foreign.code, 3);
      }));
  });
}

describe("a server", () => {
  it("a server waits while nothing is known, and answers when it is (rule 7)", () =>
    withServer({}, async ({ server, client }) => {
      const stream = sotw(client.open(ads("sotw", "v3")));
      stream.send({ node, typeUrl: urlOf("cluster", "v3") });
      await sleep(50);
      assert.equal(stream.count, 0);
      server.config.set([cluster("a")]);
      assert.equal((await stream.next()).resources.length, 1);
    }));

  it("a server sends one change for several calls in one turn, and none for equal content", () =>
    withServer({}, async ({ server, client }) => {
      server.config.set([cluster("a")]);
      const stream = delta(client.open(ads("delta", "v3")));
      stream.send({ node, typeUrl: urlOf("cluster", "v3") });
      await stream.next();
      server.config.set([cluster("a"), cluster("b")]);
      server.config.set([cluster("a"), cluster("c")]);
      const second = await stream.next();
      assert.deepEqual([second.resources.map(({ name }) => name), second.removedResources], [["c"], []]);
      server.config.set([cluster("a"), cluster("c")]);
      await sleep(50);
      assert.equal(stream.count, 2);
      assert.equal(server.stats().configuration.applied, 3);
    }));

  it("a server serves each group its layers, a later one winning, and refuses a node of no group", () =>
    withServer(
      {
        groups: [
          { name: "edge", match: { cluster: "edge-*" }, layers: ["shared", "edge"] },
          { name: "core", match: { cluster: "core" }, layers: ["shared"] },
        ],
      },
      async ({ server, client, events }) => {
        server.config.layer("shared").set([cluster("a", "shared"), cluster("b")]);
        server.config.layer("edge").set([cluster("a", "edge")]);
        const open = (of: string) => {
          const raw = client.open(ads("delta", "v3"));
          const stream = delta(raw);
          stream.send({ node: { id: of, cluster: of }, typeUrl: urlOf("cluster", "v3") });
          return { raw, stream };
        };
        const [edge, core, other] = [open("edge-1"), open("core"), open("other")];
        const [atEdge, atCore] = [await edge.stream.next(), await core.stream.next()];
        const versionOfA = (response: typeof atEdge) => response.resources.find(({ name }) => name === "a")?.version;
        assert.deepEqual([atEdge.resources.length, atCore.resources.length], [2, 2]);
        assert.notEqual(versionOfA(atEdge), versionOfA(atCore));
        const { code, message } = await within("the refusal", other.raw.status);
        assert.equal(code, 7);
        assert.match(message, /no group of this server matches the node: id "other", cluster "other"/);
        assert.ok(events.some((event) => event.kind === "stream-refused" && event.node?.id === "other"));

        server.config.layer("edge").remove({ type: "cluster", name: "a" });
        const back = await edge.stream.next();
        assert.equal(versionOfA(back), versionOfA(atCore));
        await sleep(30);
        assert.equal(core.stream.count, 1);
        assert.deepEqual(server.stats().groups, [
          { name: "edge", streams: 1, polls: 0 },
          { name: "core", streams: 1, polls: 0 },
        ]);
        assert.equal(server.snapshotOf("edge")?.of(types.cluster).size, 2);
        assert.equal(server.snapshotOf("nobody"), undefined);
      },
    ));

  it("a server delivers a change of all types in order over ADS (rule 117)", () =>
    withServer({}, async ({ server, client }) => {
      const all = (content: string, port: number) => [
        cluster("c", content),
        loadAssignment("c", port),
        listener("l", content),
        routeConfiguration("r", content),
      ];
      server.config.set(all("one", 1));
      const stream = delta(client.open(ads("delta", "v3")));
      const order = ["cluster", "endpoint", "listener", "route"] as const;
      for (const type of [...order].reverse()) {
        const resourceNamesSubscribe = { cluster: ["c"], endpoint: ["c"], listener: ["l"], route: ["r"] }[type];
        stream.send({ node, typeUrl: urlOf(type, "v3"), resourceNamesSubscribe });
      }
      for (const _ of order) await stream.next();
      server.config.set(all("two", 2));
      const urls = [await stream.next(), await stream.next(), await stream.next(), await stream.next()];
      assert.deepEqual(
        urls.map(({ typeUrl }) => typeUrl),
        order.map((type) => urlOf(type, "v3")),
      );
    }));

  it("a stream ends with OK when its client half-closes, and when the server closes (rules 14, 15)", async () => {
    const server = createServer();
    server.config.set([cluster("a")]);
    const { grpc } = await server.listen({ grpc: "127.0.0.1:0" });
    const client = grpcClient(resourceTypes, grpc);
    const [first, second] = [client.open(ads("sotw", "v3")), client.open(ads("delta", "v3"))];
    first.send(new Uint8Array());
    assert.equal((await within("the refusal", first.status)).code, 3);
    const third = client.open(ads("sotw", "v3"));
    sotw(third).send({ node, typeUrl: urlOf("cluster", "v3") });
    await waitFor("an answer", () => third.responses.length === 1);
    third.finish();
    assert.equal((await within("the half-close", third.status)).code, 0);
    delta(second).send({ node, typeUrl: urlOf("cluster", "v3") });
    await waitFor("an answer", () => second.responses.length === 1);
    const closing = server.close();
    assert.equal((await within("the end", second.status)).code, 0);
    await within("the close", closing);
    assert.equal(openStreams(server), 0);
    await assert.rejects(server.listen({ grpc: "127.0.0.1:0" }), { code: "XDSKIT_SERVER_CLOSED" });
    client.close();
  });

  it("a server answers requests that came before the client half-closed", () =>
    withServer({}, async ({ server, client }) => {
      server.config.set([cluster("a"), loadAssignment("e", 80)]);
      for (const type of ["cluster", "endpoint"] as const)
        for (const variant of ["sotw", "delta"] as const) {
          const raw = client.open(ads(variant));
          const names = type === "cluster" ? [] : ["e"];
          if (variant === "sotw") sotw(raw).send({ node, typeUrl: urlOf(type), resourceNames: names });
          else delta(raw).send({ node, typeUrl: urlOf(type), resourceNamesSubscribe: names });
          raw.finish();
          assert.equal((await within("the end", raw.status)).code, 0);
          assert.equal(raw.responses.length, 1, `${variant} ${type}`);
        }
    }));

  it("a server says what is wrong with an address", async () => {
    const server = createServer();
    for (const address of ["127.0.0.1", "127.0.0.1:99999", "::1:80", "host:port", "http://x:1", ""]) {
      await assert.rejects(server.listen({ grpc: address }), { code: "XDSKIT_ADDRESS_INVALID" });
    }
    const { grpc } = await server.listen({ grpc: "[::1]:0" });
    assert.match(grpc, /^\[::1\]:\d+$/);
    const other = createServer();
    await assert.rejects(other.listen({ grpc }), { code: "XDSKIT_ADDRESS_IN_USE" });
    await Promise.all([server.close(), other.close()]);
  });
});
