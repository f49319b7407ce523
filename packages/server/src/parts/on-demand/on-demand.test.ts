import assert from "node:assert/strict";
import { test } from "node:test";
import { type ResourceName, resourceTypes } from "@xdskit/api";
import { layerBelow } from "../../configuration/below.js";
import { createGroups } from "../../configuration/groups.js";
import { createLayers } from "../../configuration/layers.js";
import type { ServerEvent } from "../../contracts/events.js";
import type { OnDemandOptions, Supplied, SupplyRequest } from "../../settings/on-demand-options.js";
import { manualClock } from "../../testing/basics/manual-clock.js";
import { testNode } from "../../testing/test-node.js";
import { cluster, clusterResource } from "../../testing/test-resources.js";
import { OnDemand } from "./on-demand.js";

const type = resourceTypes.find("cluster")!;

/** A call of the supplier that has not been answered yet. */
interface Call extends SupplyRequest {
  answer(supplied: Supplied): Promise<void>;
  fail(): Promise<void>;
}

/** Calls are made and answered in microtasks; the clock is the test's. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

function setUp(options: Partial<OnDemandOptions> = {}) {
  const clock = manualClock();
  const layers = createLayers();
  layers.apply([{ layer: "default", kind: "replace", upsert: [] }]);
  const calls: Call[] = [];
  const outcomes: string[] = [];
  const group = createGroups(undefined, undefined).of(testNode())!;
  const supply = (request: SupplyRequest) =>
    new Promise<Supplied>((resolve, reject) => {
      calls.push({
        ...request,
        answer: (supplied) => {
          resolve(supplied);
          return turn();
        },
        fail: () => {
          reject(new Error("no database"));
          return turn();
        },
      });
    });
  const onDemand: OnDemand = new OnDemand(
    { types: ["cluster"], supply, ...options },
    {
      clock,
      types: resourceTypes,
      options: {},
      authorities: undefined,
      layers: {
        names: layers.names,
        get: layers.get,
        bring: (update) => onDemand.layersChanged(layers.apply([update])),
        drop: (layer) => void layers.drop(layer),
      },
      events: {
        emit(_kind, details) {
          const { outcome, name } = details() as unknown as Extract<ServerEvent, { kind: "on-demand" }>;
          outcomes.push(`${outcome} ${name}`);
        },
      },
    },
  );
  onDemand.opened();

  /** A stream, and the answers that it got. */
  function stream() {
    const heard: string[] = [];
    const names = new Set<ResourceName>();
    const interest = onDemand.join(group, testNode(), {
      nameDecided: (_type, name, outcome) => heard.push(`${outcome} ${name}`),
    });
    const say = (added: readonly ResourceName[], again: readonly ResourceName[], dropped: readonly ResourceName[]) => {
      for (const name of added) names.add(name);
      for (const name of dropped) names.delete(name);
      const answered = interest.demand({ kind: "demanded", type, added, again, dropped, names: [...names] });
      heard.push(...answered.absent.map((name) => `at once absent ${name}`));
      heard.push(...answered.late.map((name) => `at once late ${name}`));
      heard.push(...answered.refused.map((name) => `at once refused ${name}`));
      return turn();
    };
    return {
      heard,
      subscribe: (...added: readonly ResourceName[]) => say(added, [], []),
      again: (...again: readonly ResourceName[]) => say([], again, []),
      unsubscribe: (...dropped: readonly ResourceName[]) => say([], [], dropped),
      close: () => interest.close(),
    };
  }
  const pass = (ms: number) => {
    clock.advance(ms);
    return turn();
  };
  const supplied = () => {
    const layer = layers.get(layerBelow(group.key));
    return Array.from(layer?.of(type) ?? [], ({ name }) => name).sort();
  };
  return { clock, layers, calls, outcomes, onDemand, stream, pass, supplied };
}

