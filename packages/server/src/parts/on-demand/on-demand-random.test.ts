import assert from "node:assert/strict";
import { test } from "node:test";
import { fromBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import {
  DeltaDiscoveryResponseSchema,
  DiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import type { Supplied, SupplyRequest } from "../../settings/on-demand-options.js";
import { times } from "../../testing/basics/effort.js";
import { type ManualClock, manualClock } from "../../testing/basics/manual-clock.js";
import { randomFrom } from "../../testing/basics/random.js";
import type { RawStream } from "../../testing/clients/raw-client.js";
import { delta, sotw } from "../../testing/clients/xds-client.js";
import { ads, type Running, urlOf, withMemoryServer } from "../../testing/running-server.js";
import { cluster } from "../../testing/test-resources.js";

/** `SEED=7` plays one seed. */
const { SEED } = process.env;
const seeds = SEED === undefined ? Array.from({ length: times(6) }, (_, index) => index + 1) : [Number(SEED)];
const steps = 120;
/** More than it takes to come to rest. */
const maxRounds = 200;
const pool = ["a", "b", "c", "d", "e", "f"];
const typeUrl = urlOf("cluster");

/** A client: the names that it asks for, and the resources that it holds. */
interface Client {
  readonly names: Set<string>;
  toggle(name: string): void;
  again(name: string): void;
  held(): ReadonlyMap<string, string>;
  close(): void;
}

function deltaClient(raw: RawStream): Client {
  const stream = delta(raw);
  const names = new Set<string>();
  const held = new Map<string, string>();
  let taken = 0;
  const send = (subscribe: readonly string[], unsubscribe: readonly string[]) =>
    stream.send({
      node: { id: "delta" },
      typeUrl,
      resourceNamesSubscribe: [...subscribe],
      resourceNamesUnsubscribe: [...unsubscribe],
    });
  return {
    names,
    toggle(name) {
      if (!names.delete(name)) {
        names.add(name);
        send([name], []);
        return;
      }
      held.delete(name);
      send([], [name]);
    },
    again: (name) => names.has(name) && send([name], []),
    held() {
      for (; taken < raw.responses.length; taken++) {
        const { resources, removedResources } = fromBinary(DeltaDiscoveryResponseSchema, raw.responses[taken]!);
        for (const { name, resource } of resources) {
          held.set(name, resource ? (anyUnpack(resource, ClusterSchema)?.altStatName ?? "") : "");
        }
        for (const name of removedResources) held.delete(name);
      }
      // Responses in flight when it unsubscribed.
      for (const name of held.keys()) if (!names.has(name)) held.delete(name);
      return held;
    },
    close: () => raw.cancel(),
  };
}

function sotwClient(raw: RawStream): Client {
  const stream = sotw(raw);
  const names = new Set<string>();
  const send = () => {
    const last = raw.responses.at(-1);
    const nonce = last === undefined ? "" : fromBinary(DiscoveryResponseSchema, last).nonce;
    stream.send({ node: { id: "sotw" }, typeUrl, resourceNames: [...names], responseNonce: nonce });
  };
  let answered = 0;
  return {
    names,
    toggle(name) {
      if (!names.delete(name)) names.add(name);
      send();
    },
    again: () => {},
    held() {
      // A request that crossed a response does not count; the acknowledgement repeats its names.
      if (raw.responses.length > answered) {
        answered = raw.responses.length;
        send();
      }
      const last = raw.responses.at(-1);
      if (last === undefined || names.size === 0) return new Map();
      return new Map(
        fromBinary(DiscoveryResponseSchema, last).resources.map((any) => {
          const { name = "", altStatName = "" } = anyUnpack(any, ClusterSchema) ?? {};
          return [name, altStatName];
        }),
      );
    },
    close: () => raw.cancel(),
  };
}

/** The resources outside of the server. The schedule answers calls, or lets them fail. */
class World {
  readonly exists = new Map<string, string>();
  readonly leases = new Set<SupplyRequest>();
  readonly waiting: { readonly request: SupplyRequest; readonly end: (fails: boolean) => void }[] = [];

  readonly supply = (request: SupplyRequest): Promise<Supplied> => {
    this.leases.add(request);
    request.signal.addEventListener("abort", () => this.leases.delete(request));
    return new Promise((resolve, reject) => {
      const end = (fails: boolean) => (fails ? reject(new Error("down")) : resolve(this.#what(request.name)));
      this.waiting.push({ request, end });
    });
  };

  answerAll(): void {
    for (const { end } of this.waiting.splice(0)) end(false);
  }

  set(name: string, content: string | undefined): void {
    if (content === undefined) this.exists.delete(name);
    else this.exists.set(name, content);
    for (const { name: asked, update } of this.leases) if (asked === name) update(this.#what(name));
  }

  #what(name: string): Supplied {
    const content = this.exists.get(name);
    return content === undefined ? undefined : cluster(name, content);
  }
}

async function play(seed: number, { server, client }: Running, world: World, clock: ManualClock): Promise<void> {
  const random = randomFrom(seed);
  const pick = () => pool[random(pool.length)]!;
  const own = new Map<string, string>();
  const open = (index: number) =>
    index % 2 === 0 ? deltaClient(client.open(ads("delta"))) : sotwClient(client.open(ads("sotw")));
  const clients = [0, 1, 2, 3].map(open);
  server.config.set([]);
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  const actions: readonly (() => void)[] = [
    () => clients[random(4)]?.toggle(pick()),
    () => clients[random(4)]?.toggle(pick()),
    () => clients[random(4)]?.again(pick()),
    () => world.waiting.splice(random(world.waiting.length + 1), 1)[0]?.end(random(4) === 0),
    () => world.answerAll(),
    () => world.set(pick(), random(3) === 0 ? undefined : `supplied ${random(100)}`),
    () => clock.advance(random(2) === 0 ? random(1_000) : random(20_000)),
    () => {
      const name = pick();
      own.set(name, `own ${random(100)}`);
      server.config.update({ upsert: [cluster(name, own.get(name))] });
    },
    () => {
      const name = pick();
      own.delete(name);
      server.config.remove({ type: "cluster", name });
    },
    () => {
      const index = random(4);
      clients[index]?.close();
      clients[index] = open(index);
    },
  ];
  for (let step = 0; step < steps; step++) {
    actions[random(actions.length)]?.();
    for (let turns = random(4); turns > 0; turns--) await turn();
    if (random(3) === 0) for (const each of clients) each.held();
  }

  const wanted = new Set(clients.flatMap(({ names }) => [...names]));
  const supplied = [...wanted].filter((name) => !own.has(name)).sort();
  const expected = clients.map(({ names }) =>
    [...names].flatMap((name) => {
      const content = own.get(name) ?? world.exists.get(name);
      return content === undefined ? [] : [[name, content] as const];
    }),
  );
  const sorted = (entries: Iterable<readonly [string, string]>) => JSON.stringify([...entries].sort());
  const seen = () => {
    const live = [...world.leases].map(({ name }) => name).sort();
    return JSON.stringify({ held: clients.map((each) => sorted(each.held())), live });
  };
  const target = JSON.stringify({ held: expected.map(sorted), live: supplied });
  const rest = async (comeTo: () => boolean, ms: number) => {
    for (let round = 0; round < maxRounds && !comeTo(); round++) {
      // Lingering names go, failed calls are repeated; nothing takes as long as a timeout.
      clock.advance(ms);
      for (let turns = 0; turns < 10; turns++) {
        await turn();
        world.answerAll();
      }
    }
  };
  await rest(() => seen() === target, 9_000);
  assert.equal(seen(), target, `seed ${seed}`);
  for (const each of clients) each.close();
  await rest(() => world.leases.size === 0 && clock.waiting === 0, 60_000);
  assert.deepEqual([world.leases.size, clock.waiting], [0, 0], `seed ${seed}`);
}

for (const seed of seeds) {
  test(`in the end each client holds the existing resources, and the supplier watches the wanted names (seed ${seed})`, async () => {
    const world = new World();
    const clock = manualClock();
    const onDemand = { types: ["cluster"], supply: world.supply, concurrency: 3 };
    await withMemoryServer({ onDemand, clock }, (running) => play(seed, running, world, clock));
  });
}
