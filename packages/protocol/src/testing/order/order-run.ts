import { Ordering, SnapshotLineage, type SotwOrDelta, type Stream } from "../../index.js";
import { createCheckedStream } from "../checked-stream.js";
import { createRandom, type Random } from "../random.js";
import { urlOf } from "../sample-resources.js";
import { describeSet, type SampleGroup, typeOf } from "../sample-world.js";
import { usualStream } from "../stream-options.js";
import { decodeResponse, encodeRequest, type SeenResponse } from "../wire.js";
import { isNamed, OrderClient, type OrderRequest, orderedTypes } from "./order-client.js";
import { closedWorld, fixed } from "./order-world.js";

/** The longest time that a client takes to answer, in steps, and the length of a step in milliseconds. */
const patience = 12;
const step = 300;

/** More turns than the streams of a client need to finish, unless they wake each other for ever. */
const maxTurns = 1_000;

/** Messages in flight between a client and a server, for one stream. */
interface Line {
  readonly stream: Stream;
  readonly types: readonly string[];
  readonly responses: { readonly type: string; readonly seen: SeenResponse; readonly count: number }[];
  isNew: boolean;
  /**
   * Something happened to the stream, or another stream of the node let it go on. Only then a server asks it for
   * responses.
   */
  isAwake: boolean;
}

/**
 * Brings a client from one random configuration to the next in `steps` steps. It answers late and rejects bad
 * resources, and at every moment the resources that it serves by must exist. In the end it must have the newest
 * configuration.
 */
export function runOrder(seed: number, steps: number, without: ReadonlySet<number>, say: (line: string) => void): void {
  new OrderRun(seed, say).play(steps, without);
}

/** One client, its streams, and the messages in flight between them. */
class OrderRun {
  #random: Random;
  readonly #variant: SotwOrDelta;
  readonly #ads: boolean;
  readonly #client: OrderClient;
  #now = 0;
  #world: SampleGroup;
  readonly #shared = new Ordering();
  readonly #snapshots = new SnapshotLineage();
  readonly #lines: Line[];
  /** Answers that the client has not sent yet, oldest first, and the step at which it must. */
  readonly #late: { readonly line: Line; readonly request: OrderRequest; readonly until: number }[] = [];
  readonly #said = new Map<string, { names: ReadonlySet<string>; version: string; nonce: string }>();
  /** By type and name, the number of responses sent when the client last asked for the name. */
  readonly #askedAt = new Map<string, number>();
  #sent = 0;
  readonly #lastNonces = new Map<string, string>();
  readonly #seed: number;
  readonly #say: (line: string) => void;

  constructor(seed: number, say: (line: string) => void) {
    this.#seed = seed;
    this.#say = say;
    const start = createRandom(seed);
    this.#random = start;
    this.#variant = start.chance(0.5) ? "sotw" : "delta";
    this.#ads = start.chance(0.6);
    this.#client = new OrderClient(start, this.#variant === "delta");
    this.#world = closedWorld(start, undefined, false);
    this.#snapshots.start(this.#world.snapshot);
    this.#lines = (this.#ads ? [orderedTypes] : orderedTypes.map((type) => [type])).map((own) => this.#open(own));
    this.#say(`${this.#variant} ${this.#ads ? "ads" : "per-type"}`);
    this.#tell();
    this.#ask();
    this.#rest(0);
  }

  play(steps: number, without: ReadonlySet<number>): void {
    for (let at = 1; at <= steps; at++) {
      this.#random = createRandom(this.#seed, at);
      if (!without.has(at)) this.#act(at);
    }
    this.#finish(steps);
    for (const type of orderedTypes) this.#compare(type);
    for (const { stream } of this.#lines) if (!stream.isInSync) throw new Error("in the end a stream is not in sync");
  }

  #act(at: number): void {
    const overdue = this.#late.findIndex(({ until }) => until <= at);
    if (overdue >= 0) this.#answer(overdue);
    const action = this.#random.int(10);
    if (action < 2) {
      this.#say(`${at}: change`);
      this.#change(closedWorld(this.#random, this.#world, true));
    } else if (action < 6) {
      this.#say(`${at}: read`);
      this.#read(this.#random.pick(this.#lines), at);
    } else if (action < 8) {
      this.#say(`${at}: answer`);
      this.#answer(this.#random.int(Math.max(1, this.#late.length)));
    } else {
      this.#say(`${at}: time goes by`);
      this.#pass(step);
    }
  }

