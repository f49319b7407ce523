import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Resource, resourceTypes, XdskitError } from "@xdskit/api";
import type { LayerChange } from "../contracts/layer-change.js";
import { clusterResource } from "../testing/test-resources.js";
import { LayerStack } from "./layer-stack.js";
import { createLayers, type Layers } from "./layers.js";

const clusters = resourceTypes.find("cluster")!;
const key = (name: string) => ({ type: clusters, name });
const replace = (layer: string, ...upsert: Resource[]) => ({ layer, kind: "replace", upsert }) as const;
const shown = (changes: readonly LayerChange[]) =>
  changes.map(({ layer, upserted, removed }) => [
    layer,
    upserted.map(({ name }) => name),
    removed.map(({ name }) => name),
  ]);

describe("createLayers", () => {
  it("a replacement is reduced to the real differences", () => {
    const layers = createLayers();
    layers.apply([replace("l", clusterResource("a"), clusterResource("b"), clusterResource("c"))]);
    const kept = layers.get("l")?.of(clusters).get("b");
    const changes = layers.apply([
      replace("l", clusterResource("b"), clusterResource("c", "new"), clusterResource("d")),
    ]);
    assert.deepEqual(shown(changes), [["l", ["c", "d"], ["a"]]]);
    // An equal resource is not stored a second time.
    assert.equal(layers.get("l")?.of(clusters).get("b"), kept);
  });

  it("an update with equal content changes nothing", () => {
    const layers = createLayers();
    layers.apply([replace("l", clusterResource("a"))]);
    const before = layers.get("l");
    assert.deepEqual(layers.apply([replace("l", clusterResource("a"))]), []);
    assert.deepEqual(
      layers.apply([{ layer: "l", kind: "patch", upsert: [clusterResource("a")], remove: [key("x")] }]),
      [],
    );
    assert.equal(layers.get("l"), before);
  });

  it("a patch changes the resources that it names, and keeps one that it both removes and upserts", () => {
    const layers = createLayers();
    layers.apply([replace("l", clusterResource("a"), clusterResource("b"))]);
    const remove = [key("a"), key("b")];
    assert.deepEqual(
      shown(layers.apply([{ layer: "l", kind: "patch", upsert: [clusterResource("b", "new")], remove }])),
      [["l", ["b"], ["a"]]],
    );
  });

  it("a new layer is reported, even an empty one", () => {
    const layers = createLayers();
    assert.deepEqual(shown(layers.apply([replace("l")])), [["l", [], []]]);
    assert.deepEqual(layers.names, ["l"]);
  });

  it("a dropped layer is forgotten, and the change lists its resources", () => {
    const layers = createLayers();
    layers.apply([replace("l", clusterResource("a")), replace("m", clusterResource("b"))]);
    const change = layers.drop("l");
    assert.deepEqual(shown(change === undefined ? [] : [change]), [["l", [], ["a"]]]);
    assert.deepEqual([layers.names, layers.get("l")], [["m"], undefined]);
    assert.equal(layers.drop("l"), undefined);
  });

  it("either all updates are applied or none", () => {
    const layers = createLayers();
    layers.apply([replace("l", clusterResource("a"))]);
    const before = layers.get("l");
    const twice = replace("m", clusterResource("x"), clusterResource("y"), clusterResource("x", "other"));
    assert.throws(
      () => layers.apply([replace("l", clusterResource("b")), twice]),
      (error) => {
        assert.ok(error instanceof XdskitError);
        assert.equal(error.code, "XDSKIT_DUPLICATE_RESOURCE");
        assert.deepEqual(
          error.findings.map(({ resource }) => resource),
          ["x"],
        );
        return true;
      },
    );
    assert.equal(layers.get("l"), before);
    assert.deepEqual(layers.names, ["l"]);
  });
});

