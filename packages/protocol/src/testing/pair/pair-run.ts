import assert from "node:assert/strict";
import { create, type Message, toBinary } from "@bufbuild/protobuf";
import { type ApiVersion, atOnce, type Finding, resourceTypes } from "@xdskit/api";
import { NodeSchema } from "@xdskit/api/envoy/config/core/v3/base";
import {
  type ClientStream,
  type ClientStreamEffect,
  type ClientStreamEvent,
  createClientStream,
  defaultStreamLimits,
  type SotwOrDelta,
  type Stream,
  type StreamEvent,
} from "../../index.js";
import { intervalOver } from "../../model/basics/beat.js";
import { createCheckedStream } from "../checked-stream.js";
import { contentOf, describeEffect, describeRequest, wordOfType } from "../client/client-lines.js";
import { createRandom, type Random } from "../random.js";
import { type SampleGroup, typeOf } from "../sample-world.js";
import { PairWatch } from "./pair-watch.js";
import { askable, fix, pairTypes, randomChange } from "./pair-world.js";

const node = toBinary(NodeSchema, create(NodeSchema, { id: "test" }));
/** More rounds than two ends need to come to rest, unless they answer each other for ever. */
const maxRounds = 60;
const absentAfter = 15_000;

/** A client's end, the server's end while a stream is open, and the messages in flight. */
interface Pair {
  readonly label: string;
  readonly types: readonly string[];
  readonly client: ClientStream;
  readonly watch: PairWatch;
  readonly wanted: ReadonlyMap<string, Set<string>>;
  readonly toServer: Uint8Array[];
  readonly toClient: Uint8Array[];
  /** Numbers of responses that wait for a decision. */
  readonly undecided: number[];
  /** Types of which the client asked for something on this stream, and then no more. */
  readonly givenUp: Set<string>;
  server: Stream | undefined;
}

/**
 * The client's machine against the server's: names come and go, resources change and are sometimes bad, messages are
 * slow, streams break. In the end each client must hold the server's resources of its names, and must never have
 * reported the same thing twice.
 */
export function runPair(seed: number, steps: number, without: ReadonlySet<number>, say: (line: string) => void): void {
  new PairRun(seed, say).play(steps, without);
}

/** Both ends of each stream, and the messages in flight between them. */
class PairRun {
  readonly #variant: SotwOrDelta;
  readonly #api: ApiVersion;
  readonly #ads: boolean;
  readonly #nodeOn: "first" | "every";
  readonly #answers: "at-once" | "when-told";
  #random: Random;
  #now = 0;
  /** The number of responses that reached a client. */
  #reached = 0;
  #group: SampleGroup;
  readonly #pairs: Pair[];
  readonly #seed: number;
  readonly #say: (line: string) => void;

