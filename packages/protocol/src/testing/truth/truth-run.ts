import assert from "node:assert/strict";
import { createStream, Ordering, SnapshotLineage, type SotwOrDelta, type Stream } from "../../index.js";
import { createRandom, type Random } from "../random.js";
import { sampleResource, urlOf } from "../sample-resources.js";
import { type Edit, edit, type SampleGroup, typeOf } from "../sample-world.js";
import { usualStream } from "../stream-options.js";
import { decodeResponse, encodeRequest, type SeenResponse } from "../wire.js";
import { bad, type Taken, TruthClient } from "./truth-client.js";

const types = ["cluster", "endpoint", "listener", "route"];
const pool = ["a", "b", "c"];
const byName = new Set(["endpoint", "route"]);

/** Responses in flight to a client, on one stream. */
interface Line {
  readonly stream: Stream;
  readonly clients: readonly TruthClient[];
  readonly inbox: { readonly type: string; readonly seen: SeenResponse; readonly count: number }[];
  /** By type. */
  readonly lastNonces: Map<string, string>;
  /** By type, responses that are unanswered and not overtaken by an acknowledgement, heartbeats included. */
  readonly unanswered: Map<string, { readonly nonce: string; readonly isHeartbeat: boolean }[]>;
}

/**
 * A client that answers when it likes, even long after nothing waits for the answer, and rejects bad resources. At
 * every moment the server's status must be exactly the client's answers.
 */
export function runTruth(seed: number, steps: number, without: ReadonlySet<number>, say: (line: string) => void): void {
  new TruthRun(seed, say).play(steps, without);
}

/** One client, which may have several streams, and its answers about each resource. */
class TruthRun {
  #random: Random;
  readonly #variant: SotwOrDelta;
  readonly #ads: boolean;
  readonly #ttl: "always" | undefined;
  readonly #blames: boolean;
  /** SotW clients may answer only the last of several. */
  readonly #skips: boolean;
  readonly #ordering: Ordering | undefined;
  #now = 0;
  #count = 0;
  #sent = 0;
  /** By version, the contents of resources. */
  readonly #contents = new Map<string, string>();
  #world: SampleGroup;
  readonly #line = new SnapshotLineage();
  readonly #lines: Line[];
  readonly #seed: number;
  readonly #say: (line: string) => void;

