import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, fromBinary } from "@bufbuild/protobuf";
import { createResource, type Finding, XdskitError, type XdskitErrorCode } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { RouteConfigurationSchema } from "@xdskit/api/envoy/config/route/v3/route";
import { waitFor, within } from "../testing/basics/wait-for.js";
import type { RawStream } from "../testing/clients/raw-client.js";
import { delta, sotw } from "../testing/clients/xds-client.js";
import { memorySource } from "../testing/memory-source.js";
import { ads, urlOf, withMemoryServer, withServer } from "../testing/running-server.js";
import { cluster, clusterResource, loadAssignment } from "../testing/test-resources.js";

const node = { id: "n1" };
const typeUrl = urlOf("cluster");

describe("publication", () => {
  it("the server sends a slow client over gRPC the newest of 100 changes, and few of those before", () =>
    withServer({}, async ({ server, client }) => {
      const large = (round: number) => cluster("a", `${round} ${"x".repeat(200_000)}`);
      server.config.set([large(0)]);
      const raw = client.open(ads("sotw"));
      const stream = sotw(raw);
      stream.send({ node, typeUrl });
      await stream.next();
      raw.pause();
      for (let round = 1; round <= 100; round++) {
        server.config.set([large(round)]);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await waitFor("it to be behind", () => server.stats().streams[0]?.behind === 1);
      raw.resume();
      let last = "";
      while (!last.startsWith("100 ")) {
        const [any] = (await stream.next()).resources;
        last = fromBinary(ClusterSchema, any?.value ?? new Uint8Array()).altStatName;
      }
      await waitFor("it to have caught up", () => server.stats().streams[0]?.behind === 0);
      assert.ok(stream.count < 40, `${stream.count} responses for a client that took none`);
      assert.equal(server.stats().types[0]?.responses, stream.count);
    }));

  it("the server tells waiting clients the first configuration even if a listener looks at it", () =>
    withMemoryServer({}, async ({ server, client }) => {
      server.on(
        () => {
          server.nodes();
          server.snapshotOf("all");
        },
        (kind) => kind === "configuration-applied",
      );
      const stream = sotw(client.open(ads("sotw")));
      stream.send({ node, typeUrl });
      await waitFor("it to wait", () => server.node(node.id) !== undefined);
      server.config.set([cluster("a")]);
      assert.equal((await within("the first response", stream.next())).resources.length, 1);
    }));

  it("the server sends a slow client in memory the newest exactly once", () =>
    withMemoryServer({}, async ({ server, client }) => {
      server.config.set([cluster("a", "0")]);
      const raw = client.open(ads("delta"));
      const stream = delta(raw);
      stream.send({ node, typeUrl });
      await stream.next();
      raw.pause();
      const turn = () => new Promise((resolve) => setImmediate(resolve));
      for (let round = 1; round <= 100; round++) {
        server.config.update({ upsert: [cluster("a", `${round}`), cluster(`b${round}`)] });
        if (round > 1) server.config.remove({ type: "cluster", name: `b${round - 1}` });
        await turn();
      }
      raw.resume();
      const [one, newest] = [await stream.next(), await stream.next()];
      assert.deepEqual(one.resources.map(({ name }) => name).sort(), ["a", "b1"]);
      assert.deepEqual(newest.resources.map(({ name }) => name).sort(), ["a", "b100"]);
      assert.deepEqual(newest.removedResources, ["b1"]);
      await turn();
      assert.equal(stream.count, 3);
    }));

  it("the server answers a request while 5,000 streams are told of a change", () =>
    withMemoryServer({}, async ({ server, client, events }) => {
      const names = Array.from({ length: 20 }, (_, index) => `c${index}`);
      server.config.set(names.map((name) => cluster(name)));
      const streams: RawStream[] = [];
      for (let index = 0; index < 5_000; index++) {
        const raw = client.open(ads("delta"));
        streams.push(raw);
        delta(raw).send({ node: { id: `n${index}` }, typeUrl, resourceNamesSubscribe: [names[index % 20]!] });
      }
      await waitFor("first answers", () => streams.every(({ responses }) => responses.length === 1));
      const late = client.open(ads("delta"));
      server.config.set(names.map((name) => cluster(name, "changed")));
      // After the change is queued for all, one more asks.
      setImmediate(() => delta(late).send({ node: { id: "late" }, typeUrl }));
      await waitFor("the late answer", () => late.responses.length === 1);
      const before = streams.filter(({ responses }) => responses.length === 2).length;
      await waitFor("all answers", () => streams.every(({ responses }) => responses.length === 2));
      assert.ok(before < 5_000, "the request was answered after everybody else");
      assert.equal(server.stats().nodes, 5_001);
      assert.equal(events.filter(({ kind }) => kind === "stream-opened").length, 5_001);
    }));

  it("the server answers no request for all of a type whose resources are not known yet", () =>
    withMemoryServer({}, async ({ server, client }) => {
      server.config.set([cluster("a")]);
      server.config.awaits(["cluster"]);
      const all = client.open(ads("delta"));
      delta(all).send({ node, typeUrl });
      const named = delta(client.open(ads("delta")));
      named.send({ node, typeUrl, resourceNamesSubscribe: ["a"] });
      assert.deepEqual(
        (await named.next()).resources.map(({ name }) => name),
        ["a"],
      );
      server.config.set([cluster("b")]);
      assert.deepEqual((await named.next()).removedResources, ["a"]);
      assert.equal(all.responses.length, 0);
      assert.throws(() => server.config.awaits(["clutser"]), {
        message: /there is no type "clutser"; did you mean "cluster"\?/,
      });
      server.config.awaits([]);
      await waitFor("the first answer", () => all.responses.length === 1);
    }));

  it("the server takes groups from a function, and forgets those whose nodes are gone", () =>
    withMemoryServer(
      { groups: ({ id }) => (id === "none" ? undefined : { name: `g-${id}`, layers: ["base", id] }) },
      async ({ server, client }) => {
        server.config.layer("base").set([cluster("a")]);
        server.config.layer("x").set([cluster("a", "x")]);
        const open = (id: string) => {
          const raw = client.open(ads("delta"));
          const stream = delta(raw);
          stream.send({ node: { id }, typeUrl });
          return { raw, stream };
        };
        const [x, y] = [open("x"), open("y")];
        const versionOf = async ({ stream }: typeof x) => (await stream.next()).resources[0]?.version;
        assert.notEqual(await versionOf(x), await versionOf(y));
        assert.equal((await open("none").raw.status).code, 7);
        assert.deepEqual(server.stats().groups, [
          { name: "g-x", streams: 1, polls: 0 },
          { name: "g-y", streams: 1, polls: 0 },
        ]);
        server.config.layer("y").set([cluster("b")]);
        assert.deepEqual(
          (await y.stream.next()).resources.map(({ name }) => name),
          ["b"],
        );
        assert.equal(x.stream.count, 1);
        x.raw.cancel();
        assert.deepEqual(server.stats().groups, [{ name: "g-y", streams: 1, polls: 0 }]);
        assert.equal(server.snapshotOf("g-x"), undefined);
      },
    ));

  it("the server refuses a node whose group has no layers", () =>
    withMemoryServer({ groups: () => ({ name: "g", layers: [] }) }, async ({ server, client, events }) => {
      server.config.set([cluster("a")]);
      const raw = client.open(ads("sotw"));
      sotw(raw).send({ node, typeUrl });
      const message = 'group "g" of node "n1" has no layers to serve';
      assert.deepEqual(await within("the refusal", raw.status), { code: 7, message });
      assert.ok(events.some((event) => event.kind === "stream-refused" && event.message === message));
    }));

  it("the server tells clients nothing while the first sources still start", () =>
    withMemoryServer({}, async ({ server, client, events }) => {
      const slow = memorySource("slow", [clusterResource("b")]);
      let release: () => void = () => {};
      const gate = new Promise<void>((resolve) => {
        release = resolve;
      });
      const started = server.addSource({
        name: slow.name,
        start: async (sink) => {
          await gate;
          await slow.start(sink);
        },
        close: () => slow.close(),
      });
      await server.addSource(memorySource("quick", [clusterResource("a")]));
      const stream = sotw(client.open(ads("sotw")));
      stream.send({ node, typeUrl });
      await waitFor("the stream", () => events.some(({ kind }) => kind === "stream-opened"));
      await new Promise((resolve) => setTimeout(resolve, 30));
      assert.equal(stream.count, 0);
      assert.equal(server.snapshotOf("all"), undefined);
      release();
      await started;
      // A client with only the quick source's resources would have dropped the other's.
      assert.equal((await stream.next()).resources.length, 2);
      assert.equal(stream.count, 1);
    }));

  it("the server tells clients nothing of one source while another could not start, until it starts or the program goes on without", async () => {
    for (const goOn of ["start", "set"] as const) {
      await withMemoryServer({}, async ({ server, client, events }) => {
        const failing = { name: "b", start: () => Promise.reject(new Error("no")), close: async () => {} };
        const source = (name: string) => memorySource(name, [clusterResource(name)]);
        const [a, b] = await Promise.allSettled([server.addSource(source("a")), server.addSource(failing)]);
        assert.deepEqual([a.status, b.status], ["fulfilled", "rejected"]);
        await assert.rejects(server.addSource(failing), /no/);
        await server.addSource(source("c"));
        const stream = sotw(client.open(ads("sotw")));
        stream.send({ node, typeUrl });
        await waitFor("the stream", () => events.some(({ kind }) => kind === "stream-opened"));
        await new Promise((resolve) => setTimeout(resolve, 30));
        assert.equal(stream.count, 0);
        if (goOn === "start") await server.addSource(source("b"));
        else server.config.update({});
        assert.equal((await stream.next()).resources.length, goOn === "start" ? 3 : 2);
      });
    }
  });

  it("the server keeps no source that has ended", () =>
    withMemoryServer({}, async ({ server }) => {
      const closed: string[] = [];
      const sourceThat = async (name: string, ends: boolean) => {
        const source = memorySource(name, []);
        await server.addSource({
          ...source,
          async start(sink) {
            await source.start(sink);
            if (ends) sink.ended?.();
          },
          close: async () => void closed.push(name),
        });
      };
      await sourceThat("ended", true);
      await sourceThat("lasting", false);
      await server.close();
      assert.deepEqual(closed, ["lasting"]);
    }));

  it("the server serves its other resources when a source cannot start", () =>
    withMemoryServer({}, async ({ server, client }) => {
      server.config.set([cluster("a")]);
      const failing = {
        name: "failing",
        start: () => Promise.reject(new Error("no")),
        close: async () => {},
      };
      await assert.rejects(server.addSource(failing), /no/);
      const stream = sotw(client.open(ads("sotw")));
      stream.send({ node, typeUrl });
      assert.equal((await stream.next()).resources.length, 1);
    }));
});

describe("config", () => {
  it("config refuses a change whole, throws all its problems, and counts it", () =>
    withMemoryServer({}, async ({ server, events }) => {
      server.config.set([cluster("a")]);
      const before = server.snapshotOf("all");
      const noDomains = create(RouteConfigurationSchema, { name: "r", virtualHosts: [{ name: "v" }] });
      const { config } = server;
      const refusals: [change: () => void, code: XdskitErrorCode, field: string | undefined][] = [
        [() => config.set([cluster("b"), cluster("")]), "XDSKIT_NAME_MISSING", undefined],
        [() => config.set([cluster("b"), cluster("c"), cluster("b", "x")]), "XDSKIT_DUPLICATE_RESOURCE", undefined],
        [() => config.update({ upsert: [cluster("b"), noDomains] }), "XDSKIT_RULE_BROKEN", "virtual_hosts[0].domains"],
        [() => config.remove({ type: "clutser", name: "a" }), "XDSKIT_TYPE_NAME_UNKNOWN", undefined],
        // Values that a program without types may give.
        [() => config.set([{ name: "b" } as never]), "XDSKIT_MESSAGE_INVALID", undefined],
        [() => config.set(["b" as never]), "XDSKIT_MESSAGE_INVALID", undefined],
        [() => config.remove("a" as never), "XDSKIT_SERVER_OPTION", undefined],
      ];
      for (const [change, code, field] of refusals) {
        assert.throws(change, (error) => {
          assert.ok(error instanceof XdskitError);
          assert.deepEqual([error.code, error.findings[0]?.field], [code, field]);
          return true;
        });
      }
      assert.equal(server.snapshotOf("all"), before);
      const refused = events.filter((event) => event.kind === "configuration-refused");
      assert.deepEqual(
        refused.map(({ source, findings }) => [source, findings.length > 0]),
        refusals.map(() => ["default", true]),
      );
      assert.equal(server.stats().configuration.refused, refusals.length);
      assert.equal(server.stats().configuration.applied, 1);
    }));

  it("config takes messages and resources, and returns the differences", () =>
    withMemoryServer({}, async ({ server, events }) => {
      server.config.set([cluster("a"), clusterResource("b"), loadAssignment("a", 1)]);
      server.config.update({ upsert: [cluster("a"), cluster("c")], remove: [{ type: "cds", name: "b" }] });
      server.config.layer("other").set([createResource(cluster("a", "wins"))]);
      assert.deepEqual(
        events.filter((event) => event.kind === "configuration-applied"),
        [
          { kind: "configuration-applied", revision: 1, layers: ["default"], upserted: 3, removed: 0 },
          { kind: "configuration-applied", revision: 2, layers: ["default"], upserted: 1, removed: 1 },
          { kind: "configuration-applied", revision: 3, layers: ["other"], upserted: 1, removed: 0 },
        ],
      );
      const { layers } = server.stats().configuration;
      const counts = layers.map(({ name, resources }) => [name, resources.map(({ type, count }) => [type, count])]);
      assert.deepEqual(Object.fromEntries(counts as [string, unknown][]), {
        default: [
          ["cluster", 2],
          ["endpoint", 1],
        ],
        other: [["cluster", 1]],
      });
    }));
});

describe("a layer that is dropped", () => {
  it("a dropped layer is removed from the groups that have it, and can be set again", () =>
    withMemoryServer(
      { groups: ({ id }) => ({ name: id, layers: id === "both" ? ["base", "extra"] : ["extra"] }) },
      async ({ server, client, events }) => {
        const { config } = server;
        const extra = config.layer("extra");
        config.layer("base").set([cluster("a", "base")]);
        extra.set([cluster("a", "extra"), cluster("b")]);
        const open = async (id: string) => {
          const stream = delta(client.open(ads("delta")));
          stream.send({ node: { id }, typeUrl });
          return { stream, first: await stream.next() };
        };
        const [both, only] = [await open("both"), await open("only")];
        extra.drop();
        const atBoth = await both.stream.next();
        assert.deepEqual([atBoth.resources.map(({ name }) => name), atBoth.removedResources], [["a"], ["b"]]);
        assert.deepEqual((await only.stream.next()).removedResources.sort(), ["a", "b"]);
        const names = () => server.stats().configuration.layers.map(({ name }) => name);
        assert.deepEqual(names(), ["base"]);
        const applied = events.filter(({ kind }) => kind === "configuration-applied");
        assert.deepEqual(applied.at(-1), {
          kind: "configuration-applied",
          revision: 3,
          layers: ["extra"],
          upserted: 0,
          removed: 2,
        });
        extra.drop();
        assert.equal(server.stats().configuration.applied, applied.length);
        extra.set([cluster("b")]);
        assert.equal((await only.stream.next()).resources[0]?.name, "b");
        assert.deepEqual(names(), ["base", "extra"]);
      },
    ));
});

describe("events", () => {
  it("events report a rejection once for a node and version, on however many streams", () =>
    withMemoryServer({}, async ({ server, client, events }) => {
      server.config.set([cluster("a")]);
      const reject = async (id: string) => {
        const stream = sotw(client.open(ads("sotw")));
        stream.send({ node: { id }, typeUrl });
        const { nonce } = await stream.next();
        stream.send({ typeUrl, responseNonce: nonce, errorDetail: { code: 3, message: `${id} says no` } });
      };
      await reject("x");
      await reject("x");
      await reject("y");
      const total = () => server.stats().types[0]?.rejected;
      await waitFor("three rejections", () => total() === 3);
      const told = events.filter((event) => event.kind === "rejected");
      assert.deepEqual(
        told.map(({ stream, message, code }) => [stream.node.id, message, code]),
        [
          ["x", "x says no", 3],
          ["y", "y says no", 3],
        ],
      );
      assert.equal(server.stats().types[0]?.rejectedVersions, 2);
    }));

  it("events go on when a listener throws, and stop when it is taken away", () =>
    withMemoryServer({}, async ({ server }) => {
      const warnings: Error[] = [];
      const note = (warning: Error) => warnings.push(warning);
      process.on("warning", note);
      let calls = 0;
      const stop = server.on(() => {
        calls += 1;
        throw new Error("a listener's own fault");
      });
      server.config.set([cluster("a")]);
      await waitFor("a warning", () => warnings.length === 1);
      process.off("warning", note);
      assert.match(warnings[0]?.message ?? "", /configuration-applied.*a listener's own fault/);
      stop();
      server.config.set([cluster("b")]);
      assert.equal(calls, 1);
    }));

  it("events report findings of sources", () =>
    withMemoryServer({}, async ({ server, events }) => {
      const finding = (severity: Finding["severity"]): Finding => ({ code: "XDSKIT_SYNTAX", severity, message: "m" });
      await server.addSource({
        name: "s",
        async start(sink) {
          sink.apply([{ layer: "l", kind: "replace", upsert: [] }]);
          sink.report([finding("warning")]);
          sink.report([finding("error"), finding("warning")]);
        },
        async close() {},
      });
      assert.deepEqual(
        events.map(({ kind }) => kind),
        ["configuration-applied", "configuration-checked", "configuration-refused"],
      );
    }));
});
