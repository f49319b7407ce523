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
 * Streams with the same subscriptions get the same snapshots, mostly at the same time, and mostly acknowledge. Whatever
 * a stream repeats from others, it must do exactly as if it were alone.
 */
export function runTwins(seed: number, steps: number, without: ReadonlySet<number>, say: (line: string) => void): void {
  const start = createRandom(seed);
  const variant = start.chance(0.5) ? "sotw" : "delta";
  const isOrdered = start.chance(0.7);
  const only = start.chance(0.15) ? start.pick(types) : undefined;
  const ttl = start.chance(0.2) ? ("always" as const) : undefined;
  const asked = only === undefined ? types : [only];
  /** Steps are as long as connections drain, and most clients answer soon: then several of them wait for the same. */
  const isCalm = start.chance(0.7);
  /** How long connections drain: for the whole run, or for a few steps. */
  const drain = start.pick([2_000, 7_000, 600_000]);
  let random: Random = start;
  let now = 0;
  /** The first is shared, each other one is of one client. */
  let snapshots: Snapshot[] = Array.from({ length: clients + 1 }, () => emptySnapshot());
  /** Of the first. */
  const line = start.chance(0.8) ? new SnapshotLineage() : undefined;
  line?.start(snapshots[0] as Snapshot);
  const twins: Twin[] = [];
  /** The cluster to which routes went last. */
  let goal = "d";
  say(`${variant} ${isOrdered ? "ordered" : "at once"} ${only ?? "ads"}`);
  publish(
    types.flatMap((type) => names.map((name) => [type, name, content(type)] as const)),
    [],
  );
  for (let index = 0; index < clients; index++) twins.push(open(index));

  function open(index: number): Twin {
    const stream = () =>
      createStream({
        variant,
        api: "v3",
        types: resourceTypes,
        limits: defaultStreamLimits,
        defaultNode: undefined,
        only: only === undefined ? undefined : typeOf(only),
      });
    const order = () => (isOrdered ? new Ordering({ ...defaultOrderingTimes, drain }) : undefined);
    const twin: Twin = {
      ends: [stream(), stream()],
      orders: [order(), order()],
      subscribed: new Map(),
      open: [],
    };
    for (const type of asked) {
      twin.subscribed.set(type, asking[type] ?? []);
      request(twin, type, { node: { id: `n${index}` } });
    }
    give(twin, index);
    settle(twin);
    return twin;
  }

  function content(type: string): string {
    const label = String(random.int(1000));
    if (type === "endpoint") return label;
    return `${label}->${random.pick(names)}`;
  }

  function publish(
    upserts: readonly (readonly [type: string, name: string, content: string])[],
    removals: readonly (readonly [type: string, name: string])[],
  ): void {
    const upsert = upserts.map(([type, name, text]) => sampleResource(type, name, text));
    const remove = removals.map(([type, name]) => ({ type: typeOf(type), name }));
    say(`  publish ${upserts.map((one) => one.join(" ")).join(", ")} - ${removals.map((one) => one.join(" ")).join()}`);
    const [before] = snapshots;
    snapshots = snapshots.map((snapshot) => updateSnapshot(snapshot, { upsert, remove }));
    const [newest] = snapshots as [Snapshot];
    if (newest === before) return;
    line?.goOn(newest, true);
    for (const [index, { ends, orders }] of twins.entries()) {
      if (!ends[0].isAbreast(newest)) continue;
      // It went along, and so has nothing to send: neither has the other, which is told.
      const [snapshot, ordering] = [snapshots[index + 1] as Snapshot, orders[1]];
      ends[1].step({ kind: "snapshot", snapshot, ttl, ordering }, now);
      assert.ok(nextOfBoth(ends, variant, now) === undefined, "it has something to send");
      assertSame(ends);
    }
  }

  function both({ ends }: Twin, event: (which: 0 | 1) => StreamEvent): void {
    stepBoth(ends, event, now);
  }

  function give(twin: Twin, index: number): void {
    both(twin, (which): StreamEvent => ({
      kind: "snapshot",
      snapshot: snapshots[which === 0 ? 0 : index + 1] as Snapshot,
      ttl,
      ordering: twin.orders[which],
      lineage: which === 0 ? line : undefined,
    }));
  }

  function request(twin: Twin, type: string, more: Partial<Request>): void {
    const list = twin.subscribed.get(type) ?? [];
    const isFirst = more.node !== undefined;
    const own = variant === "sotw" ? { names: list } : isFirst ? { subscribe: list } : {};
    const bytes = Buffer.from(encodeRequest(variant, { typeUrl: urlOf(type, "v3"), ...own, ...more }));
    both(twin, () => ({ kind: "request", bytes }));
  }

  /** Takes up to this many responses of both, which must be equal. */
  function pull(twin: Twin, most: number): void {
    for (let taken = 0; taken < most; taken++) {
      const one = nextOfBoth(twin.ends, variant, now);
      if (one === undefined) break;
      twin.open.push({ type: one.type.name, version: one.version, nonce: one.nonce });
    }
    assertSame(twin.ends);
  }

  function answer(twin: Twin, index: number): void {
    const [response] = twin.open.splice(Math.min(index, twin.open.length - 1), 1);
    if (response === undefined) return;
    const { type, version, nonce } = response;
    /** Things that a usual client does not do. */
    const oddly = (probability: number) => random.chance(isCalm ? probability / 4 : probability);
    const rejects = oddly(0.02);
    const more = {
      ...(rejects ? { error: { code: 3, message: "no" } } : {}),
      ...(oddly(0.03) ? { subscribe: [random.pick(names)] } : {}),
    };
    request(twin, type, {
      nonce,
      version: oddly(0.03) ? "older" : version,
      ...(variant === "delta" || rejects ? more : {}),
    });
    if (oddly(0.03)) request(twin, type, { nonce, version });
    assertSame(twin.ends);
  }

  function settle(twin: Twin): void {
    pull(twin, 10);
    for (let turn = 0; turn < 10 && twin.open.length > 0; turn++) {
      answer(twin, random.chance(0.7) ? 0 : random.int(3));
      if (random.chance(0.5)) pull(twin, random.chance(0.9) ? 10 : 1);
    }
    pull(twin, 10);
  }

  /**
   * Moves routes, for example, to a cluster that may be new, and removes another: new targets come first, old ones go
   * last.
   */
  function move(): void {
    const label = String(random.int(1000));
    const pairs = [
      ["route", "cluster"],
      ["cluster", "endpoint"],
      ["listener", "route"],
    ] as const;
    const isTravel = isCalm && random.chance(0.6);
    const [moving, named] = isTravel ? pairs[0] : random.pick(pairs);
    const [from, to] = isTravel ? [goal, goal === "d" ? "e" : "d"] : [random.pick(names), random.pick(names)];
    if (isTravel) goal = to;
    const upserts: (readonly [type: string, name: string, content: string])[] = [];
    for (const name of random.some(names, isTravel ? 0.9 : 0.5)) upserts.push([moving, name, `${label}->${to}`]);
    if (isTravel || random.chance(0.8)) upserts.push([named, to, content(named)]);
    publish(upserts, from !== to && random.chance(0.8) ? [[named, from]] : []);
  }

  function step(): void {
    const kind = random.int(24);
    if (kind < (isCalm ? 14 : 6)) move();
    else if (kind < 20) {
      const type = random.pick(random.chance(0.5) ? ["endpoint"] : types);
      const isRemoval = random.chance(0.15);
      const name = random.pick(names);
      publish(isRemoval ? [] : [[type, name, content(type)]], isRemoval ? [[type, name]] : []);
    } else if (kind === 20) {
      now += random.pick([100, 2_000, 20_000]);
      for (const twin of twins) both(twin, () => ({ kind: "time" }));
    } else if (kind === 21 && random.chance(isCalm ? 0.1 : 0.5)) {
      const twin = random.pick(twins);
      const type = random.pick(asked);
      const list = random.some(names, 0.7);
      if (variant === "sotw") {
        twin.subscribed.set(type, list);
        const last = twin.open.findLast((one) => one.type === type);
        request(twin, type, { nonce: last?.nonce ?? "1", version: last?.version });
      } else request(twin, type, { subscribe: list, unsubscribe: random.some(names, 0.2) });
    } else if (kind === 22) {
      for (const twin of twins) both(twin, () => ({ kind: "heartbeat", interval: 125 }));
    }
    for (const [index, twin] of twins.entries()) {
      if (random.chance(0.9)) give(twin, index);
      const pace = random.int(isCalm ? 40 : 10);
      if (pace < 6 || pace >= 10) settle(twin);
      else if (pace < 8) pull(twin, 1);
      else if (pace === 8) answer(twin, random.int(3));
    }
  }

  for (let index = 0; index < steps; index++) {
    if (without.has(index)) continue;
    random = createRandom(seed, index);
    // Removed resources that clients ask for stay for some seconds.
    now += isCalm ? 6_000 : 10;
    say(`step ${index}`);
    // As a server does: a stream gets its time event when its deadline is reached.
    for (const twin of twins) {
      if (twin.ends.some((stream) => (stream.deadline() ?? now + 1) <= now)) both(twin, () => ({ kind: "time" }));
    }
    step();
  }
  for (const twin of twins) {
    for (let turn = 0; turn < 5; turn++) settle(twin);
    for (const stream of twin.ends) stream.end();
  }
}