describe("LayerStack", () => {
  const content = (stack: LayerStack) =>
    Object.fromEntries(Array.from(stack.snapshot()?.of(clusters) ?? [], ({ name, version }) => [name, version]));
  const versions = (...resources: Resource[]) =>
    Object.fromEntries(resources.map(({ name, version }) => [name, version]));

  it("the later layer wins, and the earlier one's resource comes back when it is removed", () => {
    const layers = createLayers();
    const stack = new LayerStack(layers, ["low", "high"]);
    const [low, high, other] = [clusterResource("a", "low"), clusterResource("a", "high"), clusterResource("b")];
    layers.apply([replace("low", low, other), replace("high", high)]);
    assert.deepEqual(content(stack), versions(high, other));
    const update = (changes: readonly LayerChange[]) => stack.update(changes);
    assert.equal(update(layers.apply([replace("high")])), true);
    assert.deepEqual(content(stack), versions(low, other));
    assert.equal(update(layers.apply([replace("high", high)])), true);
    assert.deepEqual(content(stack), versions(high, other));
    const before = stack.snapshot();
    // A resource that a higher layer hides may change without a difference.
    assert.equal(update(layers.apply([replace("low", clusterResource("a", "newer"), other)])), false);
    assert.equal(stack.snapshot(), before);
    assert.equal(update(layers.apply([replace("low", other), replace("high")])), true);
    assert.deepEqual(content(stack), versions(other));
  });

  for (const names of [["low", "high"], undefined]) {
    it(`a stack releases a layer that is dropped, with ${names === undefined ? "all layers" : "a list of layers"}`, () => {
      const layers = createLayers();
      const stack = new LayerStack(layers, names);
      const drop = (layer: string) => {
        const change = layers.drop(layer);
        assert.equal(stack.update(change === undefined ? [] : [change]), true);
        return content(stack);
      };
      const [low, high] = [clusterResource("a", "low"), clusterResource("a", "high")];
      layers.apply([replace("low", low), replace("high", high, clusterResource("b"))]);
      stack.snapshot();
      assert.deepEqual(drop("high"), versions(low));
      assert.deepEqual(drop("low"), {});
      stack.update(layers.apply([replace("high", high)]));
      assert.deepEqual(content(stack), versions(high));
    });

    it(`a stack is empty once its only layer is dropped, with ${names === undefined ? "all layers" : "a list of layers"}`, () => {
      const layers = createLayers();
      const stack = new LayerStack(layers, names);
      layers.apply([replace("low", clusterResource("a"))]);
      stack.snapshot();
      const change = layers.drop("low");
      assert.equal(stack.update(change === undefined ? [] : [change]), true);
      assert.notEqual(stack.snapshot(), undefined);
      assert.deepEqual(content(stack), {});
      stack.update(layers.apply([replace("high", clusterResource("b"))]));
      assert.deepEqual(content(stack), versions(clusterResource("b")));
    });
  }

  it("a stack is unknown while none of its layers exists, and takes those that do", () => {
    const layers = createLayers();
    const stack = new LayerStack(layers, ["low", "high"]);
    layers.apply([replace("elsewhere", clusterResource("x"))]);
    assert.equal(stack.snapshot(), undefined);
    stack.update(layers.apply([replace("high", clusterResource("a"))]));
    assert.deepEqual(content(stack), versions(clusterResource("a")));
    stack.update(layers.apply([replace("low", clusterResource("a", "low"), clusterResource("b"))]));
    assert.deepEqual(content(stack), versions(clusterResource("a"), clusterResource("b")));
  });

  it("a stack of a single layer shares that layer's snapshot", () => {
    const layers = createLayers();
    const all = new LayerStack(layers, undefined);
    layers.apply([replace("only", clusterResource("a"))]);
    assert.equal(all.snapshot(), layers.get("only"));
    all.update(layers.apply([replace("only", clusterResource("b"))]));
    assert.equal(all.snapshot(), layers.get("only"));
    all.update(layers.apply([replace("second", clusterResource("b", "wins"), clusterResource("c"))]));
    assert.deepEqual(content(all), versions(clusterResource("b", "wins"), clusterResource("c")));
  });

  it("a stack ends equal to one that is built at once, whatever came in between", () => {
    const names = ["one", "two", "three"];
    const random = generator(42);
    const layers: Layers = createLayers();
    const stack = new LayerStack(layers, names);
    layers.apply(names.map((name) => replace(name)));
    stack.snapshot();
    for (let round = 0; round < 300; round++) {
      const updates = names.slice(random(3)).map((layer) => {
        const upsert = [0, 1, 2, 3, 4].slice(random(5)).map((index) => clusterResource(`c${index}`, `${random(3)}`));
        return random(2) === 0
          ? replace(layer, ...upsert)
          : ({ layer, kind: "patch", upsert, remove: [key(`c${random(5)}`), key(`c${random(5)}`)] } as const);
      });
      const before = stack.snapshot();
      const changed = stack.update(layers.apply(updates));
      assert.equal(changed, stack.snapshot() !== before);
      assert.deepEqual(content(stack), content(new LayerStack(layers, names)));
    }
  });
});

/** A small linear congruential generator: the same numbers in every run. */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
