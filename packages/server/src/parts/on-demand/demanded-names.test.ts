import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resourceTypes } from "@xdskit/api";
import { limitsOf } from "../../settings/on-demand-options.js";
import { manualClock } from "../../testing/basics/manual-clock.js";
import { randomFrom } from "../../testing/basics/random.js";
import { testNode } from "../../testing/test-node.js";
import { clusterResource } from "../../testing/test-resources.js";
import { Calls } from "./calls.js";
import { DemandedNames } from "./demanded-names.js";
import { SupplierLease } from "./lease.js";
import { Lingering } from "./lingering.js";
import { createSuppliedSet } from "./supplied/supplied-set.js";
import { states, type WantedName, type WantedState } from "./wanted.js";

const type = resourceTypes.find("cluster")!;
const pool = ["a", "b", "c", "d"];

function createWorld() {
  const counts = new Map<WantedState["kind"], number>();
  const supplied = createSuppliedSet(() => {});
  const names = new DemandedNames(supplied, {
    calls: new Calls(limitsOf({ types: [], supply: () => undefined }), manualClock()),
    lingering: new Lingering(100),
    count: (kind, by) => void counts.set(kind, (counts.get(kind) ?? 0) + by),
  });
  const leases: SupplierLease<WantedName>[] = [];
  const leaseFor = (wanted: WantedName) => {
    const lease = new SupplierLease(wanted, { updated() {} });
    leases.push(lease);
    return lease;
  };

  /** What the class promises after each call. */
  function check(what: string): void {
    const counted = new Map<WantedState["kind"], number>();
    for (const { state } of names.all()) counted.set(state.kind, (counted.get(state.kind) ?? 0) + 1);
    for (const kind of new Set([...counts.keys(), ...counted.keys()]))
      assert.equal(counts.get(kind) ?? 0, counted.get(kind) ?? 0, `${what}: names that are ${kind}`);
    for (const bearer of pool) {
      const borne = names.all().filter(({ state }) => state.kind === "in-layers" && state.bearer === bearer);
      const found = new Set(names.touchedBy(type, bearer));
      for (const wanted of borne) assert.ok(found.has(wanted), `${what}: ${wanted.name} is borne by ${bearer}`);
    }
    for (const lease of leases) {
      const holders = names.all().filter((wanted) => wanted.lease === lease);
      assert.deepEqual([...lease.holders].sort(byName), [...holders].sort(byName), `${what}: holders of a lease`);
      assert.equal(lease.isOver, holders.length === 0, `${what}: the lease of ${lease.name}`);
      if (lease.isOver) assert.ok(!supplied.named(type, lease.name).includes(lease), `${what}: still supplied`);
    }
  }
  return { names, supplied, leaseFor, check };
}

const byName = (a: WantedName, b: WantedName) => (a.name < b.name ? -1 : 1);

describe("the names that a group asks for", () => {
  for (let seed = 1; seed <= 20; seed++)
    it(`are counted and found, and no lease outlives its names: seed ${seed}`, () => {
      const random = randomFrom(seed);
      const pick = <Item>(items: readonly Item[]): Item => items[random(items.length)]!;
      const { names, supplied, leaseFor, check } = createWorld();
      for (let step = 0; step < 200; step++) {
        const name = pick(pool);
        const wanted = names.get(type, name) ?? names.add(type, name, testNode());
        const kind = pick([
          "in-layers",
          "pending",
          "supplied",
          "shared",
          "absent",
          "failed",
          "unknown",
          "gone",
        ] as const);
        const other = pick(names.all()).lease;
        if (kind === "in-layers") names.become(wanted, { kind, bearer: pick(pool) }, undefined);
        else if (kind === "pending") names.become(wanted, states.pending, leaseFor(wanted));
        else if (kind === "supplied") {
          const lease = leaseFor(wanted);
          names.become(wanted, states.supplied, lease);
          supplied.put(lease, clusterResource(name));
        } else if (kind === "shared" && other !== undefined) names.become(wanted, states.supplied, other);
        else if (kind === "absent") names.become(wanted, states.absent, wanted.lease ?? leaseFor(wanted));
        else if (kind === "gone") assert.equal(names.delete(wanted, "it goes"), true);
        else names.become(wanted, kind === "failed" ? states.failed : states.unknown, undefined);
        check(`step ${step}, ${name} ${kind}`);
      }
    });

  it("tell those that wait what was decided, once", () => {
    const { names } = createWorld();
    const wanted = names.add(type, "a", testNode());
    const decisions: string[] = [];
    const asker = { nameDecided: (_type: unknown, _name: string, decision: string) => void decisions.push(decision) };
    const enter = (state: WantedState) => {
      wanted.askers = asker;
      names.become(wanted, state, undefined);
    };
    for (const state of [states.pending, states.failed, states.unknown]) enter(state);
    assert.deepEqual(decisions, []);
    enter(states.absent);
    enter(states.supplied);
    names.become(wanted, states.absent, undefined);
    assert.deepEqual(decisions, ["absent", "found"]);
  });
});
