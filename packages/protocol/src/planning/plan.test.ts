import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Resource } from "@xdskit/api";
import { emptySnapshot, type Snapshot, updateSnapshot } from "../index.js";
import { ChainedMap } from "../model/basics/chained-map.js";
import { closedResources, naming } from "../testing/closed-resources.js";
import { times } from "../testing/effort.js";
import { createRandom } from "../testing/random.js";
import { sampleResource } from "../testing/sample-resources.js";
import { typeOf } from "../testing/sample-world.js";
import { maxStages, planBetween } from "./plan.js";
import { formatPlan } from "./plan-text.js";

/** `cluster a=1->x; route r=1->a`: a snapshot of these resources. */
function snapshotOf(text: string): Snapshot {
  const upsert = text.split("; ").map((each) => {
    const [, type = "", name = "", content = ""] = /^(\S+) (\S+?)=(.*)$/.exec(each) ?? [];
    return sampleResource(type, name, content);
  });
  return updateSnapshot(emptySnapshot(), { upsert });
}

function planOf(from: string, to: string): string {
  return formatPlan(planBetween(snapshotOf(from), snapshotOf(to)));
}

describe("a plan", () => {
  test("a plan moves a route to a new cluster, and removes the old one", () => {
    assert.equal(
      planOf(
        "cluster a=1->x; endpoint x=1; listener l=1->r; route r=1->a",
        "cluster b=1->y; endpoint y=1; listener l=1->r; route r=2->b",
      ),
      `4 stages: 2 added, 1 changed, 2 removed
1. at once
     + cluster b
     + endpoint y
2. once cluster b is acknowledged (warm)
     ~ route r
3. once the change of route r is acknowledged
     - cluster a
4. once the removal of cluster a is acknowledged
     - endpoint x
`,
    );
  });

  test("a plan removes the resources that only a replaced listener names once its connections have drained", () => {
    assert.equal(
      planOf(
        "cluster a=1->static; listener l=1->r; route r=1->a",
        "cluster b=1->static; listener l=2->s; route s=1->b",
      ),
      `4 stages: 2 added, 1 changed, 2 removed
1. at once
     + cluster b
     ~ listener l
2. once cluster b is acknowledged (warm)
     + route s
3. once connections of what listener l was before have drained
     - route r
4. once the removal of route r is acknowledged
     - cluster a
`,
    );
  });

  test("a plan sends a renamed load assignment with the cluster's change, and removes the old one after it", () => {
    assert.equal(
      planOf("cluster a=1->x; endpoint x=1", "cluster a=1->y; endpoint y=1"),
      `2 stages: 1 added, 1 changed, 1 removed
1. at once
     + endpoint y
     ~ cluster a
2. once the change of cluster a is acknowledged
     - endpoint x
`,
    );
  });

  test("a plan has no step that waits if no resource names another", () => {
    assert.equal(
      planOf("secret a=1; runtime b=1", "secret a=2; runtime c=1"),
      "1 stage: 1 added, 1 changed, 1 removed\n1. at once\n     + runtime c\n     ~ secret a\n     - runtime b\n",
    );
    assert.equal(planOf("secret a=1", "secret a=1"), "nothing changes\n");
  });
});

describe("a readable plan", () => {
  const many = (count: number, label: number) =>
    Array.from({ length: count }, (_, index) => `cluster c${100 + index}=${label}->static`).join("; ");

  test("a readable plan cuts long lists, and counts the left-out names", () => {
    const plan = planBetween(snapshotOf(many(20, 1)), snapshotOf(many(20, 2)));
    assert.equal(
      formatPlan(plan, { names: 3 }),
      "1 stage: 0 added, 20 changed, 0 removed\n1. at once\n     ~ 20 clusters: c100, c101, c102 … and 17 more\n",
    );
    assert.match(formatPlan(plan, { names: Number.POSITIVE_INFINITY }), / c118, c119$/m);
  });

  test("a readable plan lists in one line the changes that waited for several names", () => {
    assert.equal(
      planOf(
        "cluster a=1->static; cluster b=1->static; listener l=1->r,s; route r=1->a; route s=1->a,b",
        "cluster c=1->static; cluster d=1->static; listener l=1->r; route r=2->c,d",
      ),
      `4 stages: 2 added, 2 changed, 3 removed
1. at once
     + 2 clusters: c, d
     ~ listener l
2. once clusters c, d are acknowledged (warm)
     ~ route r
3. once connections of what listener l was before have drained
     - route s
4. once the removal of route s is acknowledged
     - 2 clusters: a, b
`,
    );
  });

  test("a readable plan writes names as its caller says", () => {
    const plan = planBetween(snapshotOf("secret a=1"), snapshotOf("secret b=1"));
    assert.match(formatPlan(plan, { name: (name) => `<${name}>` }), /\+ secret <b>\n {5}- secret <a>\n/);
  });
});

