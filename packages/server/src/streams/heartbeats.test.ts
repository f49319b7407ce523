import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { createResource, type Resource } from "@xdskit/api";
import { DeltaDiscoveryRequestSchema, DiscoveryRequestSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import type { ServerOptions } from "../contracts/server-options.js";
import type { Accept, CallHandler, Method } from "../contracts/transport.js";
import { createServer } from "../create-server.js";
import { manualClock } from "../testing/basics/manual-clock.js";
import { waitFor } from "../testing/basics/wait-for.js";
import { delta, sotw } from "../testing/clients/xds-client.js";
import { ads, perType, urlOf, withMemoryServer, withServer } from "../testing/running-server.js";
import { cluster, listener, loadAssignment } from "../testing/test-resources.js";

/** Seconds. */
const living = (message: Parameters<typeof createResource>[0], ttl: number): Resource =>
  createResource(message, { ttl: ttl * 1000 });
const features = ["xds.config.supports-resource-ttl", "xds.config.supports-resource-in-sotw"];

/** A server whose streams write nothing, so that the test sees the bodies that they share. */
async function startBare(options: ServerOptions) {
  const clock = manualClock();
  const server = createServer({ clock, ...options });
  let accept: Accept | undefined;
  const handlers: CallHandler[] = [];
  await server.listenOn(
    {
      async listen(address, take) {
        accept = take;
        return address;
      },
      async close() {
        for (const handler of handlers) handler.closed();
      },
    },
    "nowhere",
  );
  return {
    server,
    clock,
    open(method: Method, request: Uint8Array): Uint8Array[] {
      const bodies: Uint8Array[] = [];
      const handler = accept?.({
        method,
        peer: "here",
        send(body) {
          bodies.push(body);
          return true;
        },
        end() {},
      });
      assert.ok(handler !== undefined && "received" in handler);
      handlers.push(handler);
      handler.received(request);
      return bodies;
    },
    closeStreams() {
      for (const handler of handlers.splice(0)) handler.closed();
    },
  };
}

function deltaRequest(id: string, typeUrl: string, names: readonly string[] = []): Uint8Array {
  const init = { node: { id, clientFeatures: features }, typeUrl, resourceNamesSubscribe: [...names] };
  return toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, init));
}

function sotwRequest(id: string, typeUrl: string): Uint8Array {
  return toBinary(
    DiscoveryRequestSchema,
    create(DiscoveryRequestSchema, { node: { id, clientFeatures: features }, typeUrl }),
  );
}

const different = (streams: readonly (readonly Uint8Array[])[], index: number) =>
  new Set(streams.map((bodies) => bodies[index])).size;