test("clients wait for a decision for a bounded time, and get it all the same when it comes later", async () => {
  const { calls, stream, pass, supplied } = setUp();
  const [early, late] = [stream(), stream()];
  await early.subscribe("x");
  await pass(2_999);
  assert.deepEqual(early.heard, []);
  await pass(1);
  assert.deepEqual(early.heard, ["late x"]);
  await late.subscribe("x");
  assert.deepEqual(late.heard, ["at once late x"]);
  assert.equal(calls.length, 1);
  await calls[0]?.answer(cluster("x"));
  assert.deepEqual(supplied(), ["x"]);
  assert.equal(calls[0]?.signal.aborted, false);
});

test("a client that asks during a call waits for the same call", async () => {
  const { calls, stream, outcomes } = setUp();
  const streams = Array.from({ length: 1_000 }, () => stream());
  await Promise.all(streams.map((each) => each.subscribe("x")));
  assert.equal(calls.length, 1);
  await calls[0]?.answer(undefined);
  assert.ok(streams.every(({ heard }) => heard.join() === "absent x"));
  assert.deepEqual(outcomes, ["absent x"]);
});

test("an absence is believed for a while, even if no client is subscribed in between", async () => {
  const { calls, stream, pass } = setUp({ lingerMs: 0 });
  const one = stream();
  await one.subscribe("x");
  await calls[0]?.answer(undefined);
  await one.unsubscribe("x");
  await pass(5_000);
  await one.subscribe("x");
  assert.deepEqual(one.heard, ["absent x", "at once absent x"]);
  await one.unsubscribe("x");
  await pass(10_000);
  await one.subscribe("x");
  assert.equal(calls.length, 2);
});

test("a name that stays absent is asked for again, less and less often, and as soon as a client asks anew", async () => {
  const { calls, stream, pass } = setUp({ recheckMs: 30_000 });
  const one = stream();
  await one.subscribe("x");
  await calls[0]?.answer(undefined);
  await pass(9_999);
  await one.again("x");
  assert.equal(calls.length, 1);
  await pass(1);
  assert.equal(calls.length, 2);
  assert.equal(calls[0]?.signal.aborted, true);
  await calls[1]?.answer(undefined);
  await pass(19_999);
  assert.equal(calls.length, 2);
  await one.again("x");
  assert.equal(calls.length, 3);
  await calls[2]?.answer(undefined);
  await pass(29_999);
  assert.equal(calls.length, 3);
  await pass(1);
  assert.equal(calls.length, 4);
});

test("a failed call is repeated, each time after twice as long", async () => {
  const { calls, stream, pass, onDemand, outcomes } = setUp({ retryMaxMs: 1_500 });
  const one = stream();
  await one.subscribe("x");
  for (const [index, wait] of [500, 1_000, 1_500, 1_500].entries()) {
    assert.equal(calls.length, index + 1);
    await calls[index]?.fail();
    await pass(wait - 1);
    assert.equal(calls.length, index + 1);
    await pass(1);
  }
  assert.deepEqual(one.heard, ["late x"]);
  await calls[4]?.answer(cluster("x"));
  assert.equal(onDemand.stats().errors, 4);
  assert.equal(onDemand.stats().supplied, 1);
  assert.deepEqual(outcomes.slice(-2), ["failed x", "supplied x"]);
});

test("a name that no client wants any more is not called for again", async () => {
  const { calls, stream, pass, clock } = setUp({ lingerMs: 100, negativeMs: 100 });
  const one = stream();
  await one.subscribe("x", "y");
  await calls[0]?.fail();
  await calls[1]?.answer(undefined);
  await one.unsubscribe("x", "y");
  await pass(1_000_000);
  assert.equal(calls.length, 2);
  assert.equal(clock.waiting, 0);
});

