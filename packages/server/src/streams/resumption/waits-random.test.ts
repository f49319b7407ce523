import assert from "node:assert/strict";
import { test } from "node:test";
import type { Message } from "@bufbuild/protobuf";
import { createResource } from "@xdskit/api";
import { times } from "../../testing/basics/effort.js";
import { type ManualClock, manualClock } from "../../testing/basics/manual-clock.js";
import { randomFrom } from "../../testing/basics/random.js";
import { PromptClient } from "../../testing/clients/prompt-client.js";
import { RoutingClient } from "../../testing/clients/routing-client.js";
import { type Running, type TypeName, withMemoryServer } from "../../testing/running-server.js";
import { edsCluster, loadAssignment, routeConfiguration, routedListener } from "../../testing/test-resources.js";

/** `SEED=7` plays one seed, `EFFORT=50` more than the suite does. */
const { SEED } = process.env;
const first = Array.from({ length: times(12) }, (_, index) => index + 1);
/** With the last two a client that is back rejects something, and asks for a new name. */
const seeds = SEED === undefined ? [...new Set([...first, 54, 55])] : [Number(SEED)];
const routes = ["r0", "r1", "r2"];
const all: readonly TypeName[] = ["cluster", "endpoint", "listener", "route"];
/** The types that clients ask for. */
const shapes: readonly (readonly TypeName[])[] = [
  all,
  ["cluster", "endpoint", "route"],
  ["cluster", "endpoint"],
  ["listener", "route"],
];
/** A change may wait twice for a client that is back to be quiet, and for nothing else but messages. */
const mostMs = 400;

type Client = PromptClient | RoutingClient;

/** Routes move to new clusters while clients reject, break off, and come back with and without versions. */
class World {
  readonly #running: Running;
  readonly #clock: ManualClock;
  readonly #random: (below: number) => number;
  readonly #leads = new Map<string, number>();
  readonly #contents = new Map<string, Message>();
  readonly #story: string[] = [];
  readonly #clients: readonly PromptClient[];
  readonly #envoys: readonly RoutingClient[];
  #last = 0;
  #hasRejected = false;

