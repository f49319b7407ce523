import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resourceTypes, XdskitError } from "@xdskit/api";
import type { XdsClient } from "../contract/xds-client.js";
import { createClientWith } from "../create-client.js";
import type { ClientEvent } from "../events/client-event.js";
import type { ClientOptions } from "../options/client-options.js";
import { manualClock } from "../testing/manual-clock.js";
import { receivedCluster, type ScriptedUpstream, scriptedUpstreams } from "../testing/scripted/scripted-upstream.js";
import { settle } from "../testing/settle.js";

const cluster = resourceTypes.find("cluster")!;
const endpoint = resourceTypes.find("endpoint")!;
const type = "envoy.config.cluster.v3.Cluster";

interface Tools {
  readonly client: XdsClient;
  of(server: string): ScriptedUpstream;
  readonly events: ClientEvent[];
  /** Watches, and writes down each call. */
  watch(name: string): { take(): string[]; cancel(): void };
}

async function withClient(options: Partial<ClientOptions>, test: (tools: Tools) => Promise<void>): Promise<void> {
  const { create, of } = scriptedUpstreams();
  const client = createClientWith({ node: { id: "me" }, clock: manualClock(), ...options }, create);
  const events: ClientEvent[] = [];
  client.on((event) => events.push(event));
  const watch: Tools["watch"] = (name) => {
    const log: string[] = [];
    const onError = ({ code, message }: { code: string; message: string }) =>
      void log.push(`error ${/one:1|two:2|three:3/.exec(message)?.[0] ?? code}`);
    const onAmbient = ({ message }: { message: string }) =>
      void log.push(`beside ${/one:1|two:2|three:3/.exec(message)?.[0]}`);
    const { cancel } =
      name === "*"
        ? client.watch("cluster", "*", {
            onChanged: ({ resources, upserted, removed }) =>
              void log.push(`${[...resources.keys()].sort()} +${upserted.map((each) => each.name)} -${removed}`),
            onError,
            onAmbient,
          })
        : client.watch("cluster", name, {
            onChanged: ({ message }) => void log.push("altStatName" in message ? String(message.altStatName) : ""),
            onError,
            onAmbient,
          });
    return { take: () => log.splice(0), cancel };
  };
  try {
    await test({ client, of, events, watch });
  } finally {
    await client.close();
  }
}

const switches = (events: readonly ClientEvent[]) =>
  events.flatMap((event) => (event.kind === "switched" ? [`${event.from} ${event.to}`] : []));