test("the numbers of calls in progress and waiting calls are bounded, and the others come later", async () => {
  const { calls, stream, pass, onDemand } = setUp({ concurrency: 2, queue: 3 });
  const one = stream();
  await one.subscribe("a", "b", "c", "d", "e", "f");
  assert.deepEqual(
    calls.map(({ name }) => name),
    ["a", "b"],
  );
  assert.equal(onDemand.stats().pending, 5);
  assert.equal(onDemand.stats().failing, 1);
  await calls[0]?.answer(cluster("a"));
  assert.equal(calls[2]?.name, "c");
  await pass(500);
  for (let index = 1; index < 6; index++) await calls[index]?.answer(cluster(calls[index]?.name ?? ""));
  assert.equal(onDemand.stats().supplied, 6);
});

test("a name that is given up while it waits is never called for", async () => {
  const { calls, stream } = setUp({ concurrency: 1 });
  const one = stream();
  await one.subscribe("a", "b", "c");
  await one.unsubscribe("b");
  await calls[0]?.answer(undefined);
  assert.deepEqual(
    calls.map(({ name }) => name),
    ["a", "c"],
  );
});

test("a call that takes too long has failed: its signal aborts and its place is free", async () => {
  const { calls, stream, pass, onDemand } = setUp({ concurrency: 1, timeoutMs: 1_000 });
  const one = stream();
  await one.subscribe("a", "b");
  await pass(1_000);
  assert.equal(calls[0]?.signal.aborted, true);
  assert.equal(calls[1]?.name, "b");
  assert.equal(onDemand.stats().errors, 1);
  await calls[0]?.answer(cluster("a"));
  assert.equal(onDemand.stats().supplied, 0);
});

test("a supplied resource stays for a while after the last client left, and is dropped then", async () => {
  const { calls, stream, pass, supplied, outcomes, clock } = setUp();
  const [one, other] = [stream(), stream()];
  await one.subscribe("x");
  await other.subscribe("x");
  await calls[0]?.answer(cluster("x"));
  one.close();
  await pass(100_000);
  await other.unsubscribe("x");
  await pass(59_999);
  await other.subscribe("x");
  await pass(100_000);
  assert.deepEqual(supplied(), ["x"]);
  other.close();
  await pass(59_999);
  assert.equal(calls[0]?.signal.aborted, false);
  await pass(1);
  assert.equal(calls[0]?.signal.aborted, true);
  assert.deepEqual(supplied(), []);
  assert.deepEqual(outcomes, ["supplied x", "dropped x"]);
  assert.equal(clock.waiting, 0);
});

test("a bounded number of lingering names is kept, the latest ones", async () => {
  const { calls, stream, supplied } = setUp({ lingering: 2 });
  const one = stream();
  await one.subscribe("a", "b", "c");
  for (const call of [...calls]) await call.answer(cluster(call.name));
  await one.unsubscribe("b");
  await one.unsubscribe("a");
  await one.unsubscribe("c");
  assert.deepEqual(supplied(), ["a", "c"]);
});

test("an update during a supplier's call is its answer", async () => {
  const { calls, stream, supplied, onDemand } = setUp();
  const one = stream();
  await one.subscribe("x");
  calls[0]?.update(cluster("x"));
  await turn();
  assert.deepEqual(supplied(), ["x"]);
  await calls[0]?.answer(undefined);
  assert.deepEqual(supplied(), ["x"]);
  calls[0]?.update(cluster("y"));
  await turn();
  assert.deepEqual(supplied(), ["x"]);
  assert.equal(onDemand.stats().errors, 1);
});

test("a lease is enough for a supplier to send updates and to hear of the end", async () => {
  const { calls, stream, supplied, pass } = setUp();
  const client = stream();
  await client.subscribe("x");
  const ends: string[] = [];
  const lease = calls[0]?.lease;
  assert.deepEqual([lease?.type, lease?.name], [type, "x"]);
  lease?.update(cluster("x"));
  await turn();
  assert.deepEqual(supplied(), ["x"]);
  lease?.onEnd({ ended: () => ends.push("object") });
  lease?.onEnd(() => ends.push("function"));
  await client.unsubscribe("x");
  assert.equal(ends.length, 0);
  await pass(60_000);
  assert.deepEqual([ends, supplied()], [["object", "function"], []]);
  lease?.onEnd({ ended: () => ends.push("late") });
  lease?.update(cluster("x"));
  await turn();
  assert.equal(ends.length, 3);
  assert.deepEqual(supplied(), []);
});

