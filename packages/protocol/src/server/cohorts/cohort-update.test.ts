import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createStream, emptySnapshot, Ordering, type Snapshot, updateSnapshot } from "../../index.js";
import { assertCollected, collect } from "../../testing/collected.js";
import { sampleResource, urlOf } from "../../testing/sample-resources.js";
import { typeOf } from "../../testing/sample-world.js";
import { usualStream } from "../../testing/stream-options.js";
import { watched } from "../../testing/watched-snapshot.js";
import { encodeRequest, type Request } from "../../testing/wire.js";
import type { SotwOrDelta } from "../../wire/basics/sotw-or-delta.js";
import type { OutgoingResponse } from "../contract/response.js";

const asked = { cluster: [], endpoint: ["a", "b"], listener: [], route: ["r"] } as const;
type Type = keyof typeof asked;
const types = Object.keys(asked) as readonly Type[];

function createClient(variant: SotwOrDelta) {
  const stream = createStream(usualStream(variant));
  const ordering = new Ordering();
  const request = (type: Type, more: Partial<Request>) => {
    const isFirst = more.nonce === undefined;
    const own = variant === "sotw" ? { names: asked[type] } : isFirst ? { subscribe: asked[type] } : {};
    return stream.step({
      kind: "request",
      bytes: encodeRequest(variant, { typeUrl: urlOf(type, "v3"), ...own, ...more }),
    });
  };
  for (const [index, type] of types.entries()) request(type, index === 0 ? { node: { id: "n" } } : {});
  const client = {
    stream,
    give: (snapshot: Snapshot) => void stream.step({ kind: "snapshot", snapshot, ordering }),
    /** Everything that it sends without an answer. */
    take(): readonly OutgoingResponse[] {
      const sent: OutgoingResponse[] = [];
      for (let next = stream.next(); next !== undefined; next = stream.next()) sent.push(next);
      return sent;
    },
    answer({ type, nonce, version }: OutgoingResponse, more: Partial<Request> = {}): void {
      const [effect] = request(type.name as Type, { nonce, version, ...more });
      assert.equal(effect?.kind, more.error === undefined ? "acknowledged" : "rejected");
    },
    /** Answers each response until there are none, and returns their types. */
    bring(snapshot: Snapshot): readonly string[] {
      client.give(snapshot);
      const said: string[] = [];
      const open: OutgoingResponse[] = [...client.take()];
      for (let next = open.shift(); next !== undefined; next = open.shift()) {
        said.push(next.type.name);
        client.answer(next);
        open.push(...client.take());
      }
      return said;
    },
  };
  return client;
}

const first = () =>
  updateSnapshot(emptySnapshot(), {
    upsert: [
      sampleResource("endpoint", "a", "1"),
      sampleResource("endpoint", "b", "1"),
      sampleResource("cluster", "c0", "1->a"),
      sampleResource("route", "r", "1->c0"),
      sampleResource("listener", "l", "1->r"),
    ],
  });

/** The route moves to a new cluster, and the old cluster goes. */
const moved = (snapshot: Snapshot, round: number) =>
  updateSnapshot(snapshot, {
    upsert: [sampleResource("cluster", `c${round}`, "1->a"), sampleResource("route", "r", `1->c${round}`)],
    remove: [{ type: typeOf("cluster"), name: `c${round - 1}` }],
  });

/** Streams in sync at the same snapshot, each after one change. */
function createClients(variant: SotwOrDelta, count: number) {
  const clients = Array.from({ length: count }, () => createClient(variant));
  let snapshot = first();
  for (const client of clients) client.bring(snapshot);
  for (const round of [1, 2]) {
    snapshot = moved(snapshot, round);
    for (const client of clients) client.bring(snapshot);
  }
  assert.ok(clients.every(({ stream }) => stream.isInSync));
  return { clients, snapshot };
}

