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
  type SotwOrDelta,
  type StreamEvent,
  ttlPolicies,
  updateSnapshot,
} from "../../index.js";
import { createRandom, type Random } from "../random.js";
import { sampleResource, urlOf } from "../sample-resources.js";
import { typeOf } from "../sample-world.js";
import { encodeRequest, type Request } from "../wire.js";
import { assertSame, type Ends, nextOfBoth, stepBoth } from "./twin-ends.js";

const types = ["cluster", "endpoint", "listener", "route"];
const names = ["a", "b", "c"];
const byName = new Set(["endpoint", "route"]);
const nodes = 5;

/** A kind of client: many are of the same kind, and share cohorts with others. */
interface Kind {
  readonly variant: SotwOrDelta;
  readonly api: "v2" | "v3";
  readonly isPerType: boolean;
  readonly isOrdered: boolean;
  readonly features: readonly string[];
  /** It sends its node with every request, as Envoy does by default. */
  readonly repeatsNode: boolean;
  /** Bytes at the end of its acknowledgements. */
  readonly suffix: Uint8Array;
}

interface Sent {
  readonly type: string;
  readonly version: string;
  readonly nonce: string;
}

/** One stream of a client twice: among others that do the same, and on snapshots that no other stream has. */
interface Twin {
  readonly kind: Kind;
  readonly ends: Ends;
  /** Another stream of the node let it go on. */
  readonly woken: [boolean, boolean];
  readonly types: readonly string[];
  readonly subscribed: Map<string, readonly string[]>;
  readonly open: Sent[];
  last: Sent | undefined;
}

interface Pair {
  readonly kind: Kind;
  readonly index: number;
  readonly orders: readonly [Ordering | undefined, Ordering | undefined];
  readonly streams: Map<string, Twin>;
}

/**
 * Clients of several kinds at the same snapshots, some with a stream for each type that come and go. Whatever a stream
 * repeats from others, it must do as if it were alone with the other streams of its node. Some answers are odd: written
 * differently, to another response, or with additions.
 */