  constructor(seed: number, say: (line: string) => void) {
    this.#seed = seed;
    this.#say = say;
    const start = createRandom(seed);
    this.#random = start;
    this.#variant = start.chance(0.5) ? "sotw" : "delta";
    this.#ads = start.chance(0.6);
    const isOrdered = start.chance(0.8);
    this.#ttl = start.chance(0.2) ? ("always" as const) : undefined;
    this.#blames = start.chance(0.5);
    this.#skips = this.#variant === "sotw" && start.chance(0.5);
    this.#ordering = isOrdered ? new Ordering() : undefined;
    this.#world = this.#make(
      undefined,
      types.flatMap((type) => pool.map((name) => ({ type, name, content: this.#content(type) }))),
    );
    this.#line.start(this.#world.snapshot);
    const how = [this.#variant, this.#ads ? "ads" : "per type", isOrdered ? "ordered" : "at once"];
    this.#say([...how, ...(this.#blames ? ["blames"] : []), ...(this.#skips ? ["skips"] : [])].join(" "));
    this.#lines = (this.#ads ? [types] : types.map((type) => [type])).map((own) => this.#open(own));
    this.#flow();
  }

  play(steps: number, without: ReadonlySet<number>): void {
    for (let at = 1; at <= steps; at++) {
      if (without.has(at)) continue;
      this.#random = createRandom(this.#seed, at);
      this.#act();
      this.#flow();
    }
    this.#say("at last");
    this.#publish(this.#fixed());
    this.#rest();
    this.#check();
    for (const { stream } of this.#lines) assert.ok(stream.isInSync, "in the end a stream is not in sync");
  }

  #act(): void {
    const one = this.#random.pick(this.#lines);
    const action = this.#random.int(20);
    if (action < 4) this.#change();
    else if (action < 10) this.#read(one);
    else if (action < 15) this.#answer(one, this.#random.pick(one.clients).type);
    else if (action < 16) this.#rest();
    else if (action < 17) this.#ask(one, this.#random.pick(one.clients));
    else if (action < 18 && this.#ttl !== undefined)
      for (const { stream } of this.#lines) stream.step({ kind: "heartbeat", interval: 2_000 }, this.#now);
    else this.#pass(this.#random.pick([300, 3_000, 16_000]));
  }

  /** Each bad resource as a good one. */
  #fixed(): readonly Edit[] {
    const edits: Edit[] = [];
    for (const [type, names] of this.#world.contents) {
      for (const [name, text] of names)
        if (text.startsWith(bad)) edits.push({ type, name, content: text.replace(bad, "0") });
    }
    return edits;
  }

  #content(type: string): string {
    const label = `${this.#random.chance(0.15) && this.#count > 0 ? bad : ""}${++this.#count}`;
    const time = this.#ttl !== undefined && this.#random.chance(0.3) ? "~10s" : "";
    return `${type === "endpoint" ? label : `${label}->${this.#random.pick(pool)}`}${time}`;
  }

  #make(before: SampleGroup | undefined, edits: readonly Edit[]): SampleGroup {
    for (const { type, name, content } of edits) {
      if (content === undefined) continue;
      this.#contents.set(sampleResource(type, name, content).version, withoutTime(content));
    }
    return edit(before, edits);
  }

  #open(own: readonly string[]): Line {
    const stream = createStream(usualStream(this.#variant, this.#ads ? undefined : typeOf(own[0] ?? "")));
    const clients = own.map((type) => {
      const names = byName.has(type) ? new Set(pool) : undefined;
      return new TruthClient(type, names, this.#variant === "sotw" && !byName.has(type), this.#blames);
    });
    const made: Line = { stream, clients, inbox: [], unanswered: new Map(), lastNonces: new Map() };
    for (const { type, names } of clients) {
      const list = [...(names ?? [])];
      const request = { typeUrl: urlOf(type, "v3"), node: { id: "truth" }, names: list, subscribe: list };
      stream.step({ kind: "request", bytes: encodeRequest(this.#variant, request) }, this.#now);
    }
    this.#give(made);
    return made;
  }

  #give({ stream }: Line): void {
    stream.step(
      {
        kind: "snapshot",
        snapshot: this.#world.snapshot,
        ordering: this.#ordering,
        lineage: this.#line,
        ttl: this.#ttl,
      },
      this.#now,
    );
  }

  #flow(): void {
    for (const { stream, inbox, unanswered, lastNonces } of [...this.#lines, ...this.#lines]) {
      for (let response = stream.next(this.#now); response !== undefined; response = stream.next(this.#now)) {
        const seen = decodeResponse(this.#variant, response);
        const type = response.type.name;
        this.#say(`  < ${describe(type, seen)}`);
        inbox.push({ type, seen, count: ++this.#sent });
        const { nonce, isHeartbeat } = seen;
        lastNonces.set(type, nonce);
        unanswered.set(type, [...(unanswered.get(type) ?? []), { nonce, isHeartbeat }]);
      }
    }
    this.#check();
  }

  #change(): void {
    const edits: Edit[] = [];
    for (let left = 1 + this.#random.int(3); left > 0; left--) {
      const type = this.#random.pick(types);
      edits.push({
        type,
        name: this.#random.pick(pool),
        content: this.#random.chance(0.2) ? undefined : this.#content(type),
      });
    }
    const last = [...new Map(edits.map((one) => [`${one.type} ${one.name}`, one])).values()];
    this.#publish(last);
  }

  #publish(edits: readonly Edit[]): void {
    this.#say(`set ${edits.map(({ type, name, content }) => `${type} ${name}=${content ?? "∅"}`).join("; ")}`);
    this.#world = this.#make(this.#world, edits);
    this.#line.goOn(this.#world.snapshot, true);
    for (const one of this.#lines) if (!one.stream.isUpToDateWith(this.#world.snapshot)) this.#give(one);
  }

  #read(one: Line): void {
    const next = one.inbox.shift();
    if (next === undefined) return;
    this.#say(`reads ${describe(next.type, next.seen)}`);
    clientOf(one, next.type).read(next.seen, next.count);
  }

  #answer(one: Line, type: string): void {
    const client = clientOf(one, type);
    let taken = client.open.shift();
    for (let [next] = client.open; this.#skips && next !== undefined && taken !== undefined; [next] = client.open) {
      // Its objection to a response holds for the heartbeat that repeats it, too.
      const isLike =
        taken.refused === undefined ? next.refused === undefined : next.isHeartbeat && next.refused !== undefined;
      if (!isLike || this.#random.chance(0.5)) break;
      const isAll = taken.about === "everything" || next.about === "everything";
      const about = isAll ? ("everything" as const) : new Set([...taken.about, ...next.about]);
      taken = { ...next, about, refused: taken.refused, isHeartbeat: taken.isHeartbeat && next.isHeartbeat };
      client.open.shift();
    }
    if (taken !== undefined) this.#tell(one, client, taken);
  }

  #tell(one: Line, client: TruthClient, taken: Taken): void {
    const { type } = client;
    const { nonce, version, refused, message } = taken;
    this.#say(`> ${type} n=${nonce}${refused === undefined ? "" : ` nack ${message}`}`);
    const error = refused && { code: 3, message };
    const names = [...(client.names ?? [])];
    const bytes = encodeRequest(this.#variant, { typeUrl: urlOf(type, "v3"), nonce, version, names, error });
    const effects = one.stream.step({ kind: "request", bytes }, this.#now);
    const unanswered = one.unanswered.get(type) ?? [];
    const at = unanswered.findIndex((each) => each.nonce === nonce);
    // Rule 27: a SotW acknowledgement of an older response counts, but its names do not.
    const said = effects.map(({ kind }) => kind).join();
    const heard = this.#variant === "sotw" ? ["acknowledged", "stale"] : ["acknowledged"];
    assert.ok((refused === undefined ? heard : ["rejected"]).includes(said), `the answer ${nonce} of ${type}: ${said}`);
    if (this.#variant === "sotw" || refused === undefined) unanswered.splice(0, at + 1);
    else unanswered.splice(at, 1);
    if (!taken.isHeartbeat || refused === undefined) client.heard(taken, this.#wanted(type));
  }

  /** Asks for other names. In SotW only if everything was answered: otherwise it is an answer too, or is ignored. */
  #ask(one: Line, client: TruthClient): void {
    const { type, names: before } = client;
    const unread = one.inbox.filter((each) => each.type === type);
    const isBusy = client.open.length > 0 || unread.length > 0;
    if (before === undefined || (this.#variant === "sotw" && isBusy)) return;
    // A client that drops the bad name does not say that the rest may come again.
    const isFaulty = unread.some(({ seen }) => seen.resources.some(({ content = "" }) => content.startsWith(bad)));
    const rejects = isFaulty || client.refused.size > 0 || client.open.some(({ refused }) => refused !== undefined);
    const names = new Set([...(rejects ? before : []), ...this.#random.some(pool, 0.6)]);
    // A list without a name is none in SotW.
    if (names.size === 0) names.add(this.#random.pick(pool));
    this.#say(`> ${type} ${[...names].join(" ")}`);
    client.ask(names, this.#sent);
    const subscribe = [...names].filter((name) => !before.has(name));
    const unsubscribe = [...before].filter((name) => !names.has(name));
    const nonce = this.#variant === "sotw" ? one.lastNonces.get(type) : undefined;
    const request = { typeUrl: urlOf(type, "v3"), nonce, names: [...names], subscribe, unsubscribe };
    one.stream.step({ kind: "request", bytes: encodeRequest(this.#variant, request) }, this.#now);
  }

  #pass(milliseconds: number): void {
    this.#now += milliseconds;
    this.#say(`${milliseconds} ms go by`);
    for (const { stream } of this.#lines) {
      const due = stream.deadline();
      if (due === undefined || due > this.#now) continue;
      for (const effect of stream.step({ kind: "time" }, this.#now)) {
        if (effect.kind === "wait-ended") this.#say(`  a wait for ${effect.type.name} ended`);
      }
    }
  }

  #check(): void {
    for (const one of this.#lines) {
      const { stream, unanswered } = one;
      let isTrue = true;
      for (const status of stream.status()) {
        const type = status.type.name;
        const client = clientOf(one, type);
        const what = `${type} at ${this.#now}`;
        for (const name of pool) {
          if (!client.asksFor(name)) continue;
          const said = this.#contents.get(status.acknowledged?.set.get(name)?.version ?? "");
          const told = client.told?.get(name);
          const there = this.#wanted(type).get(name);
          const isUnsaid = this.#variant === "sotw" && byName.has(type);
          // A removed resource may stay, since connections drain or the client asks for it.
          const needed = this.#contents.get(status.meanwhile?.get(name)?.version ?? "");
          assert.ok(needed === there || there === undefined, `${what} ${name}: ${needed} is no lack of ${there}`);
          if (told !== needed && !(needed === undefined && isUnsaid)) isTrue = false;
          // SotW does not report removals of these.
          if (said === undefined && isUnsaid) continue;
          assert.equal(said, told, `${what} ${name}: what it is said to use, and what it said that it uses`);
        }
        const open = (unanswered.get(type) ?? []).length;
        if (open > 0) isTrue = false;
        if (open < 32) assert.equal(status.inFlightCount, open, `${what}: unanswered`);
        // A resource that went while nothing was in flight must not count as rejected.
        if (open === 0)
          client.refused = new Map(
            [...client.refused].filter(([name, refused]) => this.#wanted(type).get(name) === refused),
          );
        for (const [name, refused] of client.refused) {
          if (client.told?.get(name) === refused) continue;
          assert.ok(status.rejected !== undefined, `${what}: its rejection of ${name}=${refused} is forgotten`);
        }
      }
      if (stream.isInSync) assert.ok(isTrue, "it is said to be in sync");
    }
  }

  #wanted(type: string): ReadonlyMap<string, string> {
    return new Map([...(this.#world.contents.get(type) ?? [])].map(([name, content]) => [name, withoutTime(content)]));
  }

  #rest(): void {
    for (let round = 0; round < 300; round++) {
      this.#flow();
      const busy = this.#lines.find(
        ({ inbox, clients }) => inbox.length > 0 || clients.some(({ open }) => open.length > 0),
      );
      if (busy === undefined) {
        const isWaiting = this.#lines.some(({ stream }) => stream.deadline() !== undefined);
        if (!isWaiting) return;
        this.#pass(20_000);
        continue;
      }
      while (busy.inbox.length > 0) this.#read(busy);
      for (const { type } of busy.clients) this.#answer(busy, type);
    }
    throw new Error("it never comes to rest");
  }
}

function withoutTime(content: string): string {
  return content.split("~")[0] ?? "";
}

function clientOf({ clients }: Line, type: string): TruthClient {
  const found = clients.find((one) => one.type === type);
  assert.ok(found);
  return found;
}

function describe(type: string, { resources, removed, nonce, isHeartbeat }: SeenResponse): string {
  const there = resources.map(({ name, content }) => `${name}=${content ?? "♥"}`);
  return `${type} ${[...there, ...removed.map((name) => `-${name}`)].join(" ")} n=${nonce}${isHeartbeat ? " heartbeat" : ""}`;
}