for (const variant of ["sotw", "delta"] as const) {
  describe(`${variant} streams that wait for the same answers`, () => {
    // Resources that warm with a cluster are sent again.
    const expected = ["cluster", "endpoint", "route", "cluster"];

    it("equal streams repeat the first one's transitions after their own answers, without a look at the snapshot", () => {
      const { clients, snapshot } = createClients(variant, 3);
      const looks = { count: 0 };
      const next = watched(moved(snapshot, 3), looks);
      const counts = clients.map((client) => {
        looks.count = 0;
        assert.deepEqual(client.bring(next), expected);
        assert.ok(client.stream.isInSync);
        return looks.count;
      });
      const [found = 0, compared = 0, last] = counts;
      // The first stream that repeats compares the earlier targets that the orders remember.
      assert.ok(compared < found / 4, `${counts} looks`);
      assert.equal(last, 0);
    });

    it("equal streams work out the next steps only once if their answers come in another order", () => {
      const { clients, snapshot } = createClients(variant, 3);
      const looks = { count: 0 };
      const next = watched(moved(snapshot, 3), looks);
      const counts = clients.map((client, index) => {
        looks.count = 0;
        client.give(next);
        const [cluster, endpoint] = client.take() as [OutgoingResponse, OutgoingResponse];
        // The first client answers one by one. The others answer both at once, in reverse order.
        if (index === 0) {
          client.answer(cluster);
          const [route] = client.take() as [OutgoingResponse];
          for (const one of [endpoint, route]) client.answer(one);
        } else {
          for (const one of [endpoint, cluster]) client.answer(one);
          for (const one of client.take()) client.answer(one);
        }
        for (const one of client.take()) client.answer(one);
        assert.deepEqual(client.take(), []);
        assert.ok(client.stream.isInSync);
        return looks.count;
      });
      assert.equal(counts[2], 0, `${counts} looks`);
    });

    it("equal streams go on alone if an answer comes between two of their responses", () => {
      const { clients, snapshot } = createClients(variant, 2);
      const next = moved(snapshot, 3);
      const [one, other] = clients as [(typeof clients)[0], (typeof clients)[0]];
      one.bring(next);
      other.give(next);
      other.answer(other.stream.next() as OutgoingResponse);
      // The transport had room for one.
      assert.deepEqual(
        other.take().map(({ type }) => type.name),
        ["endpoint", "route"],
      );
    });

    it("equal streams repeat the first one if a listener is new, and go on alone if one is replaced", () => {
      const { clients, snapshot } = createClients(variant, 3);
      const looks = { count: 0 };
      const added = watched(updateSnapshot(snapshot, { upsert: [sampleResource("listener", "m", "1->r")] }), looks);
      const replaced = updateSnapshot(added, { upsert: [sampleResource("listener", "l", "2->s")] });
      const counts = clients.map((client) => {
        looks.count = 0;
        assert.deepEqual(client.bring(added), ["listener"]);
        return looks.count;
      });
      assert.equal(counts[2], 0, `${counts} looks`);
      for (const { stream, give, take, answer } of clients) {
        give(replaced);
        for (const one of take()) answer(one);
        take();
        // Connections of the old listener still use the route.
        assert.ok(stream.deadline() !== undefined);
      }
    });

    it("equal streams go on if one client rejects the response that its stream waits for, and that client keeps its used resources", () => {
      const { clients, snapshot } = createClients(variant, 3);
      const [one, bad, other] = clients as [(typeof clients)[0], (typeof clients)[0], (typeof clients)[0]];
      const next = moved(snapshot, 3);
      one.bring(next);
      bad.give(next);
      const [cluster, endpoint] = bad.take() as [OutgoingResponse, OutgoingResponse];
      bad.answer(cluster, { error: { code: 3, message: "no" } });
      bad.answer(endpoint);
      // The route would name a cluster that it does not have.
      assert.deepEqual(bad.take(), []);
      assert.equal(bad.stream.isInSync, false);
      assert.deepEqual(other.bring(next), expected);
      assert.ok(other.stream.isInSync);
    });

    it("equal streams go on alone when a newer snapshot comes in between", () => {
      const { clients, snapshot } = createClients(variant, 3);
      const next = moved(snapshot, 3);
      const newest = moved(next, 4);
      const said = clients.map((client, index) => {
        if (index === 0) client.bring(next);
        else client.give(next);
        const open = index === 0 ? [] : client.take();
        client.give(newest);
        for (const one of open) client.answer(one);
        return [...client.take().map(({ type }) => type.name), "-"].join();
      });
      assert.equal(said[2], said[1]);
      for (const { stream } of clients) assert.equal(stream.isInSync, false);
    });

    it("equal streams have a deadline, after which they send the changes that waited", () => {
      const { clients, snapshot } = createClients(variant, 2);
      const next = moved(snapshot, 3);
      for (const { stream, give, take, answer } of clients) {
        const acknowledged = () => stream.status().find(({ type }) => type.name === "cluster")?.acknowledged?.version;
        const before = acknowledged();
        give(next);
        const late = take();
        const deadline = stream.deadline();
        assert.ok(deadline !== undefined);
        const ended = stream.step({ kind: "time" }, deadline);
        assert.ok(ended.some((effect) => effect.kind === "wait-ended"));
        const routes = take();
        assert.deepEqual(
          routes.map(({ type }) => type.name),
          ["route"],
        );
        // Status does not say that the client has resources that it never acknowledged, and a late answer still counts.
        for (const one of routes) answer(one);
        assert.equal(acknowledged(), before);
        assert.equal(stream.isInSync, false);
        for (const one of late) answer(one);
        assert.notEqual(acknowledged(), before);
        for (const one of take()) answer(one);
        assert.ok(stream.isInSync);
      }
    });
  });
}

it("a stream with a long wait keeps no later snapshot alive", async () => {
  const { clients, snapshot: start } = createClients("delta", 4);
  const [waiting, ...others] = clients;
  const gone: WeakRef<object>[] = [];
  (() => {
    let snapshot = moved(start, 3);
    for (const client of others) client.bring(snapshot);
    waiting?.give(snapshot);
    waiting?.take();
    for (let round = 4; round < 20; round++) {
      snapshot = moved(snapshot, round);
      waiting?.give(snapshot);
      for (const client of others) client.bring(snapshot);
      if (round < 12) gone.push(new WeakRef(snapshot));
    }
  })();
  await assertCollected(gone);
});

it("streams that wait at different snapshots each keep a few snapshots alive, however many are published", async () => {
  const { clients, snapshot: start } = createClients("delta", 7);
  const [reading, ...waiting] = clients;
  const snapshots: WeakRef<object>[] = [];
  (() => {
    let snapshot = start;
    for (let round = 3; round < 103; round++) {
      snapshot = moved(snapshot, round);
      snapshots.push(new WeakRef(snapshot));
      reading?.bring(snapshot);
      for (const [index, client] of waiting.entries()) {
        // It takes the first response of this stage, and answers nothing from then on.
        if (round < 10 * (index + 1)) client.bring(snapshot);
        else client.give(snapshot);
        if (round === 10 * (index + 1)) client.take();
      }
    }
  })();
  for (let turn = 0; turn < 5; turn++) await collect();
  const alive = snapshots.filter((reference) => reference.deref() !== undefined).length;
  assert.ok(alive <= 8 * waiting.length, `${alive} of ${snapshots.length} snapshots are held`);
});