describe("fallback to another server (A71)", () => {
  const servers = ["one:1", "two:2", "three:3"];

  it("a client asks the next server once the one before is away and something is missing, and goes back", () =>
    withClient({ servers }, async ({ client, of, events, watch }) => {
      const a = watch("a");
      assert.deepEqual([of("one:1").log, of("two:2").log], [["+cluster a"], []]);
      of("one:1").fail();
      assert.deepEqual([of("two:2").log, of("three:3").log], [["forget", "+cluster a"], []]);
      // No watcher is told as long as another server can be asked.
      assert.deepEqual(a.take(), []);
      of("two:2").answer(cluster, { upserted: [receivedCluster("a", "2")] });
      await settle();
      assert.deepEqual(a.take(), ["2"]);
      assert.deepEqual(switches(events), ["one:1 two:2"]);
      assert.deepEqual(
        client.status().map(({ server, active }) => [server, active]),
        [
          ["one:1", false],
          ["two:2", true],
          ["three:3", false],
        ],
      );
      const b = watch("b");
      assert.deepEqual(of("one:1").log.at(-1), "+cluster b");
      of("two:2").answer(cluster, { upserted: [receivedCluster("b", "2")] });
      // Away, and nothing is missing.
      of("two:2").fail();
      of("one:1").fail();
      await settle();
      assert.deepEqual(of("three:3").log, []);
      assert.deepEqual([a.take(), b.take()], [["beside two:2"], ["2", "beside two:2"]]);
      const second = of("two:2");
      of("one:1").answer(cluster, { upserted: [receivedCluster("a", "1")] });
      await settle();
      assert.deepEqual([a.take(), b.take()], [["1"], []]);
      assert.deepEqual(switches(events), ["one:1 two:2", "two:2 one:1"]);
      assert.equal(second.isClosed, true);
      // Answers of the server that the client left do not count.
      second.answer(cluster, { upserted: [receivedCluster("a", "2")] });
      second.fail();
      assert.deepEqual(a.take(), []);
      assert.deepEqual(of("two:2").log, []);
    }));

  it("watchers are told of a failure only when no server is left to ask, and of later events", () =>
    withClient({ servers }, async ({ of, watch }) => {
      const [a, all] = [watch("a"), watch("*")];
      for (const server of servers) of(server).fail();
      await settle();
      assert.deepEqual([a.take(), all.take()], [["error three:3"], ["error three:3"]]);
      const late = watch("b");
      await settle();
      assert.deepEqual(late.take(), ["error three:3"]);
      of("two:2").answer(cluster, { upserted: [receivedCluster("a", "2")] });
      await settle();
      assert.deepEqual([a.take(), all.take(), late.take()], [["2"], ["a +a -"], []]);
      assert.equal(of("one:1").isClosed, false);
      // Something is missing still, and the server before the last answers.
      assert.deepEqual(of("three:3").log, []);
      of("two:2").fail();
      await settle();
      assert.deepEqual(of("three:3").log, ["hold cluster a@", "forget", "+cluster a,b,*"]);
    }));

  it("a client asks the next server at once if the program wants that, and goes back", () =>
    withClient({ servers, fallback: "when-away" }, async ({ of, events, watch }) => {
      const all = watch("*");
      of("one:1").answer(cluster, { upserted: [receivedCluster("a", "1")] });
      await settle();
      of("one:1").fail();
      assert.deepEqual(of("two:2").log, ["hold cluster a@", "forget", "+cluster *"]);
      of("two:2").answer(cluster, { upserted: [receivedCluster("a", "2"), receivedCluster("b", "2")] });
      await settle();
      of("one:1").answer(cluster, { upserted: [receivedCluster("a", "1")] });
      await settle();
      assert.deepEqual(switches(events), ["one:1 two:2", "two:2 one:1"]);
      assert.deepEqual(all.take(), ["a +a -", "a,b +a,b -", "a,b +a -", "a + -b"]);
    }));

  it("a client leaves the next server when the first answers before that one does", () =>
    withClient({ servers }, async ({ of, events, watch }) => {
      const a = watch("a");
      of("one:1").fail();
      const second = of("two:2");
      of("one:1").answer(cluster, { upserted: [receivedCluster("a", "1")] });
      assert.equal(second.isClosed, true);
      second.answer(cluster, { upserted: [receivedCluster("a", "2")] });
      await settle();
      assert.deepEqual([a.take(), switches(events)], [["1"], []]);
    }));

  it("a client asks another server when something new is missing, though it has everything else", () =>
    withClient({ servers }, async ({ of, watch }) => {
      watch("a");
      of("one:1").answer(cluster, { upserted: [receivedCluster("a", "1")] });
      of("one:1").fail();
      await settle();
      assert.deepEqual(of("two:2").log, []);
      watch("b");
      await settle();
      assert.deepEqual(of("two:2").log, ["hold cluster a@", "forget", "+cluster a,b"]);
    }));

  it("a client asks another server when a TTL is over while the first server is away", () =>
    withClient({ servers }, async ({ of, watch }) => {
      const a = watch("a");
      of("one:1").answer(cluster, { upserted: [receivedCluster("a", "1")] });
      of("one:1").fail();
      await settle();
      assert.deepEqual(of("two:2").log, []);
      const removed = [{ name: "a", reason: "ttl" as const }];
      void of("one:1").sink.update({ type: cluster, upserted: [], removed, absent: [], failing: [] });
      await settle();
      assert.deepEqual(of("two:2").log, ["forget", "+cluster a"]);
      assert.deepEqual(a.take(), ["1", "beside one:1", "error XDSKIT_RESOURCE_ABSENT"]);
      // No server has it, and the watcher was told so.
      for (const server of ["two:2", "three:3", "one:1"]) of(server).fail();
      await settle();
      assert.deepEqual(a.take(), []);
      const late = watch("a");
      await settle();
      assert.deepEqual(late.take(), ["error XDSKIT_RESOURCE_ABSENT"]);
      of("two:2").answer(cluster, { upserted: [receivedCluster("a", "2")] });
      await settle();
      assert.deepEqual([a.take(), late.take()], [["2"], ["2"]]);
    }));

  it("a client that tries the first server again tells it the current resources, and so learns which are gone", () =>
    withClient({ servers }, async ({ of, watch }) => {
      const [all, x] = [watch("*"), watch("x")];
      of("one:1").answer(cluster, { upserted: [receivedCluster("a", "1"), receivedCluster("x", "1")] });
      of("one:1").fail();
      const y = watch("y");
      await settle();
      of("two:2").answer(cluster, { upserted: [receivedCluster("b", "2"), receivedCluster("y", "2")], removed: ["a"] });
      await settle();
      assert.deepEqual(all.take(), ["a,x +a,x -", "beside one:1", "b,x,y +b,y -a"]);
      of("one:1").log.length = 0;
      of("one:1").sink.attempting(undefined);
      assert.deepEqual(of("one:1").log, ["-cluster x,y,*", "hold cluster b,x,y@", "forget", "+cluster x,y,*"]);
      of("one:1").sink.attempting(undefined);
      assert.equal(of("one:1").log.length, 4);
      // Between the attempt and the answer the other server changed its mind.
      of("two:2").answer(cluster, { upserted: [receivedCluster("c", "2"), receivedCluster("x", "2")] });
      of("one:1").answer(cluster, { upserted: [receivedCluster("a", "1")], removed: ["b"] });
      await settle();
      assert.deepEqual(all.take(), ["b,c,x,y +c,x -", "a,c,x,y +a -b", "a,x,y +x -c"]);
      assert.deepEqual([x.take(), y.take()], [["1", "beside one:1", "2", "1"], ["2"]]);
    }));

  it("a client does not alternate between two servers that each lack one service", () =>
    withClient({ servers: ["one:1", "two:2"] }, async ({ client, of, events }) => {
      client.watch("cluster", "a", { onChanged() {} });
      client.watch("endpoint", "a", { onChanged() {} });
      const [one, two] = [of("one:1"), of("two:2")];
      const error = XdskitError.of("XDSKIT_UPSTREAM_AWAY", "no such service");
      one.answer(cluster, { upserted: [receivedCluster("a", "1")] });
      one.sink.failed(endpoint, error, false);
      await settle();
      assert.deepEqual(two.wanted.size, 2);
      two.answer(cluster, { upserted: [receivedCluster("a", "2")] });
      one.answer(cluster, { upserted: [receivedCluster("a", "1")] });
      assert.deepEqual(switches(events), ["one:1 two:2"]);
      one.answer(endpoint, {});
      assert.deepEqual(switches(events), ["one:1 two:2", "two:2 one:1"]);
    }));
});

