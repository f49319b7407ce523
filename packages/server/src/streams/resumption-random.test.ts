import assert from "node:assert/strict";
import { test } from "node:test";
import type { Message } from "@bufbuild/protobuf";
import { resourceTypes } from "@xdskit/api";
import type { ServerOptions } from "../contracts/xds-server.js";
import type { OnDemandOptions } from "../settings/on-demand-options.js";
import { effort } from "../testing/effort.js";
import { type ManualClock, manualClock } from "../testing/manual-clock.js";
import { randomFrom } from "../testing/random.js";
import { RoutingClient } from "../testing/routing-client.js";
import { type Running, withMemoryServer } from "../testing/running-server.js";
import { edsCluster, loadAssignment, routeConfiguration } from "../testing/test-resources.js";

/** `SEED=7` plays one seed, `EFFORT=50` more than the suite does. */
const { SEED } = process.env;
const seeds = SEED === undefined ? Array.from({ length: 8 * effort }, (_, index) => index + 1) : [Number(SEED)];
const steps = 120;
const routes = ["r0", "r1", "r2"];

interface Change {
  readonly upsert: readonly Message[];
  readonly remove: readonly { readonly type: "cluster" | "endpoint"; readonly name: string }[];
}

/**
 * Two servers of equal content, while routes move to new clusters. One of them may learn of a change later. Clients are
 * cut off at any moment and come to one of the two. No client may ever route to a cluster that it lacks.
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
  readonly #later: { readonly at: number; readonly change: Change }[][];

  constructor(servers: readonly Running[], clock: ManualClock, seed: number) {
    this.#servers = servers;
    this.#clock = clock;
    this.#random = randomFrom(seed);
    this.#later = servers.map(() => []);
    this.clients = ["sotw", "delta", "delta"].map(
      (variant, index) => new RoutingClient(`${variant} ${index}`, variant as "sotw" | "delta", routes),
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
      else if (random(5) === 0) {
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

  /** All clients come back and reach their targets. */
  async settle(): Promise<void> {
    for (const [index, client] of this.clients.entries()) if (!client.isConnected) this.#connect(client, index);
    for (let rounds = 0; rounds < 100; rounds += 1) {
      this.#clock.advance(100);
      this.#hear();
      await this.turn();
      for (const [index, client] of this.clients.entries()) while (this.#take(client, index)) await this.turn();
    }
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
    const to = this.#random(this.#servers.length);
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
    this.#story.push(`${moved} move; server ${late} hears of it ${lag} ms later`);
    this.#hear();
  }

  #hear(): void {
    for (const [index, later] of this.#later.entries()) {
      while (later[0] !== undefined && later[0].at <= this.#clock.now()) {
        const { change } = later.shift() as (typeof later)[number];
        const server = (this.#servers[index] as Running).server;
        server.config.update({ upsert: change.upsert, remove: change.remove });
      }
    }
  }
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

for (const [server, options] of kinds) {
  for (const seed of seeds) {
    test(`a client${server} that is cut off at any moment routes to nothing that it lacks, seed ${seed}`, () => {
      const clock = manualClock();
      return withMemoryServer({ ...options, clock }, (one) =>
        withMemoryServer({ ...options, clock }, async (other) => {
          const world = new World([one, other], clock, seed);
          for (let index = 0; index < steps; index += 1) {
            world.step();
            await world.turn();
          }
          await world.settle();
        }),
      );
    });
  }
}