test("at no moment does a resource in use name a removed one, or a route or listener an unsent one, and the plan ends at the target", () => {
  const seed = Number(process.env.SEED ?? Date.now() % 1e9);
  const runs = times(60);
  for (let run = 0; run < runs; run++) {
    const random = createRandom(seed, run);
    const from = updateSnapshot(emptySnapshot(), { upsert: closedResources(random) });
    // Of one lineage with it or not.
    const base = random.chance(0.5) ? from : emptySnapshot();
    const remove = [...contentsOf(base).values()].map(({ type, key }) => ({ type, name: key }));
    const to = updateSnapshot(base, { upsert: closedResources(random), remove });
    const before = [from, to].map((snapshot) => versionsOf(contentsOf(snapshot)));
    try {
      checkPlan(from, to);
      assert.deepEqual(
        [from, to].map((snapshot) => versionsOf(contentsOf(snapshot))),
        before,
      );
    } catch (error) {
      throw new Error(`SEED=${seed}, run ${run}\n${formatPlan(planBetween(from, to))}`, { cause: error });
    }
  }
});

test("clusters that name each other go together, and stay together while anything uses one of them", () => {
  const route = (label: number, cluster: string) => naming("route", "r", label, [["cluster", cluster]]);
  const old = [
    naming("cluster", "a", 1, [["cluster", "b"]]),
    naming("cluster", "b", 1, [["cluster", "a"]]),
    naming("cluster", "c", 1, [["cluster", "c"]]),
  ];
  const stay = naming("cluster", "d", 1, []);
  const from = updateSnapshot(emptySnapshot(), { upsert: [...old, stay, route(1, "a")] });
  const to = updateSnapshot(emptySnapshot(), { upsert: [stay, route(2, "d")] });
  assert.equal(
    formatPlan(planBetween(from, to)),
    `2 stages: 0 added, 1 changed, 3 removed
1. at once
     ~ route r
     - cluster c
2. once the change of route r is acknowledged
     - 2 clusters: a, b
`,
  );
});

test("a cluster that the client has waits for the new clusters that it is to lead to, and a new one goes with them", () => {
  const aggregate = (name: string, label: number, ...members: readonly string[]) =>
    naming(
      "cluster",
      name,
      label,
      members.map((member) => ["cluster", member]),
    );
  const from = updateSnapshot(emptySnapshot(), { upsert: [aggregate("all", 1, "a"), aggregate("a", 1)] });
  const upsert = [aggregate("all", 2, "b", "more"), aggregate("b", 1), aggregate("more", 1, "c"), aggregate("c", 1)];
  const to = updateSnapshot(from, { upsert, remove: [{ type: typeOf("cluster"), name: "a" }] });
  assert.equal(
    formatPlan(planBetween(from, to)),
    `3 stages: 3 added, 1 changed, 1 removed
1. at once
     + 3 clusters: b, c, more
2. once clusters b, more are acknowledged (warm)
     ~ cluster all
3. once the change of cluster all is acknowledged
     - cluster a
`,
  );
});

test("a plan of too many stages says so, and ends", () => {
  // Extension configs and clusters that name each other in turn.
  const chain = Array.from({ length: 2 * maxStages }, (_, index) => {
    const [word, next] = index % 2 === 0 ? ["extension", "cluster"] : ["cluster", "extension"];
    return naming(word ?? "", `x${index}`, 1, [[next ?? "", `x${index + 1}`]]);
  });
  const from = updateSnapshot(emptySnapshot(), { upsert: chain });
  const { stages, waits } = planBetween(from, updateSnapshot(from, { remove: chain }));
  assert.equal(stages.length, maxStages);
  assert.deepEqual(waits.map(({ kind, type }) => `${kind} ${type.name}`).sort(), [
    "break cluster",
    "break extension-config",
  ]);
});