test("a layer that gets the name wins, and the supplier is asked again when it loses it", async () => {
  const { calls, stream, supplied, layers, onDemand } = setUp();
  const one = stream();
  await one.subscribe("x");
  await calls[0]?.answer(cluster("x"));
  onDemand.layersChanged(layers.apply([{ layer: "default", kind: "patch", upsert: [clusterResource("x", "own")] }]));
  await turn();
  assert.equal(calls[0]?.signal.aborted, true);
  assert.deepEqual(supplied(), []);
  onDemand.layersChanged(
    layers.apply([{ layer: "default", kind: "patch", upsert: [], remove: [{ type, name: "x" }] }]),
  );
  await turn();
  assert.equal(calls.length, 2);
});

test("collections and the empty name are never supplied", async () => {
  const { calls, stream } = setUp();
  const one = stream();
  const glob = "xdstp://a/envoy.config.cluster.v3.Cluster/x/*";
  await one.subscribe("", glob);
  assert.deepEqual(one.heard, ["at once absent ", `at once absent ${glob}`]);
  await one.unsubscribe("", glob);
  one.close();
  assert.equal(calls.length, 0);
});

test("every signal aborts when the server closes, and nothing is left", async () => {
  const { calls, stream, onDemand, clock } = setUp();
  const one = stream();
  await one.subscribe("a", "b", "c");
  await calls[0]?.answer(cluster("a"));
  await calls[1]?.answer(undefined);
  onDemand.close();
  assert.ok(calls.every(({ signal }) => signal.aborted));
  assert.equal(clock.waiting, 0);
  one.close();
});

test("one stream does not take the place of all others", async () => {
  const { calls, stream } = setUp({ names: 4 });
  const [greedy, other] = [stream(), stream()];
  await greedy.subscribe("a", "b", "c");
  assert.deepEqual(greedy.heard.splice(0), ["at once refused c"]);
  await other.subscribe("c", "d");
  assert.deepEqual(other.heard.splice(0), []);
  assert.equal(calls.map(({ name }) => name).join(), "a,b,c,d");
  // Names that others ask for already take no extra place.
  await greedy.unsubscribe("a");
  await greedy.again("c");
  assert.deepEqual(greedy.heard.splice(0), []);
  for (const each of [greedy, other]) each.close();
});

test("the number of requested names is bounded: lingering ones go first, and further ones are refused until there is room", async () => {
  const { calls, outcomes, stream, onDemand } = setUp({ names: 3, lingering: 10 });
  const [other, one] = [stream(), stream()];
  const asked = () => calls.map(({ name }) => name).join();
  await one.subscribe("a");
  await other.subscribe("z");
  await one.subscribe("b", "c", "d");
  assert.equal(asked(), "a,z,b");
  assert.deepEqual(one.heard.splice(0), ["at once refused c", "at once refused d"]);
  // Reported once, and counted.
  assert.deepEqual([outcomes, onDemand.stats().refused], [["refused c"], 2]);
  await one.again("c");
  assert.deepEqual(
    [one.heard.splice(0), outcomes, onDemand.stats().refused],
    [["at once refused c"], ["refused c"], 3],
  );
  await calls[0]?.answer(cluster("a"));
  await one.unsubscribe("a", "d");
  await one.again("c");
  assert.equal(asked(), "a,z,b,c");
  assert.deepEqual(one.heard, ["found a"]);
  for (const each of [other, one]) each.close();
});
