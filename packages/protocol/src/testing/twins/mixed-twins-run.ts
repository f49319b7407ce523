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
const names = ["a", "b", "c", "d"];
const byName = new Set(["endpoint", "route"]);
/** The names that clients ask for at first. Changes of the others concern none of them. */
const askedFirst = [names, ["a"], ["a", "b"], ["c"]];
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
 * Clients of several kinds at the same snapshots, some with a stream for each type that come and go. A stream that
 * repeats others must do the same as if it were alone with the other streams of its node. Some answers are odd: written
 * differently, to another response, or with additions.
 */
export function runMixedTwins(seed: number, steps: number, without: ReadonlySet<number>, say: (line: string) => void) {
  new MixedTwinsRun(seed, say).play(steps, without);
}

/** Nodes of several kinds, each of their streams twice. */
class MixedTwinsRun {
  readonly #start: Random;
  readonly #ttl: "auto" | "advertised" | "always" | undefined;
  readonly #hasTtls: boolean;
  #random: Random;
  #now = 0;
  #pairs: readonly Pair[] = [];
  #snapshots: Snapshot[] = Array.from({ length: nodes + 1 }, () => emptySnapshot());
  /** Of the first. */
  readonly #line: SnapshotLineage | undefined;
  readonly #wentAlong = new Set<number>();
  readonly #seed: number;
  readonly #say: (line: string) => void;

  constructor(seed: number, say: (line: string) => void) {
    this.#seed = seed;
    this.#say = say;
    this.#start = createRandom(seed);
    const usual = kindFrom(this.#start);
    // Differs in one thing.
    const others = kindFrom(this.#start);
    const like = {
      ...usual,
      ...this.#start.pick([{ api: others.api }, { features: others.features }, { suffix: others.suffix }]),
    };
    this.#ttl = this.#start.pick([undefined, ...ttlPolicies]);
    this.#hasTtls = this.#start.chance(0.3);
    const drain = this.#start.pick([2_000, 7_000, 600_000]);
    this.#random = this.#start;
    this.#line = this.#start.chance(0.8) ? new SnapshotLineage() : undefined;
    this.#line?.start(this.#snapshots[0] as Snapshot);
    this.#publish(
      types.flatMap((type) => names.map((name) => [type, name] as const)),
      [],
    );
    this.#pairs = Array.from({ length: nodes }, (_, index): Pair => {
      const kind = index < 2 ? usual : index < 4 ? like : kindFrom(this.#start);
      const order = () => (kind.isOrdered ? new Ordering({ ...defaultOrderingTimes, drain }) : undefined);
      this.#say(`node ${index}: ${JSON.stringify({ ...kind, suffix: Buffer.from(kind.suffix).toString("hex") })}`);
      return { kind, index, orders: [order(), order()], streams: new Map() };
    });
  }

