import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { ResourceName } from "@xdskit/api";
import type { SotwOrDelta } from "@xdskit/protocol";
import { createClientWith } from "../create-client.js";
import { times } from "../testing/effort.js";
import { contentOf, Place, type PlaceType } from "../testing/place.js";
import { waitFor } from "../testing/wait-for.js";
import { createStreamUpstream } from "../upstreams/grpc/stream-upstream.js";

const { SEED } = process.env;
const seeds = SEED === undefined ? Array.from({ length: times(5) }, (_, index) => index + 1) : [Number(SEED)];
const steps = 60;
const names = ["a", "b", "c", "d"];
const types: readonly PlaceType[] = ["cluster", "listener"];

/** Numbers from 0 to below 1, the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A watcher, and its view of the resources. */
interface Believer {
  readonly type: PlaceType;
  readonly name: ResourceName;
  readonly belief: Map<ResourceName, string>;
  isTold: boolean;
  cancel(): void;
}

async function play(seed: number, variant: SotwOrDelta, aggregated: boolean): Promise<void> {
  const random = randomOf(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const [first, second] = [new Place(), new Place()];
  const client = createClientWith(
    {
      servers: ["first", "second"],
      node: { id: "me" },
      validate: false,
      absentAfterMs: 100,
      backoff: { firstMs: 2, maxMs: 8 },
      random,
    },
    (settings, context, sink) => {
      const server = settings.kind === "grpc" ? settings.address : "";
      const { transport } = server === "first" ? first : second;
      return createStreamUpstream({ server, variant, api: "v3", aggregated, transport }, context, sink);
    },
  );
  const believers = new Set<Believer>();
  const open = new Set<string>();
  const faults: string[] = [];
  client.on((event) => {
    if (event.kind === "connected") {
      const stream = `${event.server} ${event.type?.name}`;
      if (open.has(stream)) faults.push(`there are two streams to ${stream}`);
      open.add(stream);
    } else if (event.kind === "disconnected") open.delete(`${event.server} ${event.type?.name}`);
    else if (event.kind === "watcher-failed") faults.push(String(event.error));
  });

  function watch(type: PlaceType, name: ResourceName): void {
    const belief: Believer["belief"] = new Map();
    const believer: Believer = { type, name, belief, isTold: false, cancel: () => {} };
    const told = () => {
      believer.isTold = true;
    };
    if (name === "*") {
      const { cancel } = client.watch(type, "*", {
        onChanged({ resources, upserted, removed }) {
          told();
          for (const { name: each, message } of upserted) belief.set(each, contentOf(message));
          for (const each of removed) belief.delete(each);
          assert.deepEqual([...belief.keys()].sort(), [...resources.keys()].sort());
        },
      });
      believer.cancel = cancel;
    } else {
      const { cancel } = client.watch(type, name, {
        onChanged({ message }) {
          told();
          belief.set(name, contentOf(message));
        },
        onError({ code }) {
          if (code === "XDSKIT_RESOURCE_ABSENT") told();
          belief.delete(name);
        },
      });
      believer.cancel = cancel;
    }
    believers.add(believer);
  }

  const isRight = ({ type, name, belief, isTold }: Believer) => {
    const expected = [...first.content[type]].filter(([each]) => name === "*" || each === name);
    return isTold && JSON.stringify([...belief].sort()) === JSON.stringify(expected.sort());
  };

  try {
    for (let step = 0; step < steps; step += 1) {
      const dice = random();
      if (dice < 0.4) {
        pick([first, second]).change(pick(types), pick(names), random() < 0.3 ? undefined : `${step}`);
      } else if (dice < 0.55) {
        const place = pick([first, second]);
        await (place.isUp ? place.down() : place.up());
      } else if (dice < 0.6) {
        // From its next attempt on, one service of the server is missing, or there again.
        const { refused } = pick([first, second]);
        const type = pick(types);
        if (!refused.delete(type)) refused.add(type);
      } else if (dice < 0.75) watch(pick(types), pick([...names, "*"]));
      else if (dice < 0.85 && believers.size > 0) {
        const leaving = pick([...believers]);
        believers.delete(leaving);
        leaving.cancel();
      } else {
        const turns = Math.floor(random() * 12);
        for (let count = 0; count < turns; count += 1) await turn();
      }
    }
    for (const place of [first, second]) place.refused.clear();
    for (const type of types) {
      watch(type, "*");
      watch(type, "a");
    }
    await Promise.all([first.up(), second.up()]);
    for (const type of types) {
      first.change(type, "a", "the last");
      first.change(type, "b", undefined);
    }
    const wrong = () =>
      `seed ${seed}: ${[...believers].filter((each) => !isRight(each)).map(({ type, name, belief, isTold }) => `${type} ${name} ${isTold} ${JSON.stringify([...belief])}`)} instead of ${JSON.stringify(types.map((type) => [...first.content[type]]))}`;
    await waitFor(wrong, () => [...believers].every(isRight));
    const streams = aggregated ? 1 : types.length;
    await waitFor(
      () => `seed ${seed}: ${streams} streams to the first server, not ${first.openStreams} and ${second.openStreams}`,
      () => first.openStreams === streams && second.openStreams === 0,
    );
    assert.deepEqual(faults, [], `seed ${seed}`);
    for (const believer of believers) believer.cancel();
    await waitFor(`seed ${seed}: no stream`, () => first.openStreams === 0);
  } finally {
    await client.close();
    await Promise.all([first.down(), second.down()]);
  }
}

describe("a random world of watchers and servers", () => {
  for (const variant of ["sotw", "delta"] as const) {
    for (const aggregated of [true, false]) {
      it(`a random world ends with every watcher at the first server's state, over no other stream, ${variant}, ${aggregated ? "ADS" : "per type"} (SEED=1 plays one again, EFFORT=20 plays more)`, async () => {
        await Promise.all(seeds.map((seed) => play(seed, variant, aggregated)));
      });
    }
  }
});
