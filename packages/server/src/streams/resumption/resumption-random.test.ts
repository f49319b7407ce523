import assert from "node:assert/strict";
import { test } from "node:test";
import type { Message } from "@bufbuild/protobuf";
import { createResource, resourceTypes } from "@xdskit/api";
import type { ServerOptions } from "../../contracts/server-options.js";
import type { OnDemandOptions } from "../../settings/on-demand-options.js";
import { times } from "../../testing/basics/effort.js";
import { type ManualClock, manualClock } from "../../testing/basics/manual-clock.js";
import { randomFrom } from "../../testing/basics/random.js";
import { RoutingClient } from "../../testing/clients/routing-client.js";
import { type Running, withMemoryServer } from "../../testing/running-server.js";
import { edsCluster, loadAssignment, routeConfiguration } from "../../testing/test-resources.js";

/** `SEED=7` plays one seed, `EFFORT=50` more than the suite does. */
const { SEED } = process.env;
const seeds = SEED === undefined ? Array.from({ length: times(8) }, (_, index) => index + 1) : [Number(SEED)];
const steps = 200;
const routes = ["r0", "r1", "r2"];

interface Change {
  readonly upsert: readonly Message[];
  readonly remove: readonly { readonly type: "cluster" | "endpoint"; readonly name: string }[];
}

/**
 * Servers of equal content, while routes move to new clusters. One of the first two may learn of a change later. The
 * third learns of several changes at once, and never of what was there in between: only clients of delta, which say
 * what they have, come to it. Clients are cut off at any moment and come to any server. No client may ever route to a
 * cluster that it lacks.
 */
class World {
  readonly #random: (below: number) => number;
  readonly #servers: readonly Running[];
  readonly #clock: ManualClock;
  readonly #story: string[] = [];
  readonly #leads = new Map<string, number>();
  readonly clients: readonly RoutingClient[];
  #lastCluster = 0;
  /** By server: the changes that it learns of later. */
  readonly #later: { at: number; readonly change: Change }[][];

  constructor(servers: readonly Running[], clock: ManualClock, seed: number) {
    this.#servers = servers;
    this.#clock = clock;
    this.#random = randomFrom(seed);
    this.#later = servers.map(() => []);
    this.clients = ["sotw", "delta", "delta"].map(
      (variant, index) =>
        new RoutingClient(`${variant} ${index}`, variant as "sotw" | "delta", routes, () => clock.now()),
    );
    this.#change(routes, 0);
  }

  step(): void {
    const random = this.#random;
    const kind = random(10);
    if (kind < 2) {
      const moved = routes.filter(() => random(3) === 0);
      this.#change(moved, random(3) === 0 ? random(400) : 0);
    } else if (kind === 2) this.#clock.advance(random(150));
    else {
      const index = random(this.clients.length);
      const client = this.clients[index] as RoutingClient;
      if (!client.isConnected) this.#connect(client, index);
      else if (random(12) === 0) {
        this.#story.push(`client ${index} is cut off with ${client.summary()}`);
        client.cut();
        if (random(2) === 0) this.#connect(client, index);
      } else for (let times = random(3); times > 0; times -= 1) this.#take(client, index);
    }
    this.#hear();
  }