  play(steps: number, without: ReadonlySet<number>) {
    for (const pair of this.#pairs) {
      for (const key of keysOf(pair.kind)) if (!pair.kind.isPerType || this.#start.chance(0.6)) this.#open(pair, key);
    }
    for (let index = 0; index < steps; index++) {
      if (without.has(index)) continue;
      this.#random = createRandom(this.#seed, index);
      this.#now += 10;
      this.#say(`step ${index}`);
      this.#step();
    }
    for (const pair of this.#pairs) {
      for (let turn = 0; turn < 5; turn++) for (const twin of pair.streams.values()) this.#settle(twin);
      for (const key of [...pair.streams.keys()]) this.#end(pair, key);
    }
  }

  #open(pair: Pair, key: string): void {
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
        mayGoOn: () => {
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
    this.#say(`  open ${index} ${key}`);
    pair.streams.set(key, twin);
    for (const [place, type] of asked.entries()) {
      const asking = byName.has(type) ? this.#random.pick(askedFirst) : [];
      twin.subscribed.set(type, asking);
      const node = { id: `n${index}`, clientFeatures: kind.features };
      this.#request(twin, type, variant === "sotw" ? { node } : { node, subscribe: asking });
      if (place === 0 || this.#random.chance(0.5)) this.#give(pair, twin);
    }
    this.#give(pair, twin);
  }

  #publish(upserts: readonly (readonly [string, string])[], removals: readonly (readonly [string, string])[]) {
    const upsert = upserts.map(([type, name]) => sampleResource(type, name, this.#content(type)));
    const remove = removals.map(([type, name]) => ({ type: typeOf(type), name }));
    this.#say(
      `  publish ${upsert.map(({ type, name, version }) => `${type.name} ${name} ${version}`).join()} - ${removals}`,
    );
    const [before] = this.#snapshots;
    this.#snapshots = this.#snapshots.map((snapshot) => updateSnapshot(snapshot, { upsert, remove }));
    const [newest] = this.#snapshots as [Snapshot];
    if (newest === before) return;
    this.#line?.goOn(newest, true);
    this.#wentAlong.clear();
    for (const pair of this.#pairs) {
      for (const twin of pair.streams.values()) {
        if (!twin.ends[0].isUpToDateWith(newest)) continue;
        this.#wentAlong.add(pair.index);
        this.#followAlone(pair, twin);
        // A look brings its own states along; else they stay behind for now.
        if (this.#random.chance(0.3)) assertSame(twin.ends);
      }
    }
  }

  /** One followed its lineage, and has nothing to send. The other is given the snapshot, and must have nothing too. */
  #followAlone({ index, orders, kind }: Pair, { ends }: Twin): void {
    const [snapshot, ordering] = [this.#snapshots[index + 1] as Snapshot, orders[1]];
    ends[1].step({ kind: "snapshot", snapshot, ttl: this.#ttl, ordering }, this.#now);
    assert.ok(nextOfBoth(ends, kind.variant, this.#now) === undefined, "it has something to send");
  }

  #content(type: string): string {
    const label = String(this.#random.int(1000));
    const said = type === "endpoint" ? label : `${label}->${this.#random.pick(names)}`;
    return this.#hasTtls && this.#pairs.length > 0 && this.#random.chance(0.04) ? `${said}~10s` : said;
  }

  #both({ ends }: Twin, event: (which: 0 | 1) => StreamEvent): void {
    stepBoth(ends, event, this.#now);
  }

  #give({ index, orders }: Pair, twin: Twin): void {
    this.#both(
      twin,
      (which): StreamEvent => ({
        kind: "snapshot",
        snapshot: this.#snapshots[which === 0 ? 0 : index + 1] as Snapshot,
        ttl: this.#ttl,
        ordering: orders[which],
        lineage: which === 0 ? this.#line : undefined,
      }),
    );
  }

  #request(twin: Twin, type: string, more: Partial<Request>, suffix: Uint8Array = new Uint8Array()): void {
    const { variant, api } = twin.kind;
    const node = twin.kind.repeatsNode ? { id: "n", clientFeatures: twin.kind.features } : undefined;
    const own = variant === "sotw" ? { node, names: twin.subscribed.get(type) ?? [] } : { node };
    const bytes = Buffer.concat([encodeRequest(variant, { typeUrl: urlOf(type, api), ...own, ...more }), suffix]);
    this.#say(`  ${type} ${JSON.stringify(more)} ${Buffer.from(suffix).toString("hex")}`);
    this.#both(twin, () => ({ kind: "request", bytes: Buffer.from(bytes) }));
    // The bytes were only lent.
    bytes.fill(0xff);
  }

  #pull(twin: Twin, most: number): void {
    const { variant } = twin.kind;
    for (let taken = 0; taken < most; taken++) {
      const one = nextOfBoth(twin.ends, variant, this.#now);
      if (one === undefined) break;
      this.#say(`    ${one.type.name} ${one.nonce}`);
      twin.open.push({ type: one.type.name, version: one.version, nonce: one.nonce });
    }
    this.#same(twin);
  }

  #same(twin: Twin): void {
    const pair = this.#pairs.find(({ streams }) => [...streams.values()].includes(twin)) ?? assert.fail();
    const [one, other] = twin.ends;
    const wentAlong = one.isInSync && one.newest === this.#snapshots[0];
    // It settled among streams that followed their lineage meanwhile.
    if (wentAlong && other.newest !== this.#snapshots[pair.index + 1]) this.#followAlone(pair, twin);
    assertSame(twin.ends);
    for (const { streams } of this.#pairs) for (const { woken } of streams.values()) assert.equal(woken[0], woken[1]);
  }

  #answer(twin: Twin, place: number): void {
    const [response] = twin.open.splice(Math.min(place, twin.open.length - 1), 1);
    if (response === undefined) return;
    const { type, version, nonce } = response;
    const { suffix, variant } = twin.kind;
    const fields = { nonce, version };
    const odd = this.#random.int(60);
    const other = twin.last ?? response;
    if (odd === 0) this.#request(twin, type, { ...fields, error: { code: 3, message: "no" } }, suffix);
    else if (odd === 1) this.#request(twin, type, { ...fields, nonce: other.nonce }, suffix);
    else if (odd === 2) this.#request(twin, this.#random.pick(twin.types), fields, suffix);
    else if (odd === 3) this.#request(twin, type, fields, text(variant === "sotw" ? 5 : 6, other.nonce));
    else if (odd === 4)
      this.#request(
        twin,
        type,
        fields,
        text(variant === "sotw" ? 1 : 2, variant === "sotw" ? "x" : urlOf(type, twin.kind.api)),
      );
    else if (odd === 5) this.#request(twin, type, fields, Uint8Array.of(variant === "sotw" ? 0x32 : 0x3a, 2, 8, 3));
    else if (odd === 6) this.#request(twin, type, fields, text(3, this.#random.pick(names)));
    else if (odd === 7) this.#request(twin, type, fields, kindFrom(this.#random).suffix);
    else if (odd === 8) this.#request(twin, type, { ...fields, version: "older" }, suffix);
    else if (odd === 9)
      this.#request(twin, type, fields, Buffer.concat([suffix, text(variant === "sotw" ? 7 : 8, "\n\u0001a")]));
    else this.#request(twin, type, fields, suffix);
    if (this.#random.chance(0.02)) this.#request(twin, type, fields, suffix);
    twin.last = response;
    this.#same(twin);
  }

  #settle(twin: Twin): void {
    this.#pull(twin, 10);
    for (let turn = 0; turn < 10 && twin.open.length > 0; turn++) {
      this.#answer(twin, 0);
      if (this.#random.chance(0.5)) this.#pull(twin, 10);
    }
    this.#pull(twin, 10);
    twin.woken[0] = twin.woken[1] = false;
  }

  #end(pair: Pair, key: string): void {
    for (const stream of pair.streams.get(key)?.ends ?? []) stream.end();
    pair.streams.delete(key);
    this.#say(`  end ${pair.index} ${key}`);
  }

  #step(): void {
    const kind = this.#random.int(24);
    const pair = this.#random.pick(this.#pairs);
    const key = this.#random.pick(keysOf(pair.kind));
    const twin = pair.streams.get(key);
    if (kind < 17) {
      const [type, name] = [
        this.#random.pick(this.#random.chance(0.4) ? ["endpoint"] : types),
        this.#random.pick(names),
      ];
      const isRemoval = this.#random.chance(0.15);
      this.#publish(isRemoval ? [] : [[type, name]], isRemoval ? [[type, name]] : []);
    } else if (kind === 17) {
      this.#now += this.#random.pick([100, 2_000, 20_000]);
      for (const { streams } of this.#pairs)
        for (const one of streams.values()) this.#both(one, () => ({ kind: "time" }));
    } else if (kind === 18 && this.#random.chance(0.3)) {
      for (const { streams } of this.#pairs)
        for (const one of streams.values()) this.#both(one, () => ({ kind: "heartbeat", interval: 125 }));
    } else if (kind === 19 && this.#random.chance(0.4) && twin !== undefined) {
      const type = this.#random.pick(twin.types);
      const list = this.#random.some(names, 0.7);
      if (twin.kind.variant === "sotw") {
        twin.subscribed.set(type, list);
        const last = twin.open.findLast((one) => one.type === type);
        this.#request(twin, type, { nonce: last?.nonce ?? "1", version: last?.version });
      } else this.#request(twin, type, { subscribe: list, unsubscribe: this.#random.some(names, 0.2) });
    } else if (kind >= 20) {
      if (twin === undefined) this.#open(pair, key);
      else if (kind === 20 && this.#random.chance(0.3)) this.#end(pair, key);
    }
    for (const one of this.#pairs) {
      // If one followed its lineage, the others are given the same, as by a server.
      const isPast = this.#random.chance(0.05) && !this.#wentAlong.has(one.index);
      for (const stream of one.streams.values()) {
        if (!isPast) this.#give(one, stream);
        const pace = this.#random.int(10);
        if (pace < 7) this.#settle(stream);
        else if (pace === 7) this.#pull(stream, 1);
        else if (pace === 8) this.#answer(stream, this.#random.int(3));
        if (this.#random.chance(0.03)) {
          const missing = keysOf(one.kind).find((key) => !one.streams.has(key));
          if (missing !== undefined) this.#open(one, missing);
        }
      }
    }
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
