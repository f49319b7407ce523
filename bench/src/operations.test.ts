import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { XdsServer } from "@xdskit/server";
import type { Wish } from "./bare-streams.js";
import type { Cost, Situation } from "./counted-world.js";
import { createOperationCounter, type OperationCounter, type Operations } from "./operation-count.js";

// The cost of a change, in operations and not in time, at one size and at ten times that: the cost follows the change,
// never the total.

const small = 1_000;
const large = 10_000;

/** The extra cost allowed at the larger size: a map grows in leaps, a code path is taken once more. */
const maxSteps = 1.2;
/** Copying a map of 10,000 entries allocates more than 300,000 bytes, a list of them 80,000. */
const maxBytes = 60_000;

const names = (from: number) =>
  Array.from({ length: 10 }, (_, index) => `cluster-${String(from + index).padStart(6, "0")}`);
const endpointUrl = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";
const wildcard = (variant: Wish["variant"], type: string): Wish => ({ variant, type, names: [] });
const ownNames = (variant: Wish["variant"]) => (stream: number) => byName(variant, 20 + stream);
const byName = (variant: Wish["variant"], from = 0): Wish => ({ variant, type: "endpoint", names: names(from) });

describe("operations of a change", () => {
  let counter: OperationCounter;
  let world: typeof import("./counted-world.js");

  // Before the counted code is loaded.
  before(async () => {
    counter = await createOperationCounter();
    world = await import("./counted-world.js");
  });
  after(() => counter.close());

  const costOf = (situation: Situation): Promise<Cost> => world.costOf(counter, situation);

  const rows: readonly {
    readonly what: string;
    readonly situation: Omit<Situation, "resources">;
    readonly responses: number;
  }[] = [
    { what: "is published, and nobody is there", situation: {}, responses: 0 },
    {
      what: "goes to delta streams over all names",
      situation: { streams: 10, wishes: [wildcard("delta", "cluster")], changes: "cds" },
      responses: 10,
    },
    {
      what: "goes to delta streams that name it",
      situation: { streams: 10, wishes: [byName("delta")] },
      responses: 10,
    },
    { what: "goes to SotW streams that name it", situation: { streams: 10, wishes: [byName("sotw")] }, responses: 10 },
    {
      what: "goes to streams over several types",
      situation: { streams: 10, wishes: [wildcard("delta", "cluster"), byName("delta")] },
      responses: 10,
    },
    {
      what: "concerns none of the names that are asked for",
      situation: { streams: 10, wishes: [byName("delta", 20)] },
      responses: 0,
    },
    {
      what: "is made in one of several layers",
      situation: { streams: 10, wishes: [byName("delta")], groups: 2 },
      responses: 5,
    },
    {
      what: "is a heartbeat of one resource",
      situation: { streams: 10, wishes: [byName("delta")], ttl: 10_000 },
      responses: 10,
    },
  ];
  for (const { what, situation, responses } of rows) {
    it(`a change that ${what} costs the same among ${large} as among ${small} resources`, async () => {
      const few = await costOf({ ...situation, resources: small });
      const many = await costOf({ ...situation, resources: large });
      assert.deepEqual([few.responses, many.responses], [responses, responses]);
      follows(few, many);
    });
  }

  for (const { what, wish, most, changes } of [
    { what: "goes to delta streams", wish: byName("delta"), most: 300, changes: undefined },
    { what: "goes to SotW streams", wish: byName("sotw"), most: 250 },
    { what: "concerns none of the names that delta streams ask for", wish: byName("delta", 20), most: 8 },
    { what: "concerns none of the names that SotW streams ask for", wish: byName("sotw", 20), most: 8 },
    { what: "concerns none of the names that each delta stream has for itself", wish: ownNames("delta"), most: 50 },
    { what: "concerns none of the names that each SotW stream has for itself", wish: ownNames("sotw"), most: 50 },
    {
      what: "concerns no type that delta streams ask for",
      wish: byName("delta"),
      changes: "cds" as const,
      most: 25,
    },
  ]) {
    it(`a change that ${what} costs at most ${most} steps for each further stream, and one encoding for all`, async () => {
      const situation = { resources: small, wishes: [wish], ...(changes === undefined ? {} : { changes }) };
      const few = await costOf({ ...situation, streams: 10 });
      const many = await costOf({ ...situation, streams: 100 });
      const each = (many.steps - few.steps) / 90;
      assert.ok(each <= most, `${each} steps for each further stream:\n${more(few, many)}`);
      assert.equal(few.responses * 10, many.responses);
      assert.equal(many.bodies, many.responses === 0 ? 0 : 1);
    });
  }

  it("a change of another group's layer costs a group nothing", async () => {
    const situation = { resources: small, wishes: [byName("delta")] };
    const few = await costOf({ ...situation, streams: 10, groups: 10 });
    const many = await costOf({ ...situation, streams: 100, groups: 100 });
    assert.deepEqual([few.responses, many.responses], [1, 1]);
    follows(few, many);
  });

  it("a client of many resources takes one change at the same cost as a client of few", async () => {
    const cost = async (resources: number) => {
      const { createHolder } = await import("./holding-client.js");
      const holder = createHolder(resources);
      let marker = 2;
      const take = async () => {
        marker += 1;
        holder.take(1, marker);
      };
      for (let warmth = 0; warmth < 3; warmth += 1) await take();
      return counter.count(take, 2);
    };
    follows(await cost(small), await cost(large));
  });

  const copies: Map<unknown, unknown>[] = [];
  for (const { what, besides, message } of [
    {
      what: "a look at every resource",
      besides: (server: XdsServer) => {
        for (const set of server.snapshotOf("all")?.sets.values() ?? []) for (const _ of set);
      },
      message: /steps, and .* at a tenth.*more in/s,
    },
    {
      what: "a copy that V8 makes by itself",
      besides: (server: XdsServer) => {
        copies[0] = new Map(
          Array.from({ length: server.snapshotOf("all")?.sets.get(endpointUrl)?.size ?? 0 }).entries(),
        );
      },
      message: /bytes allocated/,
    },
  ]) {
    it(`the counter sees ${what}`, async () => {
      const few = await costOf({ resources: small, besides });
      const many = await costOf({ resources: large, besides });
      assert.throws(() => follows(few, many), { message });
    });
  }
});

function follows(few: Operations, many: Operations): void {
  assert.ok(few.steps > 0);
  assert.ok(
    many.steps <= few.steps * maxSteps,
    `${many.steps} steps, and ${few.steps} at a tenth of the size:\n${more(few, many)}`,
  );
  assert.ok(
    many.bytes <= few.bytes + maxBytes,
    `${many.bytes} bytes allocated, and ${few.bytes} at a tenth of the size`,
  );
}

/** The places of the extra steps. */
function more(few: Operations, many: Operations): string {
  const before = new Map(few.where.map(({ name, steps }) => [name, steps]));
  const added = many.where.map(({ name, steps }) => ({ name, steps: steps - (before.get(name) ?? 0) }));
  return added
    .sort((a, b) => b.steps - a.steps)
    .slice(0, 10)
    .map(({ name, steps }) => `${steps} more in ${name}`)
    .join("\n");
}