  /** Nothing is bad any more, and time goes by until nothing is held back. */
  #finish(at: number): void {
    this.#say("at last");
    this.#change(fixed(this.#world));
    for (let round = 0; round < 60; round++) {
      this.#rest(at);
      this.#pass(step);
      if (this.#lines.every(({ stream }) => stream.isInSync && stream.deadline() === undefined)) break;
    }
    this.#rest(at);
  }

  /** The client has its names' resources of the newest configuration. */
  #compare(type: string): void {
    const words = (contents: Iterable<readonly [string, string]>) =>
      Array.from(contents, ([name, content]) => `${name}=${content}`)
        .sort()
        .join(" ");
    const wanted = [...(this.#world.contents.get(type) ?? [])].filter(
      ([name]) => !isNamed(type) || this.#client.wants(type).has(name),
    );
    const [got, want] = [words(this.#client.current.get(type) ?? []), words(wanted)];
    if (got !== want) throw new Error(`in the end the client has ${type} ${got}, and is to have ${want}`);
  }

  #change(world: SampleGroup): void {
    this.#world = world;
    this.#tell();
    this.#flow();
  }

  #open(own: readonly string[]): Line {
    const stream = createCheckedStream({
      ...usualStream(this.#variant, this.#ads ? undefined : typeOf(own[0] ?? "")),
      mayGoOn: () => {
        line.isAwake = true;
      },
    });
    const line: Line = { stream, types: own, responses: [], isNew: true, isAwake: true };
    return line;
  }

  #tell(): void {
    this.#say(`  wanted: ${orderedTypes.map((type) => `${type} ${describeSet(this.#world, type)}`).join("; ")}`);
    this.#snapshots.goOn(this.#world.snapshot, true);
    // As a server does: a stream that moved along with the lineage is not visited.
    for (const line of this.#lines)
      if (!line.isNew && !line.stream.isUpToDateWith(this.#world.snapshot)) this.#give(line);
  }

  #give(line: Line): void {
    line.isAwake = true;
    line.stream.step(
      { kind: "snapshot", snapshot: this.#world.snapshot, ordering: this.#shared, lineage: this.#snapshots },
      this.#now,
    );
  }

  /** Delivers a request as the client means it now. */
  #deliver(line: Line, { type, nonce, rejects }: OrderRequest): void {
    const before = this.#said.get(type);
    const names = this.#client.wants(type);
    const added = [...names].filter((name) => !before?.names.has(name));
    const dropped = [...(before?.names ?? [])].filter((name) => !names.has(name));
    const version = before?.version ?? "";
    this.#say(`  > ${type} ${[...names].join(" ")} n=${nonce}${rejects === undefined ? "" : ` nack: ${rejects}`}`);
    const told = nonce === "" ? (before?.nonce ?? "") : nonce;
    // Rule 27: the names of a SotW request with an old nonce do not count, so names that it leaves out may still come.
    const isHeard = this.#variant === "delta" || before === undefined || told === this.#lastNonces.get(type);
    if (isHeard) this.#client.forgetBut(type, names);
    if (isHeard) for (const name of added) this.#askedAt.set(`${type} ${name}`, this.#sent);
    this.#said.set(type, { names: isHeard ? names : before.names, version, nonce: told });
    const bytes = encodeRequest(this.#variant, {
      typeUrl: urlOf(type, "v3"),
      node: line.isNew ? { id: "order" } : undefined,
      nonce: nonce === "" && this.#variant === "sotw" ? (before?.nonce ?? "") : nonce,
      error: rejects === undefined ? undefined : { code: 3, message: rejects },
      names: [...names],
      version,
      subscribe: added,
      unsubscribe: dropped,
    });
    line.isAwake = true;
    line.stream.step({ kind: "request", bytes }, this.#now);
    if (line.isNew) {
      line.isNew = false;
      this.#give(line);
    }
  }

  #flow(): void {
    for (let turn = 0; this.#lines.some(({ isAwake }) => isAwake); turn++) {
      if (turn === maxTurns) throw new Error("streams wake each other without end");
      for (const line of this.#lines) {
        if (!line.isAwake) continue;
        line.isAwake = false;
        for (
          let response = line.stream.next(this.#now);
          response !== undefined;
          response = line.stream.next(this.#now)
        ) {
          const seen = decodeResponse(this.#variant, response);
          const type = orderedTypes.find((one) => urlOf(one, "v3") === seen.typeUrl) ?? "";
          const there = seen.resources.map(({ name, content }) => `${name}=${content}`);
          this.#say(`  < ${type} ${[...there, ...seen.removed.map((name) => `-${name}`)].join(" ")} n=${seen.nonce}`);
          this.#lastNonces.set(type, seen.nonce);
          line.responses.push({ type, seen, count: ++this.#sent });
        }
      }
    }
  }

  /** The client reads one response. */
  #read(line: Line, at: number): void {
    const next = line.responses.shift();
    if (next === undefined) return;
    const { type, count } = next;
    // It was in flight while the name was dropped and asked for again: nothing in the protocol says that it is out of
    // date.
    const isFresh = (name: string) => !isNamed(type) || count > (this.#askedAt.get(`${type} ${name}`) ?? 0);
    const seen = { ...next.seen, resources: next.seen.resources.filter(({ name }) => isFresh(name)) };
    this.#say(`  reads ${type} n=${seen.nonce}`);
    const request = this.#client.receive(type, seen, this.#now);
    this.#late.push({ line, request, until: at + this.#random.int(patience) });
    this.#ask();
  }

  /** For each type asked for by name, the client asks for the names in its resources. */
  #ask(): void {
    for (const type of this.#client.asks) {
      const line = this.#lines.find((one) => one.types.includes(type));
      const before = this.#said.get(type);
      const names = this.#client.wants(type);
      if (line === undefined || (before !== undefined && same(before.names, names))) continue;
      if (isNamed(type) && names.size === 0 && before === undefined) continue;
      // SotW: the server would ignore a request with an old nonce; the answer that is still due has the names.
      if (this.#variant === "sotw" && this.#late.some((one) => one.request.type === type)) continue;
      if (this.#variant === "sotw" && line.responses.some((one) => one.type === type)) continue;
      this.#deliver(line, { type, nonce: "", rejects: undefined });
    }
    this.#flow();
  }

  /** The client answers the oldest response of a type that it has not answered. */
  #answer(index: number): void {
    const [one] = this.#late.splice(index, 1);
    if (one === undefined) return;
    const { line, request } = one;
    // Clients answer in order.
    const earlier = this.#late.findIndex((other, at) => at < index && other.request.type === request.type);
    if (earlier >= 0) {
      this.#late.splice(index, 0, one);
      this.#answer(earlier);
      return;
    }
    this.#client.acknowledged(request.type);
    this.#deliver(line, request);
    this.#flow();
    this.#ask();
  }

  #pass(milliseconds: number): void {
    this.#now += milliseconds;
    for (const line of this.#lines) {
      const { stream } = line;
      const due = stream.deadline();
      if (due === undefined || due > this.#now) continue;
      line.isAwake = true;
      for (const effect of stream.step({ kind: "time" }, this.#now)) {
        if (effect.kind === "wait-ended")
          throw new Error(`a wait for ${effect.type.name} ended, though the client answers`);
      }
    }
    this.#flow();
    this.#client.check(this.#now);
    this.#ask();
  }

  /** Until nothing is on its way. */
  #rest(at: number): void {
    for (let round = 0; round < 400; round++) {
      const line = this.#lines.find(({ responses }) => responses.length > 0);
      if (line !== undefined) this.#read(line, at);
      else if (this.#late.length > 0) this.#answer(0);
      else if (round % 40 === 39 || this.#lines.every(({ stream }) => stream.deadline() === undefined)) return;
      else this.#pass(step);
    }
    throw new Error("it never comes to rest");
  }
}

function same(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((name) => b.has(name));
}