  constructor(running: Running, clock: ManualClock, seed: number) {
    this.#running = running;
    this.#clock = clock;
    this.#random = randomFrom(seed);
    this.#change(routes, true);
    this.#clients = (["sotw", "delta"] as const).flatMap((variant) =>
      [true, false].map((isAggregated) => {
        const types = shapes[this.#random(shapes.length)] as readonly TypeName[];
        const id = `${variant} ${isAggregated ? "ads" : "per type"} ${types.join("+")}`;
        return new PromptClient({ id, variant, isAggregated, types, routes });
      }),
    );
    this.#envoys = (["sotw", "delta"] as const).map(
      (variant) => new RoutingClient(`envoy ${variant}`, variant, routes, () => clock.now()),
    );
  }

  #chance(one: number): boolean {
    return this.#random(one) === 0;
  }

  #change(moved: readonly string[], isFull = false): void {
    const upsert = new Map<string, Message>();
    const remove: { type: "cluster" | "endpoint"; name: string }[] = [];
    for (const route of moved) {
      const before = this.#leads.get(route);
      this.#last += 1;
      upsert.set(`c${this.#last}`, edsCluster(`c${this.#last}`, `s${this.#last}`));
      upsert.set(`s${this.#last}`, loadAssignment(`s${this.#last}`, this.#last));
      upsert.set(route, routeConfiguration(route, `c${this.#last}`));
      this.#leads.set(route, this.#last);
      if (before === undefined) continue;
      remove.push({ type: "cluster", name: `c${before}` }, { type: "endpoint", name: `s${before}` });
      for (const name of [`c${before}`, `s${before}`]) this.#contents.delete(name);
    }
    for (const number of this.#leads.values()) {
      if (upsert.has(`s${number}`) || !this.#chance(3)) continue;
      upsert.set(`s${number}`, loadAssignment(`s${number}`, 1 + this.#random(60_000)));
    }
    if (isFull)
      for (const route of routes)
        upsert.set(`l-${route}`, { ...routedListener(`l-${route}`, route), statPrefix: `${this.#last}` } as Message);
    for (const [name, message] of upsert) this.#contents.set(name, message);
    this.#running.server.config.update({ upsert: [...upsert.values()], remove });
    this.#tell(`${moved.join()} move; ${[...this.#leads].join(" ")}`);
  }

  #tell(what: string): void {
    this.#story.push(`${this.#clock.now()}: ${what}`);
  }

  #some(): readonly string[] {
    return routes.filter(() => this.#chance(2));
  }

  #connect(client: Client): void {
    const how = { claims: this.#chance(2), forgets: this.#chance(3) };
    if (client instanceof RoutingClient) client.connect(this.#running.client);
    else client.connect(this.#running.client, how);
    this.#tell(`${client.id} connects${client instanceof RoutingClient ? "" : JSON.stringify(how)}`);
  }

  async #take(client: Client, most = 200, rejects = false): Promise<void> {
    for (let taken = 0; taken < most; taken += 1) {
      for (let turns = 0; turns < 4; turns += 1) await new Promise((resolve) => setImmediate(resolve));
      if (client instanceof RoutingClient) client.tick();
      if (!client.take(rejects)) return;
      assert.deepEqual(client.broken(), [], [...this.#story.slice(-25), client.id].join("\n"));
    }
  }

  /** Anything happens. */
  async anything(mayReject: boolean): Promise<void> {
    const what = this.#random(8);
    const some: readonly Client[] = what < 6 ? this.#clients : this.#envoys;
    const one = some[this.#random(some.length)] as Client;
    if (what === 0) this.#change(this.#some());
    else if (what === 1) this.#clock.advance(this.#random(200));
    else if (what === 2 && this.#chance(2)) {
      one.cut();
      this.#tell(`${one.id} is cut off`);
      if (this.#chance(2)) this.#change(this.#some());
      if (this.#chance(2)) this.#connect(one);
    } else if (what >= 6 && (!one.isConnected || this.#chance(4))) this.#connect(one);
    else if (one.isConnected) {
      const rejects = mayReject && what < 6 && this.#chance(4);
      this.#hasRejected ||= rejects;
      await this.#take(one, this.#random(4), rejects);
    }
  }

  /** All clients are there, and answer at once: another change reaches them without a wait. */
  async calm(): Promise<void> {
    const clients = [...this.#clients, ...this.#envoys];
    for (const client of clients) if (!client.isConnected) this.#connect(client);
    // What was rejected is not sent again.
    this.#change(this.#hasRejected ? routes : this.#some(), this.#hasRejected);
    this.#hasRejected = false;
    const began = this.#clock.now();
    const wanted = [...this.#contents.values()].map((message) => createResource(message));
    const leading = Array.from(this.#leads, ([route, number]) => `${route}→c${number}`).sort();
    const isLate = (client: Client) =>
      client instanceof RoutingClient ? !client.summary().endsWith(leading.join()) : client.lacks(wanted).length > 0;
    for (;;) {
      for (const client of clients) await this.#take(client);
      const [late] = clients.filter(isLate);
      if (late === undefined) return;
      if (this.#clock.now() - began >= mostMs) assert.fail(this.#about(late));
      this.#clock.advance(20);
    }
  }

  #about(late: Client): string {
    const streams = this.#running.server.nodes().find(({ id }) => id === late.id)?.streams ?? [];
    const types = streams.flatMap((stream) => stream.types);
    const said = types.map(({ type, state, why }) => `${type} ${state}: ${why}`);
    return [...this.#story.slice(-30), `${late.id} still waits`, ...said].join("\n");
  }
}

for (const seed of seeds) {
  test(`a change waits for nothing but messages, and breaks no route, seed ${seed}`, () => {
    const clock = manualClock();
    return withMemoryServer({ clock }, async (running) => {
      const world = new World(running, clock, seed);
      for (let round = 0; round < 20; round += 1) {
        const mayReject = round % 2 === 1;
        for (let step = 0; step < 14; step += 1) await world.anything(mayReject);
        await world.calm();
      }
    });
  });
}
