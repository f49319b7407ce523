import type { ApiVersion } from "@xdskit/api";
import { intervalOver } from "../../model/basics/beat.js";
import type { SotwOrDelta } from "../../wire/basics/sotw-or-delta.js";
import { createRandom, type Random } from "../random.js";
import { type Edit, edit, type SampleGroup } from "../sample-world.js";
import { createVersionLedger } from "../version-ledger.js";
import type { SeenResponse } from "../wire.js";
import { aliasPool, aliasTypes } from "./model-aliases.js";
import { ModelClient } from "./model-client.js";
import { ModelStream, type SentRequest } from "./model-stream.js";
import { wholeTypes } from "./model-subscriber.js";

const types = ["cluster", "endpoint", "listener", "route", "scoped-route", "secret"];
const pool = ["a", "b", "c", "d"];
/** Heartbeats are due every 500 ms, and every 2 s. */
const ttls = ["~2s", "~6s"];
const features = ["xds.config.supports-resource-ttl", "xds.config.supports-resource-in-sotw"];
/** The length of a step of time, in milliseconds. */
const tick = 500;
/** More rounds than two ends need to come to rest, unless they answer each other for ever. */
const maxRounds = 30;

/** The words that a client may ask for. */
function wordsFor({ type }: ModelClient): readonly string[] {
  return aliasTypes.has(type) ? [...pool, ...aliasPool] : pool;
}

/** One stream of a client, with the messages in flight in both directions. */
interface Session {
  readonly label: string;
  readonly variant: SotwOrDelta;
  readonly api: ApiVersion;
  readonly only: string | undefined;
  readonly features: readonly string[];
  readonly clients: readonly ModelClient[];
  stream: ModelStream;
  readonly requests: SentRequest[];
  readonly responses: { readonly type: string; readonly seen: SeenResponse }[];
  blocked: boolean;
}

/**
 * Runs `steps` random steps from a seed: nodes connect, ask, answer, fall silent and reconnect, while resources change.
 * Then everything settles, and each client must hold exactly the requested resources. Steps in `without` are skipped:
 * that makes a failure smaller.
 */
export function runModel(seed: number, steps: number, without: ReadonlySet<number>, say: (line: string) => void): void {
  new ModelRun(seed, say).play(steps, without);
}