  constructor(seed: number, say: (line: string) => void) {
    this.#seed = seed;
    this.#say = say;
    const start = createRandom(seed);
    this.#variant = start.chance(0.5) ? "sotw" : "delta";
    this.#api = start.chance(0.75) ? "v3" : "v2";
    this.#ads = start.chance(0.5);
    this.#nodeOn = start.chance(0.5) ? "first" : "every";
    this.#answers = start.chance(0.7) ? "at-once" : "when-told";
    this.#say(`${this.#variant} ${this.#api} ${this.#ads ? "ads" : "per-type"} ${this.#answers}`);
    this.#random = start;
    this.#group = randomChange(undefined, this.#random, this.#say);
    this.#pairs = (this.#ads ? [[...pairTypes]] : pairTypes.map((type) => [type])).map((types, index) =>
      this.#newPair(types, index),
    );
  }

  play(steps: number, without: ReadonlySet<number>): void {
    for (const pair of this.#pairs) {
      this.#subscribe(pair);
      this.#connect(pair);
    }
    for (let index = 0; index < steps; index++) {
      this.#random = createRandom(this.#seed, index);
      if (!without.has(index)) this.#step();
    }
    this.#finish();
    for (const pair of this.#pairs) this.#agree(pair);
  }

  /** Makes all resources good, connects all clients, and waits until everything has arrived. */
  #finish(): void {
    this.#say("rest");
    for (const pair of this.#pairs) this.#connect(pair);
    this.#settle();
    this.#change(fix(this.#group, this.#say));
    // A resource that a user rejected comes again with a new stream.
    if (this.#answers === "when-told") for (const pair of this.#pairs) this.#disconnect(pair);
    for (const pair of this.#pairs) this.#connect(pair);
    this.#wait(absentAfter + 1000);
  }

  #newPair(types: readonly string[], index: number): Pair {
    const [only = ""] = types;
    const client = createClientStream({
      variant: this.#variant,
      api: this.#api,
      types: resourceTypes,
      only: this.#ads ? undefined : typeOf(only),
      node,
      nodeOn: this.#nodeOn,
      answers: this.#answers,
      check,
      absentAfterMs: absentAfter,
    });
    const wanted = new Map(types.map((type) => [type, new Set<string>()]));
    const empty = { toServer: [], toClient: [], undecided: [], givenUp: new Set<string>(), server: undefined };
    return { label: `p${index}`, types, client, watch: new PairWatch(), wanted, ...empty };
  }

  #event(pair: Pair, one: ClientStreamEvent): void {
    for (const effect of pair.client.step(one, this.#now)) this.#told(pair, effect);
    pair.watch.compare(pair.client);
  }

  #told(pair: Pair, effect: ClientStreamEffect): void {
    const line = describeEffect(effect, { received: true, versions: false });
    this.#say(`    ${pair.label} ${line}`);
    if (effect.kind === "update")
      pair.watch.update(effect.update, this.#wantedOf(pair, wordOfType(effect.update.type)));
    else if (effect.kind === "rejected")
      for (const { name, findings } of effect.bad) {
        for (const { message } of findings) assert.match(message, /must not be bad/, "only what is bad is rejected");
        // It exists, but is not good; its end is news again.
        if (name !== undefined) pair.watch.asked(wordOfType(effect.type), name);
      }
    else if (effect.kind === "received" && effect.awaitsAnswer) pair.undecided.push(effect.response);
    else if (effect.kind === "close") {
      assert.equal(this.#api, "v2", effect.message);
      this.#disconnect(pair);
    }
  }

  #wantedOf(pair: Pair, type: string): Set<string> {
    return pair.wanted.get(type) ?? new Set();
  }

  #subscribe(pair: Pair): void {
    const type = this.#random.pick(pair.types);
    // Delta: a dropped resource that comes after all crossed the request. If the client then asks for everything,
    // nobody tells it that the resource is gone.
    const isLost = this.#variant === "delta" && pair.givenUp.has(type);
    const names = this.#random.some(askable, 0.3).filter((name) => name !== "*" || !isLost);
    if (names.length === 0) return;
    const wanted = this.#wantedOf(pair, type);
    for (const name of names) {
      if (!wanted.has(name)) pair.watch.asked(type, name);
      wanted.add(name);
    }
    this.#say(`${pair.label} subscribe ${type} ${names.join(" ")}`);
    this.#event(pair, { kind: "subscribe", type: typeOf(type), names });
  }

  #unsubscribe(pair: Pair): void {
    const type = this.#random.pick(pair.types);
    const wanted = this.#wantedOf(pair, type);
    const names = this.#random.some(wanted, 0.5);
    if (names.length === 0) return;
    for (const name of names) wanted.delete(name);
    pair.givenUp.add(type);
    pair.watch.dropped(type, wanted);
    this.#say(`${pair.label} unsubscribe ${type} ${names.join(" ")}`);
    this.#event(pair, { kind: "unsubscribe", type: typeOf(type), names });
  }

  #connect(pair: Pair): void {
    if (pair.server !== undefined) return;
    this.#say(`${pair.label} open`);
    pair.server = createCheckedStream({
      variant: this.#variant,
      api: this.#api,
      types: resourceTypes,
      limits: defaultStreamLimits,
      defaultNode: undefined,
      only: this.#ads ? undefined : typeOf(pair.types[0] ?? ""),
    });
    this.#event(pair, { kind: "opened" });
  }

  #disconnect(pair: Pair): void {
    if (pair.server === undefined) return;
    this.#say(`${pair.label} close`);
    pair.server.end();
    pair.server = undefined;
    pair.toServer.length = 0;
    pair.toClient.length = 0;
    pair.undecided.length = 0;
    pair.givenUp.clear();
    this.#event(pair, { kind: "closed" });
  }

  /** The client has room for a request. */
  #ask(pair: Pair): boolean {
    const request = pair.client.next();
    if (request === undefined) return false;
    assert.ok(pair.server !== undefined, "a request without a stream");
    this.#say(`  ${pair.label} ${describeRequest(request, this.#variant, this.#api).line}`);
    pair.toServer.push(request.bytes);
    return true;
  }

  /** The server has room for a response. */
  #respond(pair: Pair): boolean {
    const response = pair.server?.next(this.#now);
    if (response === undefined) return false;
    const bytes = new Uint8Array(response.body.length + response.tail.length);
    bytes.set(response.body.bytes);
    bytes.set(response.tail, response.body.length);
    this.#say(
      `  ${pair.label} < ${wordOfType(response.type)} ${response.resources}+${response.removed} n=${response.nonce}`,
    );
    pair.toClient.push(bytes);
    return true;
  }

  #reachServer(pair: Pair): boolean {
    const bytes = pair.toServer.shift();
    if (bytes === undefined) return false;
    this.#serve(pair, { kind: "request", bytes });
    return true;
  }

  #serve(pair: Pair, one: StreamEvent): void {
    for (const effect of pair.server?.step(one, this.#now) ?? []) {
      assert.notEqual(effect.kind, "close", "the server ended the stream");
      if (effect.kind === "identified") this.#give(pair);
    }
  }

  #give(pair: Pair): void {
    this.#serve(pair, { kind: "snapshot", snapshot: this.#group.snapshot, ttl: "always" });
  }

  #reachClient(pair: Pair): boolean {
    const bytes = pair.toClient.shift();
    if (bytes === undefined) return false;
    this.#say(`  ${pair.label} reached`);
    this.#event(pair, { kind: "response", bytes });
    // Every second one is prepared, and taken after whatever happens meanwhile. That must make no difference.
    this.#reached += 1;
    const [next] = pair.toClient;
    if (next !== undefined && this.#reached % 2 === 0) atOnce(pair.client.prepare(next, false));
    return true;
  }

  #decide(pair: Pair, isGood: boolean): boolean {
    const index = this.#random.int(pair.undecided.length);
    const [response] = pair.undecided.splice(index, 1);
    if (response === undefined) return false;
    this.#say(`${pair.label} answer #${response}${isGood ? "" : " no"}`);
    this.#event(pair, { kind: "answer", response, error: isGood ? undefined : "nobody can use it" });
    return true;
  }

  #settle(): void {
    for (const pair of this.#pairs) {
      for (let round = 0; ; round++) {
        assert.ok(round < maxRounds, `${pair.label} does not come to rest`);
        const moved = [
          this.#ask(pair),
          this.#reachServer(pair),
          this.#respond(pair),
          this.#reachClient(pair),
          this.#decide(pair, true),
        ];
        if (!moved.includes(true)) break;
      }
    }
  }

  /** The time that passes while everything is quick. */
  #wait(milliseconds: number): void {
    this.#settle();
    this.#say(`wait ${milliseconds}`);
    for (const end = this.#now + milliseconds; this.#now < end; ) {
      const next = Math.min(end, this.#now + 1000);
      const interval = intervalOver(this.#now, next);
      this.#now = next;
      for (const pair of this.#pairs) {
        if (pair.server !== undefined && interval > 0) this.#serve(pair, { kind: "heartbeat", interval });
      }
      this.#settle();
      for (const pair of this.#pairs) this.#event(pair, { kind: "time" });
    }
  }

  #change(next: SampleGroup): void {
    this.#group = next;
    for (const pair of this.#pairs) if (pair.server !== undefined && pair.server.status().length > 0) this.#give(pair);
  }

  #step(): void {
    const pair = this.#random.pick(this.#pairs);
    const chance = this.#random.int(100);
    if (chance < 7) this.#change(randomChange(this.#group, this.#random, this.#say));
    else if (chance < 10) this.#cross(pair);
    else if (chance < 20) this.#subscribe(pair);
    else if (chance < 28) this.#unsubscribe(pair);
    else if (chance < 36) this.#connect(pair);
    else if (chance < 39) this.#disconnect(pair);
    else if (chance < 54) this.#ask(pair);
    else if (chance < 67) this.#reachServer(pair);
    else if (chance < 81) this.#respond(pair);
    else if (chance < 94) this.#reachClient(pair);
    else if (chance < 98) this.#decide(pair, this.#random.chance(0.8));
    else this.#wait(this.#random.pick([1000, 5000, 20_000]));
  }

  /** Names are dropped while a response is on its way. That leads to names that are wanted before it is answered. */
  #cross(pair: Pair): void {
    this.#unsubscribe(pair);
    this.#ask(pair);
    this.#change(randomChange(this.#group, this.#random, this.#say));
    this.#respond(pair);
    this.#reachClient(pair);
    this.#subscribe(pair);
  }

  /** Asserts that the client has the server's resources of its names. */
  #agree(pair: Pair): void {
    const { server } = pair;
    if (server !== undefined && server.status().length > 0)
      assert.ok(server.isInSync, `${pair.label}: the server has something to send`);
    for (const type of pair.types) {
      const wanted = this.#wantedOf(pair, type);
      const has = this.#group.contents.get(type) ?? new Map<string, string>();
      const isFull = this.#variant === "delta" || typeOf(type).fullState;
      const current = pair.watch.of(type);
      const states = pair.client.status().find((one) => wordOfType(one.type) === type)?.states;
      for (const name of askable) {
        if (name === "*" || !(wanted.has("*") || wanted.has(name))) continue;
        const content = has.get(name);
        if (content !== undefined)
          assert.equal(current.get(name), `${name}=${withoutTtl(content, this.#api)}`, `${type} ${name}`);
        // Rule 74: nobody is told that it is gone, and after a rejection silence says nothing either.
        else if (isFull || !current.has(name)) {
          assert.ok(!current.has(name), `${type} ${name} is gone, and there`);
          const isRejected = !isFull && states?.(name) === "rejected";
          if (wanted.has(name) && !isRejected)
            assert.ok(pair.watch.isAbsent(type, name), `nobody said that ${type} ${name} is absent`);
        }
      }
    }
  }
}

/** v2's messages have no TTL. */
function withoutTtl(content: string, api: ApiVersion): string {
  return api === "v2" ? (content.split("~")[0] ?? "") : content;
}

function check(type: Parameters<typeof contentOf>[0], name: string, message: Message): readonly Finding[] {
  const content = contentOf(type, message);
  const finding = { severity: "error", type: type.name, resource: name, message: `must not be ${content}` } as const;
  return content.startsWith("bad") ? [{ code: "XDSKIT_RULE_BROKEN", ...finding }] : [];
}