describe("federation (A47)", () => {
  it("a client asks the servers of a name's authority, and authorities with equal servers share them", () =>
    withClient(
      {
        servers: ["one:1"],
        authorities: {
          x: { servers: ["two:2"] },
          y: { servers: [{ kind: "grpc", address: "two:2" }] },
          z: { servers: [] },
          "": { servers: ["three:3"] },
        },
      },
      async ({ client, of, watch }) => {
        for (const authority of ["x", "y", "z", "other", ""]) watch(`xdstp://${authority}/${type}/a?b=1&a=2`);
        watch("plain");
        client.watchCollection("cluster", `xdstp://x/${type}/*`, { onChanged() {} });
        const asked = (server: string) => of(server).log.map((each) => each.replace(`${type}/`, ""));
        assert.deepEqual(asked("two:2"), [
          "+cluster xdstp://x/a?a=2&b=1",
          "+cluster xdstp://y/a?a=2&b=1",
          "+cluster xdstp://x/*",
        ]);
        assert.deepEqual(asked("three:3"), ["+cluster xdstp:///a?a=2&b=1"]);
        assert.deepEqual(asked("one:1"), [
          "+cluster xdstp://z/a?a=2&b=1",
          "+cluster xdstp://other/a?a=2&b=1",
          "+cluster plain",
        ]);
        assert.equal(client.status().length, 3);
      },
    ));

  it("a watcher of a name without a server gets an error", () =>
    withClient({ authorities: { x: { servers: ["one:1"] } } }, async ({ of, watch }) => {
      const [plain, other] = [watch("plain"), watch(`xdstp://other/${type}/a`)];
      await settle();
      assert.deepEqual([plain.take(), other.take()], [["error XDSKIT_UPSTREAM_NONE"], ["error XDSKIT_UPSTREAM_NONE"]]);
      assert.deepEqual(of("one:1").log, []);
    }));
});

describe("resources that a program kept from an earlier run", () => {
  it("the version of all resources goes to the first server, unless it lacks those of an authority", async () => {
    const name = `xdstp://x/${type}/a`;
    const kept = (...names: readonly string[]): Partial<ClientOptions> => ({
      servers: ["one:1"],
      authorities: { x: { servers: ["two:2"] } },
      retained: [{ type: cluster, resources: names.map((each) => receivedCluster(each)), version: "v7", isAll: true }],
    });
    await withClient(kept("a"), async ({ of, watch }) => {
      watch("*");
      assert.deepEqual(of("one:1").log, ["hold all cluster a@v7", "+cluster *"]);
    });
    await withClient(kept("a", name), async ({ of, watch }) => {
      watch("*");
      watch(name);
      assert.deepEqual(of("one:1").log, ["hold all cluster a@", "+cluster *"]);
      assert.deepEqual(of("two:2").log, [`hold all cluster ${name}@`, `+cluster ${name}`]);
    });
  });

  it("watchers get kept resources at once, and the first server is told their versions, and no other server is asked", () => {
    const held = [{ type: cluster, resources: [receivedCluster("a", "0"), receivedCluster("b", "0")], version: "v7" }];
    return withClient({ servers: ["one:1", "two:2"], retained: held }, async ({ of, watch }) => {
      const [all, a] = [watch("*"), watch("a")];
      assert.deepEqual(of("one:1").log, ["hold cluster a,b@v7", "+cluster *", "+cluster a"]);
      of("one:1").fail();
      await settle();
      assert.deepEqual(
        [all.take(), a.take()],
        [
          ["a,b +a,b -", "beside one:1"],
          ["0", "beside one:1"],
        ],
      );
      assert.deepEqual(of("two:2").log, []);
      all.cancel();
      a.cancel();
      const again = watch("a");
      of("one:1").fail();
      await settle();
      // It was kept as long as somebody watched it; now it is missing, and another server can be asked.
      assert.deepEqual([again.take(), [...of("two:2").wanted]], [[], ["cluster a"]]);
    });
  });
});
