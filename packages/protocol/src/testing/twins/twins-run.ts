import assert from "node:assert/strict";
import { resourceTypes } from "@xdskit/api";
import {
  createStream,
  defaultOrderingTimes,
  defaultStreamLimits,
  emptySnapshot,
  Ordering,
  type Snapshot,
  SnapshotLineage,
  type StreamEvent,
  updateSnapshot,
} from "../../index.js";
import type { SotwOrDelta } from "../../wire/basics/sotw-or-delta.js";
import { createRandom, type Random } from "../random.js";
import { sampleResource, urlOf } from "../sample-resources.js";
import { typeOf } from "../sample-world.js";
import { encodeRequest, type Request } from "../wire.js";
import { assertSame, type Ends, nextOfBoth, stepBoth } from "./twin-ends.js";

const types = ["cluster", "endpoint", "listener", "route"];
const names = ["a", "b", "c"];
/** The names that clients ask for. */
const asking: { readonly [type: string]: readonly string[] } = { endpoint: names, route: names };
const clients = 4;

/** A response that was not answered. */
interface Open {
  readonly type: string;
  readonly version: string;
  readonly nonce: string;
}

/** One client twice: among others that do the same, and alone, on snapshots that no other stream has. */
interface Twin {
  readonly ends: Ends;
  readonly orders: readonly [Ordering | undefined, Ordering | undefined];
  readonly subscribed: Map<string, readonly string[]>;
  readonly open: Open[];
}

/**
 * Streams with the same subscriptions get the same snapshots, mostly at the same time, and mostly acknowledge. A stream
 * that repeats others must do exactly the same as if it were alone.
 */
export function runTwins(seed: number, steps: number, without: ReadonlySet<number>, say: (line: string) => void): void {
  new TwinsRun(seed, say).play(steps, without);
}

/** Clients of one kind, each of them twice. */
class TwinsRun {
  readonly #variant: SotwOrDelta;
  readonly #isOrdered: boolean;
  readonly #only: string | undefined;
  readonly #ttl: "always" | undefined;
  readonly #asked: string[];
  /** Steps are as long as connections drain, and most clients answer soon: then several of them wait for the same. */
  readonly #isCalm: boolean;
  /** The drain time of connections: the whole run, or a few steps. */
  readonly #drain: number;
  #random: Random;
  #now = 0;
  /** The first is shared, each other one is of one client. */
  #snapshots: Snapshot[] = Array.from({ length: clients + 1 }, () => emptySnapshot());
  /** Of the first. */
  readonly #line: SnapshotLineage | undefined;
  readonly #twins: Twin[] = [];
  /** The cluster to which routes went last. */
  #goal = "d";
  readonly #seed: number;
  readonly #say: (line: string) => void;

