import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createResource, type Resource, type ResourceType, resourceTypes } from "@xdskit/api";
import { createDanglingNames, type Snapshot } from "@xdskit/protocol";
import { LayerStack } from "../../configuration/layer-stack.js";
import { createLayers, type Layers } from "../../configuration/layers.js";
import type { LayerUpdate } from "../../contracts/source.js";
import { times } from "../../testing/basics/effort.js";
import { randomFrom } from "../../testing/basics/random.js";
import { judgedChange } from "../../testing/judged-change.js";
import { cluster, routeConfiguration, routedListener } from "../../testing/test-resources.js";
import { ReferenceJudge } from "./reference-judge.js";

const typeOf = (word: string): ResourceType => resourceTypes.find(word)!;
const route = (name: string, to: string) => createResource(routeConfiguration(name, to));

/** A judge of one group with these layers; `watch` sees each look at a snapshot. */
function judging(layers: Layers, order: readonly string[], watch = (snapshot: Snapshot) => snapshot) {
  const stack = new LayerStack(layers, order);
  const names = createDanglingNames();
  const before = () => stack.snapshot()!;
  const judge = new ReferenceJudge({ options: {}, live: { references: "refuse" }, types: resourceTypes });
  const watched: Layers = { ...layers, get: (layer) => layers.get(layer) && watch(layers.get(layer)!) };
  return {
    judge(updates: readonly LayerUpdate[]) {
      const order = stack.order(updates.map(({ layer }) => layer));
      return judge.judge(judgedChange(watched, layers.plan(updates), { before: watch(before()), order, index: names }));
    },
    apply(updates: readonly LayerUpdate[]) {
      const changes = layers.apply(updates);
      stack.update(changes);
      names.update(before());
    },
    before,
  };
}

describe("the judge of references", () => {
  it("looks at the changes, and not at all 100,000 resources", () => {
    const layers = createLayers();
    let looks = 0;
    const watch = ({ sets, of }: Snapshot): Snapshot => ({
      get sets(): never {
        return assert.fail("it looks at everything");
      },
      of: (type) => ({
        ...of(type),
        get(name) {
          looks += 1;
          return sets.get(type.typeUrl)?.get(name);
        },
        named(name) {
          looks += 1;
          return sets.get(type.typeUrl)?.named(name) ?? [];
        },
        [Symbol.iterator]: () => assert.fail("it looks at everything"),
      }),
    });
    const { judge, apply } = judging(layers, ["lower", "upper"], watch);
    const upsert: Resource[] = [];
    for (let index = 0; index < 50_000; index += 1) {
      upsert.push(createResource(cluster(`c${index}`)), route(`r${index}`, index < 25_000 ? "c0" : `c${index}`));
    }
    apply([{ layer: "lower", kind: "replace", upsert }]);
    apply([{ layer: "upper", kind: "replace", upsert: [createResource(cluster("upper"))] }]);
    const remove = (name: string, ...more: Resource[]): LayerUpdate[] => [
      { layer: "lower", kind: "patch", upsert: more, remove: [{ type: typeOf("cluster"), name }] },
    ];
    // A cluster that 25,000 resources name, one that one resource names, and one that no resource names any more.
    assert.equal(judge(remove("c0"))?.findings.length, 1);
    assert.ok(looks < 30, `${looks} looks`);
    assert.equal(judge(remove("c30000"))?.findings.length, 1);
    assert.equal(judge(remove("c30001", route("r30001", "c5"))), undefined);
    assert.ok(looks < 60, `${looks} looks`);
  });

  it("finds the same as a look at everything, after any sequence of changes", () => {
    const names = ["a", "b", "c"];
    const order = ["l1", "l2", "l3"];
    for (let seed = 1; seed <= times(60); seed += 1) {
      const int = randomFrom(seed);
      const random = { int, pick: <T>(from: readonly T[]): T => from[int(from.length)] as T };
      const { judge, apply, before } = judging(createLayers(), order);
      apply([{ layer: "l1", kind: "replace", upsert: [] }]);
      for (let step = 0; step < 25; step += 1) {
        const resource = (): Resource => {
          const [name, to] = [random.pick(names), random.pick(names)];
          if (random.int(3) === 0) return createResource(cluster(name, `${step}`));
          return random.int(2) === 0 ? route(name, to) : createResource(routedListener(name, to));
        };
        const layersOfChange = order.filter(() => random.int(2) === 0);
        const updates = layersOfChange.map((layer): LayerUpdate => {
          const byKey = new Map(
            Array.from({ length: random.int(4) }, resource).map((one) => [`${one.type.name} ${one.key}`, one]),
          );
          const upsert = [...byKey.values()];
          const remove = Array.from({ length: random.int(4) }, () => ({
            type: typeOf(random.pick(["cluster", "route", "listener"])),
            name: random.pick(names),
          }));
          return random.int(5) === 0 ? { layer, kind: "replace", upsert } : { layer, kind: "patch", upsert, remove };
        });
        const had = namesIn(before());
        const told = judge(updates)?.findings.map(({ message }) => /^names (\w+ "\w+")/.exec(message)?.[1]);
        apply(updates);
        const has = namesIn(before());
        const expected = new Set<string>();
        for (const set of before().sets.values()) {
          for (const { references } of set) {
            for (const { type, name } of references) {
              const what = `${resourceTypes.byTypeUrl(type)?.type.name} "${name}"`;
              if (had.has(what) && !has.has(what)) expected.add(what);
            }
          }
        }
        assert.deepEqual([...(told ?? [])].sort(), [...expected].sort(), `seed ${seed}, step ${step}`);
      }
    }
  });
});

function namesIn({ sets }: Snapshot): ReadonlySet<string> {
  return new Set([...sets.values()].flatMap((set) => Array.from(set, ({ type, name }) => `${type.name} "${name}"`)));
}