describe("heartbeats", () => {
  it("10,000 resources on 1,000 streams get heartbeats with one timer and one encoding", async () => {
    const { server, clock, open, closeStreams } = await startBare({});
    const ttls = [10, 11, 60, 3600, 86_400];
    server.config.set(Array.from({ length: 10_000 }, (_, index) => living(cluster(`c${index}`), ttls[index % 5]!)));
    assert.equal(clock.waiting, 0);
    const streams = Array.from({ length: 1_000 }, (_, index) =>
      open(ads("delta"), deltaRequest(`n${index}`, urlOf("cluster"))),
    );
    await waitFor("first answers", () => streams.every(({ length }) => length === 1), 30_000);
    assert.equal(different(streams, 0), 1);
    assert.equal(clock.waiting, 1);

    // The clients just got everything, so the first beat sends nothing.
    clock.advance(2_000);
    clock.advance(2_000);
    await waitFor("heartbeats", () => streams.every(({ length }) => length === 2), 30_000);
    assert.equal(different(streams, 1), 1);
    assert.equal(clock.waiting, 1);
    const [{ heartbeats, resources } = { heartbeats: 0, resources: 0 }] = server.stats().types;
    // Only for resources that need one every 2 s.
    assert.deepEqual([heartbeats, resources], [1_000, 1_000 * (10_000 + 4_000)]);

    closeStreams();
    assert.equal(clock.waiting, 0);
    await server.close();
  });

  it("a heartbeat repeats the bytes of a full set, in the state of the world", async () => {
    const { server, clock, open } = await startBare({});
    server.config.set([living(listener("a"), 10), listener("b")]);
    const streams = Array.from({ length: 10 }, (_, index) =>
      open(ads("sotw"), sotwRequest(`n${index}`, urlOf("listener"))),
    );
    await waitFor("first answers", () => streams.every(({ length }) => length === 1));
    clock.advance(2_000);
    clock.advance(2_000);
    await waitFor("heartbeats", () => streams.every(({ length }) => length === 2));
    assert.equal(new Set(streams.flat()).size, 1);
    await server.close();
    assert.equal(clock.waiting, 0);
  });

  it("the server has no timer for clients that are not told TTLs", async () => {
    const { server, clock, open } = await startBare({});
    server.config.set([living(cluster("a"), 1)]);
    const request = { node: { id: "n" }, typeUrl: urlOf("cluster") };
    const bodies = open(ads("sotw"), toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, request)));
    await waitFor("the answer", () => bodies.length === 1);
    assert.equal(clock.waiting, 0);
    await server.close();
  });

  it("the timer starts and stops with the first and the last TTL", async () => {
    const { server, clock, open } = await startBare({});
    server.config.set([cluster("a")]);
    const bodies = open(ads("delta"), deltaRequest("n", urlOf("cluster")));
    await waitFor("the answer", () => bodies.length === 1);
    assert.equal(clock.waiting, 0);
    server.config.update({ upsert: [living(loadAssignment("a", 1), 10)] });
    assert.equal(clock.waiting, 1);
    server.config.remove({ type: "endpoint", name: "a" });
    assert.equal(clock.waiting, 0);
    await server.close();
  });

  it("the server tells TTLs to Envoy as the group's settings say, and never to gRPC", () =>
    withMemoryServer(
      {
        groups: [
          { name: "told", match: { cluster: "told" }, layers: ["default"], ttl: "always" },
          { name: "rest", match: {}, layers: ["default"] },
        ],
      },
      async ({ server, client }) => {
        server.config.set([living(cluster("a"), 10)]);
        const ttlFor = async (node: { cluster: string; userAgentName: string }) => {
          const stream = delta(client.open(ads("delta")));
          stream.send({ node: { id: "n", ...node }, typeUrl: urlOf("cluster") });
          return (await stream.next()).resources[0]?.ttl?.seconds;
        };
        assert.equal(await ttlFor({ cluster: "told", userAgentName: "envoy" }), 10n);
        assert.equal(await ttlFor({ cluster: "told", userAgentName: "gRPC Go" }), undefined);
        assert.equal(await ttlFor({ cluster: "other", userAgentName: "envoy" }), undefined);
      },
    ));

  it("the server tells TTLs by default to Envoys that understand them, and counts those that other clients are not told", () =>
    withMemoryServer({}, async ({ server, client }) => {
      server.config.set([living(cluster("a"), 10), living(cluster("b"), 10), cluster("c")]);
      const untold: unknown[] = [];
      server.on((event) => {
        if (event.kind === "ttl-untold") untold.push([event.stream.node.id, event.type.name, event.resources]);
      });
      const reports = async (id: string, minorNumber: number) => {
        const stream = delta(client.open(ads("delta")));
        const version = { majorNumber: 1, minorNumber, patch: 0 };
        const userAgentVersionType = { case: "userAgentBuildVersion", value: { version } } as const;
        stream.send({ node: { id, userAgentName: "envoy", userAgentVersionType }, typeUrl: urlOf("cluster") });
        const { nonce, resources } = await stream.next();
        stream.send({ typeUrl: urlOf("cluster"), responseNonce: nonce });
        await waitFor("the acknowledgement", () => server.node(id)?.state === "synced");
        const told = resources.filter(({ ttl }) => ttl !== undefined).length;
        return [told, server.node(id)?.streams[0]?.types[0]?.untoldTtls];
      };
      assert.deepEqual(await reports("new", 40), [2, 0]);
      assert.deepEqual(await reports("old", 16), [0, 2]);
      assert.deepEqual(untold, [["old", "cluster", 2]]);
    }));

  it("groups without a setting take the server's, also groups of a function", async () => {
    for (const groups of [undefined, () => ({ name: "all", layers: ["default"] })]) {
      await withMemoryServer({ groups, ttl: "always" }, async ({ server, client }) => {
        server.config.set([living(cluster("a"), 10)]);
        const stream = delta(client.open(ads("delta")));
        stream.send({ node: { id: "n", userAgentName: "envoy" }, typeUrl: urlOf("cluster") });
        assert.equal((await stream.next()).resources[0]?.ttl?.seconds, 10n);
      });
    }
  });

  it("the server uses the system's clock over gRPC, and a unary call is told no TTL, since it gets no heartbeats", () =>
    withServer({}, async ({ server, client }) => {
      server.config.set([living(cluster("a"), 0.5), cluster("b")]);
      const node = { id: "n", clientFeatures: features };
      const stream = sotw(client.open(ads("sotw")));
      stream.send({ node, typeUrl: urlOf("cluster") });
      const wrapped = (await stream.next()).resources.map(({ typeUrl }) => typeUrl);
      assert.deepEqual(wrapped, ["type.googleapis.com/envoy.service.discovery.v3.Resource", urlOf("cluster")]);
      for (let count = 0; count < 3; count++) assert.equal((await stream.next()).resources.length, 2);
      assert.ok((server.stats().types[0]?.heartbeats ?? 0) >= 3);
      const call = sotw(client.open({ ...perType("sotw", "cluster"), unary: true }));
      call.send({ node, typeUrl: urlOf("cluster") });
      const bare = (await call.next()).resources.map(({ typeUrl }) => typeUrl);
      assert.deepEqual(bare, [urlOf("cluster"), urlOf("cluster")]);
    }));
});
