import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as settled } from "node:timers/promises";
import { createResource, type ResourceType } from "@xdskit/api";
import {
  type ClaimedSnapshot,
  emptySnapshot,
  NameSet,
  type Snapshot,
  type Subscription,
  updateSnapshot,
} from "@xdskit/protocol";
import type { MemberStanding } from "../../contracts/parts/target-policy.js";
import { manualClock } from "../../testing/basics/manual-clock.js";
import { cluster, listener, loadAssignment } from "../../testing/test-resources.js";
import { type ResumingStream, Resumption } from "./resumption.js";

const clusters = createResource(cluster("a")).type;
const listeners = createResource(listener("l")).type;
const endpoints = createResource(loadAssignment("e", 80)).type;
const earlier = updateSnapshot(emptySnapshot(), { upsert: [createResource(cluster("old"))] });
const held = updateSnapshot(earlier, { upsert: [createResource(cluster("between"))] });
const newest = updateSnapshot(held, { upsert: [createResource(cluster("new"))] });

const everything: Subscription = { wildcard: true, names: NameSet.empty };

/** A client that comes back, as a resumption sees it. */
class Client implements ResumingStream {
  readonly clock = manualClock();
  isInSync = true;
  newest: Snapshot | undefined;
  /** Whether a known snapshot holds everything that the client claims to have. */
  isKnown = true;
  changes = 0;
  /** Thrown where its own resources are put together. */
  fault: Error | undefined;
  readonly faults: unknown[] = [];
  /** What each question for what others have written comes to; without any: nobody else writes. */
  readonly news: (() => Promise<void>)[] = [];
  /** The snapshots that it was compared with. */
  known: readonly Snapshot[] = [];
  /** What it was said to have before, each time that this mattered. */
  readonly before: ClaimedSnapshot[] = [];
  warming: ClaimedSnapshot["warming"] = "no";
  #claims: ReadonlyMap<ResourceType, boolean | undefined> = new Map();
  readonly asked = new Map<string, { subscription: Subscription }>();
  standing: MemberStanding = "pending";
  readonly resumption: Resumption;

  constructor(maySayMore = true, isAggregated = true) {
    const targetChanged = () => {
      this.changes += 1;
    };
    const known = () => [earlier];
    const catchUp = () => this.news.shift()?.();
    this.resumption = new Resumption({
      clock: this.clock,
      stream: this,
      standing: () => (this.isInSync ? "synced" : this.standing),
      known,
      targetChanged,
      failed: (error) => this.faults.push(error),
      catchUp,
      maySayMore,
      isAggregated,
      mayWarm: isAggregated,
      tellsAbsence: false,
    });
  }

  has(): ReadonlyMap<ResourceType, boolean | undefined> {
    return this.#claims;
  }

  claimed(known: readonly Snapshot[], before?: ClaimedSnapshot): ClaimedSnapshot {
    if (this.fault !== undefined) throw this.fault;
    this.known = known;
    if (before !== undefined) this.before.push(before);
    const warming = this.asked.has(clusters.typeUrl) ? "no" : this.warming;
    const none = { replaced: [], awaited: new Map() };
    const asked = new Map(Array.from(this.asked, ([url, { subscription }]) => [url, subscription]));
    return { snapshot: held, isKnown: this.isKnown, asked, warming, ...none };
  }