  async turn(): Promise<void> {
    for (let times = 0; times < 3; times += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Time passes, changes come, and clients take all that comes. */
  async wait(rounds: number, changes = true): Promise<void> {
    for (let round = 0; round < rounds; round += 1) {
      this.#clock.advance(100);
      if (changes && this.#random(10) === 0) this.#change(routes.slice(this.#random(4)), 0);
      this.#hear();
      for (const client of this.clients) client.tick();
      await this.turn();
      for (const [index, client] of this.clients.entries()) while (this.#take(client, index)) await this.turn();
    }
  }

  /** All clients come back and reach their targets. */
  async settle(): Promise<void> {
    for (const [index, client] of this.clients.entries()) if (!client.isConnected) this.#connect(client, index);
    await this.wait(300, false);
    const numbers = [...this.#leads.values()].sort();
    const names = (prefix: string) => numbers.map((number) => `${prefix}${number}`).sort();
    const leads = [...this.#leads].map(([route, number]) => `${route}→c${number}`).sort();
    const wanted = `${names("c")}; ${names("s")}; ${leads}`;
    for (const client of this.clients) assert.equal(client.summary(), wanted, this.#story.join("\n"));
  }

  #take(client: RoutingClient, index: number): boolean {
    const any = client.take();
    if (any) this.#story.push(`client ${index} has ${client.summary()}`);
    assert.deepEqual(client.broken(), [], `client ${index}\n${this.#story.join("\n")}`);
    return any;
  }

  #connect(client: RoutingClient, index: number): void {
    const to = this.#random(index === 0 ? 2 : this.#servers.length);
    this.#story.push(`client ${index} comes to server ${to}`);
    client.connect((this.#servers[to] as Running).client);
  }

  /** Moves routes to their own new clusters, and removes the old ones; one server learns of it later. */
  #change(moved: readonly string[], lag: number): void {
    const upsert: Message[] = [];
    const remove: Change["remove"][number][] = [];
    for (const route of moved) {
      const before = this.#leads.get(route);
      this.#lastCluster += 1;
      const number = this.#lastCluster;
      upsert.push(edsCluster(`c${number}`, `s${number}`), loadAssignment(`s${number}`, number));
      upsert.push(routeConfiguration(route, `c${number}`));
      if (before !== undefined) remove.push({ type: "cluster", name: `c${before}` });
      if (before !== undefined) remove.push({ type: "endpoint", name: `s${before}` });
      this.#leads.set(route, number);
    }
    // Endpoints come and go all the time.
    for (const [route, number] of this.#leads)
      if (!moved.includes(route) && this.#random(3) === 0)
        upsert.push(loadAssignment(`s${number}`, 1 + this.#random(60_000)));
    const late = this.#random(2);
    for (const [index, later] of this.#later.entries())
      later.push({ at: this.#clock.now() + (index === late ? lag : 0), change: { upsert, remove } });
    if (this.#random(4) > 0) for (const one of this.#later[2] ?? []) one.at += 1_000;
    this.#story.push(`${moved} move; server ${late} hears of it ${lag} ms later`);
    this.#hear();
  }

  #hear(): void {
    for (const [index, later] of this.#later.entries()) {
      const first = later.findIndex(({ at }) => at > this.#clock.now());
      const due = later.splice(0, first === -1 ? later.length : first);
      const { config } = (this.#servers[index] as Running).server;
      if (index < 2) for (const { change } of due) config.update(change);
      else if (due.length > 0) config.update(merged(due.map(({ change }) => change)));
    }
  }
}

/** One change that comes to the same as several. */
function merged(changes: readonly Change[]): Change {
  const all = new Map<string, { readonly upsert?: Message; readonly remove?: Change["remove"][number] }>();
  for (const { upsert, remove } of changes) {
    for (const message of upsert) {
      const { type, name } = createResource(message);
      all.set(`${type.name} ${name}`, { upsert: message });
    }
    for (const one of remove) all.set(`${one.type} ${one.name}`, { remove: one });
  }
  const of = <Kind>(kinds: readonly (Kind | undefined)[]) => kinds.filter((kind) => kind !== undefined);
  return {
    upsert: of([...all.values()].map((one) => one.upsert)),
    remove: of([...all.values()].map((one) => one.remove)),
  };
}

/** As a relay has it: every name may be supplied, and nobody is told that one does not exist. */
const onDemand: OnDemandOptions = {
  types: resourceTypes.all.map(({ typeUrl }) => typeUrl),
  supply: () => new Promise(() => {}),
  timeoutMs: Number.POSITIVE_INFINITY,
};
const kinds: readonly (readonly [title: string, options: Pick<ServerOptions, "onDemand">])[] = [
  ["", {}],
  [" of a server that supplies names on demand", { onDemand }],
];

/** Each of the servers knows that others may be ahead. */
const others = { name: "others", start: async () => {}, close: async () => {}, catchUp: async () => {} };

for (const [server, options] of kinds) {
  for (const seed of seeds) {
    test(`a client${server} that is cut off at any moment routes to nothing that it lacks, seed ${seed}`, () => {
      const clock = manualClock();
      const servers: Running[] = [];
      const play = async () => {
        const world = new World(servers, clock, seed);
        for (let index = 0; index < steps; index += 1) {
          world.step();
          await world.turn();
          if (index % 50 === 49) await world.wait(index);
        }
        await world.settle();
      };
      const start = (): Promise<void> =>
        withMemoryServer({ ...options, clock }, async (one) => {
          await one.server.addSource(others);
          await (servers.push(one) < 3 ? start() : play());
        });
      return start();
    });
  }
}
