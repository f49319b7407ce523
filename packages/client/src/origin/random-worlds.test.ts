import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import type { ResourceName } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import type { SotwOrDelta } from "@xdskit/protocol";
import { createMemoryTransport, createServer, type XdsServer } from "@xdskit/server";
import { createClientWith } from "../create-client.js";
import { times } from "../testing/effort.js";
import { memoryStreamTransport } from "../testing/memory-stream-transport.js";
import { waitFor } from "../testing/wait-for.js";
import { createStreamUpstream } from "../upstreams/grpc/stream-upstream.js";

const { SEED } = process.env;
const seeds = SEED === undefined ? Array.from({ length: times(5) }, (_, index) => index + 1) : [Number(SEED)];
const steps = 60;
const names = ["a", "b", "c", "d"];

/** Numbers from 0 to below 1, the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A server that goes and comes, always with its resources of that time. */
class Place {
  readonly content = new Map<ResourceName, string>();
  readonly transport = createMemoryTransport();
  #server: XdsServer | undefined;

  get isUp(): boolean {
    return this.#server !== undefined;
  }
  get openStreams(): number {
    return this.#server?.stats().streams.reduce((sum, { open }) => sum + open, 0) ?? 0;
  }
  async up(): Promise<void> {
    if (this.#server !== undefined) return;
    const server = createServer();
    server.config.set(this.#messages());
    await server.listenOn(this.transport, "here");
    this.#server = server;
  }
  async down(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await server?.close({ timeoutMs: 0 });
  }
  change(name: ResourceName, content: string | undefined): void {
    if (content === undefined) this.content.delete(name);
    else this.content.set(name, content);
    this.#server?.config.set(this.#messages());
  }
  #messages() {
    return Array.from(this.content, ([name, altStatName]) => create(ClusterSchema, { name, altStatName }));
  }
}

/** A watcher, and its view of the resources. */
interface Believer {
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
      backoff: { firstMs: 2, mostMs: 8 },
      random,
    },
    (settings, context, sink) => {
      const server = settings.kind === "grpc" ? settings.address : "";
      const transport = memoryStreamTransport((server === "first" ? first : second).transport, "here");
      return createStreamUpstream({ server, variant, api: "v3", aggregated, transport }, context, sink);
    },
  );
  const believers = new Set<Believer>();
  const open = new Set<string>();
  const faults: string[] = [];
  client.on((event) => {
    if (event.kind === "connected") {
      if (open.has(event.server)) faults.push(`there are two streams to ${event.server}`);
      open.add(event.server);
    } else if (event.kind === "disconnected") open.delete(event.server);
    else if (event.kind === "watcher-failed") faults.push(String(event.error));
  });

  function watch(name: ResourceName): void {
    const belief: Believer["belief"] = new Map();
    const believer: Believer = { name, belief, isTold: false, cancel: () => {} };
    const told = () => {
      believer.isTold = true;
    };
    if (name === "*") {
      const { cancel } = client.watch(ClusterSchema, "*", {
        onChanged({ resources, upserted, removed }) {
          told();
          for (const { name: each, message } of upserted) belief.set(each, message.altStatName);
          for (const each of removed) belief.delete(each);
          assert.deepEqual([...belief.keys()].sort(), [...resources.keys()].sort());
        },
      });
      believer.cancel = cancel;
    } else {
      const { cancel } = client.watch(ClusterSchema, name, {
        onChanged({ message }) {
          told();
          belief.set(name, message.altStatName);
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

  const isRight = ({ name, belief, isTold }: Believer) => {
    const expected = name === "*" ? [...first.content] : [...first.content].filter(([each]) => each === name);
    return isTold && JSON.stringify([...belief].sort()) === JSON.stringify(expected.sort());
  };

  try {
    for (let step = 0; step < steps; step += 1) {
      const dice = random();
      if (dice < 0.4) {
        pick([first, second]).change(pick(names), random() < 0.3 ? undefined : `${step}`);
      } else if (dice < 0.55) {
        const place = pick([first, second]);
        await (place.isUp ? place.down() : place.up());
      } else if (dice < 0.75) watch(pick([...names, "*"]));
      else if (dice < 0.85 && believers.size > 0) {
        const leaving = pick([...believers]);
        believers.delete(leaving);
        leaving.cancel();
      } else {
        const turns = Math.floor(random() * 12);
        for (let count = 0; count < turns; count += 1) await turn();
      }
    }
    watch("*");
    watch("a");
    await Promise.all([first.up(), second.up()]);
    first.change("a", "the last");
    first.change("b", undefined);
    const wrong = () =>
      `seed ${seed}: ${[...believers].filter((each) => !isRight(each)).map(({ name, belief, isTold }) => `${name} ${isTold} ${JSON.stringify([...belief])}`)} instead of ${JSON.stringify([...first.content])}`;
    await waitFor(wrong, () => [...believers].every(isRight));
    await waitFor(`seed ${seed}: one stream`, () => first.openStreams === 1 && second.openStreams === 0);
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
      it(`a random world ends with every watcher at the first server's state, over one stream, ${variant}, ${aggregated ? "ADS" : "per type"} (SEED=1 plays one again, EFFORT=20 plays more)`, async () => {
        await Promise.all(seeds.map((seed) => play(seed, variant, aggregated)));
      });
    }
  }
});