/** All nodes, at one sequence of configurations. */
class ModelRun {
  readonly #ledger = createVersionLedger();
  #random: Random;
  #group: SampleGroup;
  readonly #history: SampleGroup[];
  readonly #sessions: Session[] = [];
  #now = 0;
  /** Chances of the step that is played. */
  readonly #proxy: Random = {
    int: (bound) => this.#random.int(bound),
    chance: (probability) => this.#random.chance(probability),
    pick: (list) => this.#random.pick(list),
    some: (list, probability) => this.#random.some(list, probability),
  };
  readonly #actions: readonly (readonly [weight: number, act: (session: Session) => void])[] = [
    [4, () => this.#sessions.length < 8 && this.#connect()],
    [18, () => this.#publish(this.#change(this.#group))],
    [2, () => this.#publish(this.#rebuild(this.#group))],
    [2, () => this.#publish(this.#rebuild(this.#change(this.#group)))],
    [2, () => this.#goBack()],
    [20, (session) => this.#deliver(session)],
    [20, (session) => this.#read(session, false)],
    [18, (session) => this.#want(session)],
    [4, (session) => this.#ask(session, this.#random.pick(session.clients).repeat())],
    [3, (session) => this.#reconnect(session)],
    [3, (session) => this.#ask(session, this.#random.pick(session.clients).settle())],
    [7, (session) => this.#turn(session)],
    [6, () => this.#pass(tick * (1 + this.#random.int(4)))],
    [6, (session) => this.#takeOne(session)],
  ];
  readonly #total = this.#actions.reduce((sum, [weight]) => sum + weight, 0);
  readonly #seed: number;
  readonly #say: (line: string) => void;

  constructor(seed: number, say: (line: string) => void) {
    this.#seed = seed;
    this.#say = say;
    const start = createRandom(seed);
    this.#random = start;
    this.#group = this.#change(undefined);
    this.#history = [this.#group];
  }

  play(steps: number, without: ReadonlySet<number>): void {
    for (let index = 0; index < steps; index++) {
      if (without.has(index)) continue;
      this.#random = createRandom(this.#seed, index);
      this.#step();
    }
    this.#random = createRandom(this.#seed, steps);
    this.#finish();
    for (const session of this.#sessions) {
      for (const client of session.clients) compare(session, client, this.#group);
      session.stream.close();
    }
  }

  #finish(): void {
    this.#say("rest");
    for (const session of this.#sessions) for (const client of session.clients) this.#ask(session, client.settle());
    for (const session of this.#sessions) this.#rest(session);
    if (this.#random.chance(0.3)) this.#live();
    // Lost resources come back with the next heartbeats.
    for (let count = 0; count < 4; count++) {
      for (const session of this.#sessions) session.stream.beat(4 * tick);
      for (const session of this.#sessions) this.#rest(session);
    }
  }

  #change(before: SampleGroup | undefined): SampleGroup {
    const edits: Edit[] = [];
    for (let count = before === undefined ? 8 : 1 + this.#random.int(4); count > 0; count--) {
      const type = this.#random.pick(types);
      const name = this.#random.pick(pool);
      const label = `${this.#random.int(3)}`;
      const refers =
        type === "cluster" && this.#random.chance(0.4) ? `->${this.#random.pick([...pool, "static"])}` : "";
      const ttl = this.#random.chance(0.2) ? this.#random.pick(ttls) : "";
      const aliases = aliasTypes.has(type) ? this.#random.some(aliasPool, 0.25).map((alias) => `@${alias}`) : [];
      const content =
        before !== undefined && this.#random.chance(0.3) ? undefined : `${label}${refers}${aliases.join("")}${ttl}`;
      edits.push({ type, name, content });
    }
    const last = new Map(edits.map((one) => [`${one.type} ${one.name}`, one]));
    this.#say(
      `set ${[...last.values()].map(({ type, name, content }) => `${type} ${name}=${content ?? "∅"}`).join("; ")}`,
    );
    return edit(before, [...last.values()]);
  }

  /** The same content in another lineage, as after a new read of the configuration. */
  #rebuild(before: SampleGroup): SampleGroup {
    this.#say("rebuild");
    const all = [...before.contents].flatMap(([type, names]) =>
      [...names].map(([name, content]) => ({ type, name, content })),
    );
    return edit(undefined, all);
  }

  #connect(): void {
    const variant = this.#random.chance(0.5) ? "sotw" : "delta";
    const api = this.#random.chance(0.8) ? "v3" : "v2";
    const ads = this.#random.chance(0.6);
    const told = this.#random.chance(0.5) ? features : [];
    const wanted = this.#random.some(types, 0.6);
    const groups = ads ? [wanted] : wanted.map((type) => [type]);
    for (const own of groups.filter((list) => list.length > 0)) {
      const label = `s${this.#sessions.length}`;
      const only = ads ? undefined : own[0];
      this.#say(
        `${label}: connect ${variant} ${ads ? "ads" : "per-type"} ${api}${told.length > 0 ? " knows TTLs" : ""}`,
      );
      const options = { variant, api, only, features: told } as const;
      const session: Session = {
        ...options,
        label,
        requests: [],
        responses: [],
        blocked: false,
        clients: own.map((type) => new ModelClient(type, variant, api, this.#proxy)),
        stream: new ModelStream(options, this.#group, this.#ledger),
      };
      this.#sessions.push(session);
      for (const client of session.clients) this.#ask(session, client.begin(wordsFor(client)));
    }
  }

  #reconnect(session: Session): void {
    this.#say(`${session.label}: reconnect`);
    session.stream.close();
    session.requests.length = 0;
    session.responses.length = 0;
    session.stream = new ModelStream(session, this.#group, this.#ledger);
    for (const client of session.clients) this.#ask(session, client.begin(wordsFor(client)));
  }

  #ask(session: Session, request: SentRequest | undefined): void {
    if (request === undefined) return;
    this.#say(`${session.label}: asks ${describeRequest(request)}`);
    session.requests.push(request);
  }

  #deliver(session: Session): void {
    const request = session.requests.shift();
    if (request === undefined) return;
    this.#say(`${session.label}: > ${describeRequest(request)}`);
    session.stream.request(request);
    this.#flow(session);
  }

  #flow(session: Session): void {
    if (session.blocked) return;
    for (const one of session.stream.drain()) this.#take(session, one);
  }

  #take(session: Session, one: { readonly type: string; readonly seen: SeenResponse }): void {
    this.#say(`${session.label}: < ${describeResponse(one.type, one.seen)}`);
    session.responses.push(one);
  }

  #read(session: Session, calm: boolean): void {
    const one = session.responses.shift();
    if (one === undefined) return;
    const client = session.clients.find(({ type }) => type === one.type)!;
    const rejects = client.cannotTake(one.seen) || this.#random.chance(0.15);
    const late = !calm && this.#random.chance(0.15);
    this.#say(
      `${session.label}: reads ${describeResponse(one.type, one.seen)}${rejects ? ", rejects it" : ""}${late ? ", answers later" : ""}`,
    );
    this.#ask(session, client.receive(one.seen, rejects, late, this.#now));
  }

  /** Time passes: heartbeats become due, and resources without one end. */
  #pass(milliseconds: number): void {
    const interval = intervalOver(this.#now, this.#now + milliseconds);
    this.#now += milliseconds;
    this.#say(`${this.#now} ms: heartbeats every ${interval} ms are due`);
    for (const session of this.#sessions) session.stream.beat(interval);
    for (const session of this.#sessions) this.#flow(session);
    for (const { label, clients } of this.#sessions) {
      for (const client of clients) {
        const gone = client.expire(this.#now);
        if (gone.length > 0) this.#say(`${label}: ${client.type} ${gone} is over`);
      }
    }
  }

  /** If heartbeats are read as they come, nothing gets lost. */
  #live(): void {
    for (let count = 0; count < 20; count++) {
      this.#now += tick;
      const interval = intervalOver(this.#now - tick, this.#now);
      this.#say(`${this.#now} ms: heartbeats every ${interval} ms are due`);
      for (const session of this.#sessions) session.stream.beat(interval);
      for (const session of this.#sessions) this.#rest(session);
      for (const { label, clients } of this.#sessions) {
        for (const client of clients) {
          // Dropped resources, and removed ones that SotW cannot report (rule 74), go when their time is over.
          const there = this.#group.contents.get(client.type);
          const gone = client
            .expire(this.#now)
            .filter((name) => there?.has(name) && client.wants(name, there.get(name)));
          // A resource whose TTL was about to end before this began is sent again when its heartbeat is rejected.
          if (gone.length > 0 && count > 4)
            throw new Error(`${label}: ${client.type} ${gone} is over, though its heartbeats came`);
        }
      }
    }
  }

  #publish(next: SampleGroup): void {
    this.#group = next;
    this.#history.push(this.#group);
    for (const session of this.#sessions) session.stream.snapshot(this.#group);
    for (const session of this.#sessions) this.#flow(session);
  }

  #step(): void {
    if (this.#sessions.length === 0) this.#connect();
    if (this.#sessions.length === 0) return;
    let choice = this.#random.int(this.#total);
    const session = this.#random.pick(this.#sessions);
    for (const [weight, act] of this.#actions) {
      choice -= weight;
      if (choice < 0) {
        act(session);
        return;
      }
    }
  }

  #goBack(): void {
    this.#say("back to an earlier configuration");
    this.#publish(this.#random.pick(this.#history));
  }

  #want(session: Session): void {
    const client = this.#random.pick(session.clients);
    const quiet = [...session.requests, ...session.responses].every(({ type }) => type !== client.type);
    this.#ask(session, client.change(wordsFor(client), quiet && !session.blocked));
  }

  #turn(session: Session): void {
    session.blocked = !session.blocked;
    this.#say(`${session.label}: ${session.blocked ? "blocked" : "unblocked"}`);
    this.#flow(session);
  }

  #takeOne(session: Session): void {
    const one = session.blocked ? session.stream.next() : undefined;
    if (one !== undefined) this.#take(session, one);
  }

  #rest(session: Session): void {
    session.blocked = false;
    this.#flow(session);
    for (let round = 0; session.requests.length + session.responses.length > 0; round++) {
      if (round === maxRounds * 10) throw new Error(`${session.label} does not come to rest`);
      while (session.requests.length > 0) this.#deliver(session);
      this.#read(session, true);
      if (session.requests.length + session.responses.length === 0)
        for (const client of session.clients) this.#ask(session, client.settle());
    }
  }
}

function compare(session: Session, client: ModelClient, group: SampleGroup): void {
  const { type } = client;
  const known = session.stream.subscriber(type);
  if (known === undefined) throw new Error(`${session.label}: the server does not know that ${type} is wanted`);
  const interested = client.wildcard || client.names.size > 0;
  if (known.wildcard !== client.wildcard || [...known.names].sort().join() !== [...client.names].sort().join()) {
    throw new Error(`${session.label}: the two ends of the model do not agree on what is wanted of ${type}`);
  }
  const there = group.contents.get(type) ?? new Map<string, string>();
  for (const [name, content] of there) {
    if (client.wants(name, content) && client.seen.get(name) !== content) {
      throw new Error(`${session.label}: ${type} ${name}=${content}, but the client has ${client.seen.get(name)}`);
    }
  }
  if (!interested || (session.variant === "sotw" && !wholeTypes.has(type))) return;
  for (const [name, content] of client.seen) {
    if (client.wants(name, content) && !(there.has(name) && client.wants(name, there.get(name))))
      throw new Error(`${session.label}: ${type} ${name} is gone, but the client has it`);
  }
}

function describeRequest({ type, names, version, nonce, subscribe, unsubscribe, has, rejects }: SentRequest): string {
  const parts = [
    type,
    ...names,
    ...subscribe.map((name) => `+${name}`),
    ...unsubscribe.map((name) => `-${name}`),
    version === "" ? "" : `v=${version.slice(0, 6)}`,
    nonce === "" ? "" : `n=${nonce}`,
    rejects ? "nack" : "",
    has.size === 0 ? "" : `has ${[...has].map(([name, content]) => `${name}=${content}`).join(" ")}`,
  ];
  return parts.filter((part) => part !== "").join(" ");
}

function describeResponse(type: string, { version, nonce, resources, removed }: SeenResponse): string {
  const content = [...resources.map(({ name, content }) => `${name}=${content}`), ...removed.map((name) => `-${name}`)];
  return `${type} ${content.join(" ") || "[]"} v=${version.slice(0, 6)} n=${nonce}`;
}