  constructor(seed: number, say: (line: string) => void) {
    this.#seed = seed;
    this.#say = say;
    const start = createRandom(seed);
    this.#variant = start.chance(0.5) ? "sotw" : "delta";
    this.#isOrdered = start.chance(0.7);
    this.#only = start.chance(0.15) ? start.pick(types) : undefined;
    this.#ttl = start.chance(0.2) ? ("always" as const) : undefined;
    this.#asked = this.#only === undefined ? types : [this.#only];
    this.#isCalm = start.chance(0.7);
    this.#drain = start.pick([2_000, 7_000, 600_000]);
    this.#random = start;
    this.#line = start.chance(0.8) ? new SnapshotLineage() : undefined;
    this.#line?.start(this.#snapshots[0] as Snapshot);
    this.#say(`${this.#variant} ${this.#isOrdered ? "ordered" : "at once"} ${this.#only ?? "ads"}`);
    this.#publish(
      types.flatMap((type) => names.map((name) => [type, name, this.#content(type)] as const)),
      [],
    );
  }

  play(steps: number, without: ReadonlySet<number>): void {
    for (let index = 0; index < clients; index++) this.#twins.push(this.#open(index));
    for (let index = 0; index < steps; index++) {
      if (without.has(index)) continue;
      this.#random = createRandom(this.#seed, index);
      // Removed resources that clients ask for stay for some seconds.
      this.#now += this.#isCalm ? 6_000 : 10;
      this.#say(`step ${index}`);
      // As a server does: a stream gets its time event when its deadline is reached.
      for (const twin of this.#twins) {
        if (twin.ends.some((stream) => (stream.deadline() ?? this.#now + 1) <= this.#now))
          this.#both(twin, () => ({ kind: "time" }));
      }
      this.#step();
    }
    for (const twin of this.#twins) {
      for (let turn = 0; turn < 5; turn++) this.#settle(twin);
      for (const stream of twin.ends) stream.end();
    }
  }

  #open(index: number): Twin {
    const stream = () =>
      createStream({
        variant: this.#variant,
        api: "v3",
        types: resourceTypes,
        limits: defaultStreamLimits,
        defaultNode: undefined,
        only: this.#only === undefined ? undefined : typeOf(this.#only),
      });
    const order = () => (this.#isOrdered ? new Ordering({ ...defaultOrderingTimes, drain: this.#drain }) : undefined);
    const twin: Twin = {
      ends: [stream(), stream()],
      orders: [order(), order()],
      subscribed: new Map(),
      open: [],
    };
    for (const type of this.#asked) {
      twin.subscribed.set(type, asking[type] ?? []);
      this.#request(twin, type, { node: { id: `n${index}` } });
    }
    this.#give(twin, index);
    this.#settle(twin);
    return twin;
  }

  #content(type: string): string {
    const label = String(this.#random.int(1000));
    if (type === "endpoint") return label;
    return `${label}->${this.#random.pick(names)}`;
  }

  #publish(
    upserts: readonly (readonly [type: string, name: string, content: string])[],
    removals: readonly (readonly [type: string, name: string])[],
  ): void {
    const upsert = upserts.map(([type, name, text]) => sampleResource(type, name, text));
    const remove = removals.map(([type, name]) => ({ type: typeOf(type), name }));
    this.#say(
      `  publish ${upserts.map((one) => one.join(" ")).join(", ")} - ${removals.map((one) => one.join(" ")).join()}`,
    );
    const [before] = this.#snapshots;
    this.#snapshots = this.#snapshots.map((snapshot) => updateSnapshot(snapshot, { upsert, remove }));
    const [newest] = this.#snapshots as [Snapshot];
    if (newest === before) return;
    this.#line?.goOn(newest, true);
    for (const [index, { ends, orders }] of this.#twins.entries()) {
      if (!ends[0].isUpToDateWith(newest)) continue;
      // It followed its lineage, and so has nothing to send; the other was given the snapshot, and must have nothing to
      // send either.
      const [snapshot, ordering] = [this.#snapshots[index + 1] as Snapshot, orders[1]];
      ends[1].step({ kind: "snapshot", snapshot, ttl: this.#ttl, ordering }, this.#now);
      assert.ok(nextOfBoth(ends, this.#variant, this.#now) === undefined, "it has something to send");
      assertSame(ends);
    }
  }

  #both({ ends }: Twin, event: (which: 0 | 1) => StreamEvent): void {
    stepBoth(ends, event, this.#now);
  }

  #give(twin: Twin, index: number): void {
    this.#both(
      twin,
      (which): StreamEvent => ({
        kind: "snapshot",
        snapshot: this.#snapshots[which === 0 ? 0 : index + 1] as Snapshot,
        ttl: this.#ttl,
        ordering: twin.orders[which],
        lineage: which === 0 ? this.#line : undefined,
      }),
    );
  }

  #request(twin: Twin, type: string, more: Partial<Request>): void {
    const list = twin.subscribed.get(type) ?? [];
    const isFirst = more.node !== undefined;
    const own = this.#variant === "sotw" ? { names: list } : isFirst ? { subscribe: list } : {};
    const bytes = Buffer.from(encodeRequest(this.#variant, { typeUrl: urlOf(type, "v3"), ...own, ...more }));
    this.#both(twin, () => ({ kind: "request", bytes }));
  }

  /** Takes up to this many responses of both, which must be equal. */
  #pull(twin: Twin, most: number): void {
    for (let taken = 0; taken < most; taken++) {
      const one = nextOfBoth(twin.ends, this.#variant, this.#now);
      if (one === undefined) break;
      twin.open.push({ type: one.type.name, version: one.version, nonce: one.nonce });
    }
    assertSame(twin.ends);
  }

  #answer(twin: Twin, index: number): void {
    const [response] = twin.open.splice(Math.min(index, twin.open.length - 1), 1);
    if (response === undefined) return;
    const { type, version, nonce } = response;
    /** Things that a usual client does not do. */
    const oddly = (probability: number) => this.#random.chance(this.#isCalm ? probability / 4 : probability);
    const rejects = oddly(0.02);
    const more = {
      ...(rejects ? { error: { code: 3, message: "no" } } : {}),
      ...(oddly(0.03) ? { subscribe: [this.#random.pick(names)] } : {}),
    };
    this.#request(twin, type, {
      nonce,
      version: oddly(0.03) ? "older" : version,
      ...(this.#variant === "delta" || rejects ? more : {}),
    });
    if (oddly(0.03)) this.#request(twin, type, { nonce, version });
    assertSame(twin.ends);
  }

  #settle(twin: Twin): void {
    this.#pull(twin, 10);
    for (let turn = 0; turn < 10 && twin.open.length > 0; turn++) {
      this.#answer(twin, this.#random.chance(0.7) ? 0 : this.#random.int(3));
      if (this.#random.chance(0.5)) this.#pull(twin, this.#random.chance(0.9) ? 10 : 1);
    }
    this.#pull(twin, 10);
  }

  /**
   * Moves routes, for example, to a cluster that may be new, and removes another: new targets come first, old ones go
   * last.
   */
  #move(): void {
    const label = String(this.#random.int(1000));
    const pairs = [
      ["route", "cluster"],
      ["cluster", "endpoint"],
      ["listener", "route"],
    ] as const;
    const isTravel = this.#isCalm && this.#random.chance(0.6);
    const [moving, named] = isTravel ? pairs[0] : this.#random.pick(pairs);
    const [from, to] = isTravel
      ? [this.#goal, this.#goal === "d" ? "e" : "d"]
      : [this.#random.pick(names), this.#random.pick(names)];
    if (isTravel) this.#goal = to;
    const upserts: (readonly [type: string, name: string, content: string])[] = [];
    for (const name of this.#random.some(names, isTravel ? 0.9 : 0.5)) upserts.push([moving, name, `${label}->${to}`]);
    if (isTravel || this.#random.chance(0.8)) upserts.push([named, to, this.#content(named)]);
    this.#publish(upserts, from !== to && this.#random.chance(0.8) ? [[named, from]] : []);
  }

  #step(): void {
    const kind = this.#random.int(24);
    if (kind < (this.#isCalm ? 14 : 6)) this.#move();
    else if (kind < 20) {
      const type = this.#random.pick(this.#random.chance(0.5) ? ["endpoint"] : types);
      const isRemoval = this.#random.chance(0.15);
      const name = this.#random.pick(names);
      this.#publish(isRemoval ? [] : [[type, name, this.#content(type)]], isRemoval ? [[type, name]] : []);
    } else if (kind === 20) {
      this.#now += this.#random.pick([100, 2_000, 20_000]);
      for (const twin of this.#twins) this.#both(twin, () => ({ kind: "time" }));
    } else if (kind === 21 && this.#random.chance(this.#isCalm ? 0.1 : 0.5)) {
      const twin = this.#random.pick(this.#twins);
      const type = this.#random.pick(this.#asked);
      const list = this.#random.some(names, 0.7);
      if (this.#variant === "sotw") {
        twin.subscribed.set(type, list);
        const last = twin.open.findLast((one) => one.type === type);
        this.#request(twin, type, { nonce: last?.nonce ?? "1", version: last?.version });
      } else this.#request(twin, type, { subscribe: list, unsubscribe: this.#random.some(names, 0.2) });
    } else if (kind === 22) {
      for (const twin of this.#twins) this.#both(twin, () => ({ kind: "heartbeat", interval: 125 }));
    }
    for (const [index, twin] of this.#twins.entries()) {
      if (this.#random.chance(0.9)) this.#give(twin, index);
      const pace = this.#random.int(this.#isCalm ? 40 : 10);
      if (pace < 6 || pace >= 10) this.#settle(twin);
      else if (pace < 8) this.#pull(twin, 1);
      else if (pace === 8) this.#answer(twin, this.#random.int(3));
    }
  }
}