export function runMixedTwins(seed: number, steps: number, without: ReadonlySet<number>, say: (line: string) => void) {
  const start = createRandom(seed);
  const usual = kindFrom(start);
  // Differs in one thing.
  const others = kindFrom(start);
  const like = {
    ...usual,
    ...start.pick([{ api: others.api }, { features: others.features }, { suffix: others.suffix }]),
  };
  const ttl = start.pick([undefined, ...ttlPolicies]);
  const hasTtls = start.chance(0.3);
  const drain = start.pick([2_000, 7_000, 600_000]);
  let random: Random = start;
  let now = 0;
  let pairs: readonly Pair[] = [];
  let snapshots: Snapshot[] = Array.from({ length: nodes + 1 }, () => emptySnapshot());
  /** Of the first. */
  const line = start.chance(0.8) ? new SnapshotLineage() : undefined;
  line?.start(snapshots[0] as Snapshot);
  const wentAlong = new Set<number>();
  publish(
    types.flatMap((type) => names.map((name) => [type, name] as const)),
    [],
  );
  pairs = Array.from({ length: nodes }, (_, index): Pair => {
    const kind = index < 2 ? usual : index < 4 ? like : kindFrom(start);
    const order = () => (kind.isOrdered ? new Ordering({ ...defaultOrderingTimes, drain }) : undefined);
    say(`node ${index}: ${JSON.stringify({ ...kind, suffix: Buffer.from(kind.suffix).toString("hex") })}`);
    return { kind, index, orders: [order(), order()], streams: new Map() };
  });
  for (const pair of pairs) {
    for (const key of keysOf(pair.kind)) if (!pair.kind.isPerType || start.chance(0.6)) open(pair, key);
  }

  function open(pair: Pair, key: string): void {
    const { kind, index } = pair;
    const { variant, api } = kind;
    const woken: Twin["woken"] = [false, false];
    const make = (which: 0 | 1) =>
      createStream({
        variant,
        api,
        types: resourceTypes,
        limits: defaultStreamLimits,
        defaultNode: undefined,
        only: key === "ads" ? undefined : typeOf(key),
        progressed: () => {
          woken[which] = true;
        },
      });
    const asked = key === "ads" ? types : [key];
    const twin: Twin = {
      kind,
      ends: [make(0), make(1)],
      woken,
      types: asked,
      subscribed: new Map(),
      open: [],
      last: undefined,
    };
    say(`  open ${index} ${key}`);
    pair.streams.set(key, twin);
    for (const [place, type] of asked.entries()) {
      twin.subscribed.set(type, byName.has(type) ? names : []);
      const node = { id: `n${index}`, clientFeatures: kind.features };
      request(twin, type, variant === "sotw" ? { node } : { node, subscribe: byName.has(type) ? names : [] });
      if (place === 0 || random.chance(0.5)) give(pair, twin);
    }
    give(pair, twin);
  }

  function publish(upserts: readonly (readonly [string, string])[], removals: readonly (readonly [string, string])[]) {
    const upsert = upserts.map(([type, name]) => sampleResource(type, name, content(type)));
    const remove = removals.map(([type, name]) => ({ type: typeOf(type), name }));
    say(`  publish ${upsert.map(({ type, name, version }) => `${type.name} ${name} ${version}`).join()} - ${removals}`);
    const [before] = snapshots;
    snapshots = snapshots.map((snapshot) => updateSnapshot(snapshot, { upsert, remove }));
    const [newest] = snapshots as [Snapshot];
    if (newest === before) return;
    line?.goOn(newest, true);
    wentAlong.clear();
    for (const { index, orders, kind, streams } of pairs) {
      for (const { ends } of streams.values()) {
        if (!ends[0].isAbreast(newest)) continue;
        wentAlong.add(index);
        // It went along, and so has nothing to send: neither has the other, which is told.
        const [snapshot, ordering] = [snapshots[index + 1] as Snapshot, orders[1]];
        ends[1].step({ kind: "snapshot", snapshot, ttl, ordering }, now);
        assert.ok(nextOfBoth(ends, kind.variant, now) === undefined, "it has something to send");
        assertSame(ends);
      }
    }
  }

  function content(type: string): string {
    const label = String(random.int(1000));
    const said = type === "endpoint" ? label : `${label}->${random.pick(names)}`;
    return hasTtls && pairs.length > 0 && random.chance(0.04) ? `${said}~10s` : said;
  }

  function both({ ends }: Twin, event: (which: 0 | 1) => StreamEvent): void {
    stepBoth(ends, event, now);
  }

  function give({ index, orders }: Pair, twin: Twin): void {
    both(twin, (which): StreamEvent => ({
      kind: "snapshot",
      snapshot: snapshots[which === 0 ? 0 : index + 1] as Snapshot,
      ttl,
      ordering: orders[which],
      lineage: which === 0 ? line : undefined,
    }));
  }

  function request(twin: Twin, type: string, more: Partial<Request>, suffix: Uint8Array = new Uint8Array()): void {
    const { variant, api } = twin.kind;
    const node = twin.kind.repeatsNode ? { id: "n", clientFeatures: twin.kind.features } : undefined;
    const own = variant === "sotw" ? { node, names: twin.subscribed.get(type) ?? [] } : { node };
    const bytes = Buffer.concat([encodeRequest(variant, { typeUrl: urlOf(type, api), ...own, ...more }), suffix]);
    say(`  ${type} ${JSON.stringify(more)} ${Buffer.from(suffix).toString("hex")}`);
    both(twin, () => ({ kind: "request", bytes: Buffer.from(bytes) }));
    // The bytes were only lent.
    bytes.fill(0xff);
  }

  function pull(twin: Twin, most: number): void {
    const { variant } = twin.kind;
    for (let taken = 0; taken < most; taken++) {
      const one = nextOfBoth(twin.ends, variant, now);
      if (one === undefined) break;
      say(`    ${one.type.name} ${one.nonce}`);
      twin.open.push({ type: one.type.name, version: one.version, nonce: one.nonce });
    }
    same(twin);
  }

  function same(twin: Twin): void {
    assertSame(twin.ends);
    for (const { streams } of pairs) for (const { woken } of streams.values()) assert.equal(woken[0], woken[1]);
  }

  function answer(twin: Twin, place: number): void {
    const [response] = twin.open.splice(Math.min(place, twin.open.length - 1), 1);
    if (response === undefined) return;
    const { type, version, nonce } = response;
    const { suffix, variant } = twin.kind;
    const fields = { nonce, version };
    const odd = random.int(60);
    const other = twin.last ?? response;
    if (odd === 0) request(twin, type, { ...fields, error: { code: 3, message: "no" } }, suffix);
    else if (odd === 1) request(twin, type, { ...fields, nonce: other.nonce }, suffix);
    else if (odd === 2) request(twin, random.pick(twin.types), fields, suffix);
    else if (odd === 3) request(twin, type, fields, text(variant === "sotw" ? 5 : 6, other.nonce));
    else if (odd === 4)
      request(
        twin,
        type,
        fields,
        text(variant === "sotw" ? 1 : 2, variant === "sotw" ? "x" : urlOf(type, twin.kind.api)),
      );
    else if (odd === 5) request(twin, type, fields, Uint8Array.of(variant === "sotw" ? 0x32 : 0x3a, 2, 8, 3));
    else if (odd === 6) request(twin, type, fields, text(3, random.pick(names)));
    else if (odd === 7) request(twin, type, fields, kindFrom(random).suffix);
    else if (odd === 8) request(twin, type, { ...fields, version: "older" }, suffix);
    else if (odd === 9)
      request(twin, type, fields, Buffer.concat([suffix, text(variant === "sotw" ? 7 : 8, "\n\u0001a")]));
    else request(twin, type, fields, suffix);
    if (random.chance(0.02)) request(twin, type, fields, suffix);
    twin.last = response;
    same(twin);
  }

  function settle(twin: Twin): void {
    pull(twin, 10);
    for (let turn = 0; turn < 10 && twin.open.length > 0; turn++) {
      answer(twin, 0);
      if (random.chance(0.5)) pull(twin, 10);
    }
    pull(twin, 10);
    twin.woken[0] = twin.woken[1] = false;
  }

  function end(pair: Pair, key: string): void {
    for (const stream of pair.streams.get(key)?.ends ?? []) stream.end();
    pair.streams.delete(key);
    say(`  end ${pair.index} ${key}`);
  }

  function step(): void {
    const kind = random.int(24);
    const pair = random.pick(pairs);
    const key = random.pick(keysOf(pair.kind));
    const twin = pair.streams.get(key);
    if (kind < 17) {
      const [type, name] = [random.pick(random.chance(0.4) ? ["endpoint"] : types), random.pick(names)];
      const isRemoval = random.chance(0.15);
      publish(isRemoval ? [] : [[type, name]], isRemoval ? [[type, name]] : []);
    } else if (kind === 17) {
      now += random.pick([100, 2_000, 20_000]);
      for (const { streams } of pairs) for (const one of streams.values()) both(one, () => ({ kind: "time" }));
    } else if (kind === 18 && random.chance(0.3)) {
      for (const { streams } of pairs)
        for (const one of streams.values()) both(one, () => ({ kind: "heartbeat", interval: 125 }));
    } else if (kind === 19 && random.chance(0.4) && twin !== undefined) {
      const type = random.pick(twin.types);
      const list = random.some(names, 0.7);
      if (twin.kind.variant === "sotw") {
        twin.subscribed.set(type, list);
        const last = twin.open.findLast((one) => one.type === type);
        request(twin, type, { nonce: last?.nonce ?? "1", version: last?.version });
      } else request(twin, type, { subscribe: list, unsubscribe: random.some(names, 0.2) });
    } else if (kind >= 20) {
      if (twin === undefined) open(pair, key);
      else if (kind === 20 && random.chance(0.3)) end(pair, key);
    }
    for (const one of pairs) {
      // Where one went along the others are given the same, as by a server.
      const isPast = random.chance(0.05) && !wentAlong.has(one.index);
      for (const stream of one.streams.values()) {
        if (!isPast) give(one, stream);
        const pace = random.int(10);
        if (pace < 7) settle(stream);
        else if (pace === 7) pull(stream, 1);
        else if (pace === 8) answer(stream, random.int(3));
        if (random.chance(0.03)) {
          const missing = keysOf(one.kind).find((key) => !one.streams.has(key));
          if (missing !== undefined) open(one, missing);
        }
      }
    }
  }

  for (let index = 0; index < steps; index++) {
    if (without.has(index)) continue;
    random = createRandom(seed, index);
    now += 10;
    say(`step ${index}`);
    step();
  }
  for (const pair of pairs) {
    for (let turn = 0; turn < 5; turn++) for (const twin of pair.streams.values()) settle(twin);
    for (const key of [...pair.streams.keys()]) end(pair, key);
  }
}

function keysOf({ isPerType }: Kind): readonly string[] {
  return isPerType ? types : ["ads"];
}

function kindFrom(random: Random): Kind {
  const variant = random.chance(0.5) ? "sotw" : "delta";
  return {
    variant,
    api: random.chance(0.8) ? "v3" : "v2",
    isPerType: random.chance(0.5),
    isOrdered: random.chance(0.8),
    repeatsNode: random.chance(0.2),
    features: random.some(
      [
        "xds.config.supports-resource-ttl",
        "xds.config.supports-resource-in-sotw",
        "xds.config.supports-resource-errors",
      ],
      0.3,
    ),
    suffix: random.pick([new Uint8Array(), Uint8Array.of(0xa0, 0x06, 1), text(100, "more")]),
  };
}

/** A field of a request with a short text. */
function text(field: number, value: string): Uint8Array {
  const tag = field * 8 + 2;
  return Buffer.concat([
    Uint8Array.from(tag < 128 ? [tag, value.length] : [128 + (tag % 128), tag >> 7, value.length]),
    Buffer.from(value),
  ]);
}