  /** It asks for types, and claims to have either their content in the newest snapshot or something else. */
  asks(...types: readonly [ResourceType, hasNewest: boolean | undefined][]): Snapshot | undefined {
    this.#claims = new Map(types);
    for (const { typeUrl } of this.#claims.keys())
      if (!this.asked.has(typeUrl)) this.asked.set(typeUrl, { subscription: everything });
    const target = this.resumption.target(newest);
    // A stream that has a target has compared what its client claims with it.
    if (target !== undefined) this.#claims = new Map();
    return target;
  }
}

describe("a client that comes back", () => {
  it("a client that comes back gets the newest at once if it has nothing", () => {
    const client = new Client();
    assert.equal(client.asks(), newest);
    assert.equal(client.asks([clusters, false]), newest);
  });

  it("a client that comes back gets nothing until it has asked for everything that it had, then its own snapshot, and then the newest", () => {
    const client = new Client();
    assert.equal(client.asks([clusters, false]), undefined);
    client.clock.advance(90);
    assert.equal(client.asks([clusters, false], [listeners, true]), undefined);
    client.clock.advance(90);
    assert.equal(client.changes, 0);
    client.clock.advance(20);
    assert.equal(client.changes, 1);
    assert.deepEqual(client.known, [newest, earlier]);
    assert.equal(client.asks(), held);
    client.clock.advance(100);
    assert.equal(client.changes, 2);
    assert.equal(client.asks(), newest);
  });

  it("a client that comes back has its fault told where its own resources cannot be put together", () => {
    const client = new Client();
    client.fault = new Error("a fault");
    client.asks([clusters, false]);
    client.clock.advance(100);
    assert.deepEqual(client.faults, [client.fault]);
  });

  it("a client that comes back gets the newest at once if it has that of the first type and comes from another server", () => {
    const client = new Client(false);
    assert.equal(client.asks([clusters, true]), newest);
    client.clock.advance(10_000);
    assert.equal(client.changes, 0);
  });

  it("a client that comes back is waited for after a restart though it has the newest of the first type", () => {
    const client = new Client();
    assert.equal(client.asks([clusters, true]), undefined);
    client.clock.advance(100);
    assert.equal(client.asks([clusters, true]), held);
  });

  it("a client that comes back is not waited for if it asks again and again without anything new", () => {
    const client = new Client();
    for (let time = 0; time < 100; time += 50) {
      assert.equal(client.asks([clusters, true]), undefined);
      client.clock.advance(50);
    }
    assert.equal(client.changes, 1);
  });

  it("a client that comes back keeps its own snapshot until it asks for the clusters whose endpoints it asks for", () => {
    const client = new Client();
    client.warming = "certain";
    assert.equal(client.asks([endpoints, false], [listeners, true]), undefined);
    client.clock.advance(200);
    assert.equal(client.asks(), held);
    client.clock.advance(15_000);
    assert.equal(client.asks(), held);
    client.asks([clusters, false]);
    client.clock.advance(200);
    assert.equal(client.asks(), newest);
  });

  it("a client that comes back does not wait for clusters if it asks for endpoints alone", () => {
    const client = new Client();
    assert.equal(client.asks([endpoints, false]), undefined);
    client.clock.advance(200);
    assert.equal(client.asks(), newest);
  });

  it("a client that comes back does not keep its own snapshot for ever if it never asks for clusters", () => {
    const client = new Client();
    client.warming = "certain";
    client.asks([endpoints, false], [listeners, true]);
    client.clock.advance(100);
    assert.equal(client.asks(), held);
    client.clock.advance(20_000);
    assert.equal(client.asks(), newest);
  });

  it("a client that comes back has time to warm its clusters once their endpoints are there", () => {
    const client = new Client();
    client.warming = "certain";
    client.asks([endpoints, false], [listeners, true]);
    client.clock.advance(100);
    assert.equal(client.asks(), held);
    client.clock.advance(12_000);
    client.warming = "possible";
    const newer = updateSnapshot(newest, { upsert: [createResource(loadAssignment("e", 81))] });
    assert.equal(client.resumption.target(newer), held);
    client.clock.advance(4_000);
    assert.equal(client.resumption.target(newer), held);
    client.clock.advance(2_000);
    assert.equal(client.resumption.target(newer), newer);
  });

  it("a client that comes back says once more what it has when it asks for clusters last", () => {
    const client = new Client();
    client.warming = "certain";
    client.asks([endpoints, false], [listeners, true]);
    client.clock.advance(100);
    assert.equal(client.asks(), held);
    client.asks();
    assert.equal(client.before.length, 0);
    client.asks([clusters, false]);
    assert.equal(client.before[0]?.snapshot, held);
    // Its time begins anew.
    client.isInSync = false;
    client.clock.advance(4_900);
    assert.equal(client.asks(), held);
    client.clock.advance(200);
    assert.equal(client.asks(), newest);
  });

  it("a client that asks for endpoints first, and claims nothing, gets the newest at once", () => {
    const client = new Client();
    client.asked.set(endpoints.typeUrl, { subscription: everything });
    assert.equal(client.resumption.target(newest), newest);
  });

  it("a client with a stream for each type does not wait for clusters on that of endpoints", () => {
    const client = new Client(false, false);
    assert.equal(client.asks([endpoints, undefined]), newest);
  });

  it("a client that comes back is not waited for once it has rejected some of its own resources, and answered all", () => {
    const client = new Client();
    client.isInSync = false;
    assert.equal(client.asks([clusters, false]), undefined);
    client.clock.advance(100);
    assert.equal(client.asks(), held);
    client.clock.advance(300);
    assert.equal(client.asks(), held);
    client.standing = "rejected";
    client.clock.advance(100);
    assert.equal(client.asks(), newest);
  });

  it("a client that comes back is not told that a name is absent that the newest has, and that it asks for meanwhile", () => {
    const client = new Client(true, false);
    client.isInSync = false;
    client.asks([endpoints, false]);
    client.clock.advance(100);
    assert.equal(client.asks(), held);
    const later = updateSnapshot(newest, { upsert: [createResource(loadAssignment("late", 80))] });
    assert.equal(client.resumption.target(later), held);
    assert.deepEqual(client.before, []);
    client.asked.set(endpoints.typeUrl, { subscription: { wildcard: false, names: NameSet.of(["late"]) } });
    client.resumption.target(later);
    assert.equal(client.before.length, 1);
    assert.equal(client.known[0], later);
  });

  it("a client that comes back is waited for while it does not use the resources that it asked for again, and not for ever", () => {
    const client = new Client();
    client.isInSync = false;
    client.asks([clusters, false]);
    client.clock.advance(1_000);
    assert.equal(client.asks(), held);
    assert.equal(client.changes, 1);
    client.clock.advance(4_100);
    assert.equal(client.changes, 2);
    assert.equal(client.asks(), newest);
  });

  it("a client that comes back is not waited for where nobody else writes, whatever it has", () => {
    const client = new Client(false);
    client.isKnown = false;
    client.asks([clusters, false]);
    client.clock.advance(100);
    assert.equal(client.asks([clusters, false]), held);
  });

  it("a client that comes back gets nothing for a second if it has something that another server may have learned of first", async () => {
    const client = new Client(false);
    client.isKnown = false;
    client.news.push(async () => {});
    assert.equal(client.asks([clusters, false]), undefined);
    client.clock.advance(900);
    await settled();
    assert.equal(client.asks([clusters, false]), undefined);
    client.clock.advance(100);
    assert.equal(client.asks([clusters, false]), held);
  });

  it("a client that comes back with what another server wrote gets nothing until this server has read that", async () => {
    const client = new Client(false);
    client.isKnown = false;
    let heard = () => {};
    client.news.push(
      () => Promise.reject(new Error("nobody answers")),
      () =>
        new Promise((resolve) => {
          heard = resolve;
        }),
    );
    client.asks([clusters, false]);
    client.clock.advance(100);
    await settled();
    client.clock.advance(4_000);
    assert.equal(client.asks([clusters, false]), undefined);
    heard();
    await settled();
    client.clock.advance(100);
    assert.equal(client.asks([clusters, false]), held);
  });

  it("a client that comes back does not wait for ever for a store that nobody can read", async () => {
    const client = new Client(false);
    client.isKnown = false;
    client.news.push(() => new Promise(() => {}));
    client.asks([clusters, false]);
    client.clock.advance(9_900);
    await settled();
    assert.equal(client.asks([clusters, false]), undefined);
    client.clock.advance(100);
    assert.equal(client.asks([clusters, false]), held);
  });

  it("a client that comes back keeps its own snapshot as soon as the server has it, and has read all news", async () => {
    const client = new Client(false);
    client.isKnown = false;
    let heard = () => {};
    client.news.push(
      () =>
        new Promise((resolve) => {
          heard = resolve;
        }),
    );
    client.asks([clusters, false]);
    client.clock.advance(300);
    client.isKnown = true;
    client.clock.advance(100);
    assert.equal(client.asks([clusters, false]), undefined);
    heard();
    await settled();
    client.clock.advance(100);
    assert.equal(client.asks([clusters, false]), held);
  });
});