test("a plan costs the size of the difference: no set of two snapshots of one lineage is walked", (t) => {
  const upsert = Array.from({ length: 1_000 }, (_, index) => sampleResource("cluster", `c${index}`, "1->static"));
  const from = updateSnapshot(emptySnapshot(), {
    upsert: [...upsert, sampleResource("route", "r", "1->c0"), sampleResource("route", "s", "1->c1")],
  });
  const to = updateSnapshot(from, {
    upsert: [sampleResource("route", "r", "2->new"), sampleResource("cluster", "new", "1->static")],
    remove: [{ type: typeOf("cluster"), name: "c0" }],
  });
  t.mock.method(ChainedMap.prototype, "entries", () => {
    throw new Error("looks through a whole set");
  });
  assert.equal(planBetween(from, to).stages.length, 3);
});

const usesWhenSent = new Set(["listener", "route", "scoped-route", "extension"].map(typeOf));
/** Others a client asks for when it learns their names. */
const sentBeforeUse = new Set(["cluster", "secret", "endpoint"].map((word) => typeOf(word).typeUrl));
/** The longest way through the types, for additions and for removals, and once for draining. */
const maxStagesOfTypes = 9;

/** Applies a plan type by type, and checks the client's resources then. */
function checkPlan(from: Snapshot, to: Snapshot): void {
  const { stages, waits } = planBetween(from, to);
  assert.deepEqual(waits, []);
  assert.ok(stages.length <= maxStagesOfTypes, `${stages.length} stages`);
  const client = new Map(contentsOf(from));
  const gone = new Set<string>();
  let draining: Resource[] = [];
  for (const { after, changes } of stages) {
    if (after.some(({ kind }) => kind === "linger")) draining = [];
    const acknowledged = new Set(client.keys());
    const orders = changes.map(({ type }) => type.deliveryOrder);
    assert.deepEqual(
      orders,
      [...orders].sort((a, b) => a - b),
    );
    for (const { type, added, changed, removed, set } of changes) {
      for (const resource of [...added, ...changed.map(({ after }) => after)]) {
        client.set(keyOf(resource.type.typeUrl, resource.key), resource);
        // A cluster that the client has may be in use: it must not lead to one that is cold.
        const isUsed = usesWhenSent.has(type) || changed.some(({ after }) => after === resource);
        for (const reference of isUsed ? resource.references : []) {
          if (reference.type !== typeOf("cluster").typeUrl) continue;
          const isWarm = acknowledged.has(keyOf(reference.type, reference.name));
          assert.ok(isWarm, `${type.name} ${resource.name} did not wait for cluster ${reference.name}`);
        }
      }
      for (const { key } of removed) {
        client.delete(keyOf(type.typeUrl, key));
        gone.add(keyOf(type.typeUrl, key));
      }
      for (const resource of [...client.values(), ...draining]) {
        for (const reference of resource.references) {
          const key = keyOf(reference.type, reference.name);
          const what = `${resource.type.name} ${resource.name} names ${key}`;
          assert.ok(!gone.has(key), `${what}, which was removed`);
          if (usesWhenSent.has(resource.type) && sentBeforeUse.has(reference.type)) {
            assert.ok(client.has(key), `${what}, which was never sent`);
          }
        }
      }
      assert.deepEqual([...set].length, [...client.values()].filter((one) => one.type === type).length);
      if (type.drains) draining.push(...changed.map(({ before }) => before), ...removed);
    }
  }
  assert.deepEqual(versionsOf(client), versionsOf(contentsOf(to)));
}

function contentsOf(snapshot: Snapshot): ReadonlyMap<string, Resource> {
  return new Map(
    [...snapshot.sets.values()]
      .flatMap((set) => [...set])
      .map((resource) => [keyOf(resource.type.typeUrl, resource.key), resource]),
  );
}

function versionsOf(contents: ReadonlyMap<string, Resource>): readonly string[] {
  return Array.from(contents, ([key, { version }]) => `${key} ${version}`).sort();
}

function keyOf(typeUrl: string, name: string): string {
  return `${typeUrl} ${name}`;
}
