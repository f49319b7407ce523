import assert from "node:assert/strict";
import { create, type Message, toBinary } from "@bufbuild/protobuf";
import { type ApiVersion, type Finding, resourceTypes } from "@xdskit/api";
import { NodeSchema } from "@xdskit/api/envoy/config/core/v3/base";
import {
  type ClientStream,
  type ClientStreamEffect,
  type ClientStreamEvent,
  createClientStream,
  createStream,
  defaultStreamLimits,
  type SotwOrDelta,
  type Stream,
  type StreamEvent,
} from "../../index.js";
import { intervalOver } from "../../model/beat.js";
import { contentOf, describeEffect, describeRequest, wordOfType } from "../client/client-lines.js";
import { createRandom, type Random } from "../random.js";
import { type SampleGroup, typeOf } from "../sample-world.js";
import { PairWatch } from "./pair-watch.js";
import { askable, fix, pairTypes, randomChange } from "./pair-world.js";

const node = toBinary(NodeSchema, create(NodeSchema, { id: "test" }));
/** More rounds than two ends need to come to rest, unless they answer each other for ever. */
const mostRounds = 60;
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
  /** Types of which something was asked for on this stream, and then no more. */
  readonly givenUp: Set<string>;
  server: Stream | undefined;
}

/**
 * The client's machine against the server's: names come and go, resources change and are sometimes bad, messages are
 * slow, streams break. In the end each client must hold what the server has of its names, and must never have reported
 * the same thing twice.
 */
export function runPair(seed: number, steps: number, without: ReadonlySet<number>, say: (line: string) => void): void {
  const start = createRandom(seed);
  const variant: SotwOrDelta = start.chance(0.5) ? "sotw" : "delta";
  const api: ApiVersion = start.chance(0.75) ? "v3" : "v2";
  const ads = start.chance(0.5);
  const nodeOn = start.chance(0.5) ? "first" : "every";
  const answers = start.chance(0.7) ? "at-once" : "when-told";
  say(`${variant} ${api} ${ads ? "ads" : "per-type"} ${answers}`);
  let random: Random = start;
  let now = 0;
  let group = randomChange(undefined, random, say);
  const pairs = (ads ? [[...pairTypes]] : pairTypes.map((type) => [type])).map(newPair);

  function newPair(types: readonly string[], index: number): Pair {
    const [only = ""] = types;
    const client = createClientStream({
      variant,
      api,
      types: resourceTypes,
      only: ads ? undefined : typeOf(only),
      node,
      nodeOn,
      answers,
      check,
      absentAfterMs: absentAfter,
    });
    const wanted = new Map(types.map((type) => [type, new Set<string>()]));
    const empty = { toServer: [], toClient: [], undecided: [], givenUp: new Set<string>(), server: undefined };
    return { label: `p${index}`, types, client, watch: new PairWatch(), wanted, ...empty };
  }

  function event(pair: Pair, one: ClientStreamEvent): void {
    for (const effect of pair.client.step(one, now)) told(pair, effect);
    pair.watch.compare(pair.client);
  }

  function told(pair: Pair, effect: ClientStreamEffect): void {
    const line = describeEffect(effect, { received: true, versions: false });
    say(`    ${pair.label} ${line}`);
    if (effect.kind === "update") pair.watch.update(effect.update, wantedOf(pair, wordOfType(effect.update.type)));
    else if (effect.kind === "rejected")
      for (const { name, findings } of effect.bad) {
        for (const { message } of findings) assert.match(message, /must not be bad/, "only what is bad is rejected");
        // It is there, only not good; that it is gone is news again.
        if (name !== undefined) pair.watch.asked(wordOfType(effect.type), name);
      }
    else if (effect.kind === "received" && effect.awaitsAnswer) pair.undecided.push(effect.response);
    else if (effect.kind === "close") {
      assert.equal(api, "v2", effect.message);
      disconnect(pair);
    }
  }

  function wantedOf(pair: Pair, type: string): Set<string> {
    return pair.wanted.get(type) ?? new Set();
  }

  function subscribe(pair: Pair): void {
    const type = random.pick(pair.types);
    // Delta: a dropped resource that comes after all crossed the request. If the client then asks for everything,
    // nobody tells it that the resource is gone.
    const isLost = variant === "delta" && pair.givenUp.has(type);
    const names = random.some(askable, 0.3).filter((name) => name !== "*" || !isLost);
    if (names.length === 0) return;
    const wanted = wantedOf(pair, type);
    for (const name of names) {
      if (!wanted.has(name)) pair.watch.asked(type, name);
      wanted.add(name);
    }
    say(`${pair.label} subscribe ${type} ${names.join(" ")}`);
    event(pair, { kind: "subscribe", type: typeOf(type), names });
  }

  function unsubscribe(pair: Pair): void {
    const type = random.pick(pair.types);
    const wanted = wantedOf(pair, type);
    const names = random.some(wanted, 0.5);
    if (names.length === 0) return;
    for (const name of names) wanted.delete(name);
    pair.givenUp.add(type);
    pair.watch.dropped(type, wanted);
    say(`${pair.label} unsubscribe ${type} ${names.join(" ")}`);
    event(pair, { kind: "unsubscribe", type: typeOf(type), names });
  }

  function connect(pair: Pair): void {
    if (pair.server !== undefined) return;
    say(`${pair.label} open`);
    pair.server = createStream({
      variant,
      api,
      types: resourceTypes,
      limits: defaultStreamLimits,
      defaultNode: undefined,
      only: ads ? undefined : typeOf(pair.types[0] ?? ""),
    });
    event(pair, { kind: "opened" });
  }

  function disconnect(pair: Pair): void {
    if (pair.server === undefined) return;
    say(`${pair.label} close`);
    pair.server.end();
    pair.server = undefined;
    pair.toServer.length = 0;
    pair.toClient.length = 0;
    pair.undecided.length = 0;
    pair.givenUp.clear();
    event(pair, { kind: "closed" });
  }

  /** The client has room for a request. */
  function ask(pair: Pair): boolean {
    const request = pair.client.next();
    if (request === undefined) return false;
    assert.ok(pair.server !== undefined, "a request without a stream");
    say(`  ${pair.label} ${describeRequest(request, variant, api).line}`);
    pair.toServer.push(request.bytes);
    return true;
  }

  /** The server has room for a response. */
  function respond(pair: Pair): boolean {
    const response = pair.server?.next(now);
    if (response === undefined) return false;
    const bytes = new Uint8Array(response.body.length + response.tail.length);
    bytes.set(response.body.bytes);
    bytes.set(response.tail, response.body.length);
    say(`  ${pair.label} < ${wordOfType(response.type)} ${response.resources}+${response.removed} n=${response.nonce}`);
    pair.toClient.push(bytes);
    return true;
  }

  function reachServer(pair: Pair): boolean {
    const bytes = pair.toServer.shift();
    if (bytes === undefined) return false;
    serve(pair, { kind: "request", bytes });
    return true;
  }

  function serve(pair: Pair, one: StreamEvent): void {
    for (const effect of pair.server?.step(one, now) ?? []) {
      assert.notEqual(effect.kind, "close", "the server ended the stream");
      if (effect.kind === "identified") give(pair);
    }
  }

  function give(pair: Pair): void {
    serve(pair, { kind: "snapshot", snapshot: group.snapshot, ttl: "always" });
  }

  function reachClient(pair: Pair): boolean {
    const bytes = pair.toClient.shift();
    if (bytes === undefined) return false;
    say(`  ${pair.label} reached`);
    event(pair, { kind: "response", bytes });
    return true;
  }

  function decide(pair: Pair, isGood: boolean): boolean {
    const index = random.int(pair.undecided.length);
    const [response] = pair.undecided.splice(index, 1);
    if (response === undefined) return false;
    say(`${pair.label} answer #${response}${isGood ? "" : " no"}`);
    event(pair, { kind: "answer", response, error: isGood ? undefined : "nobody can use it" });
    return true;
  }

  function settle(): void {
    for (const pair of pairs) {
      for (let round = 0; ; round++) {
        assert.ok(round < mostRounds, `${pair.label} does not come to rest`);
        const moved = [ask(pair), reachServer(pair), respond(pair), reachClient(pair), decide(pair, true)];
        if (!moved.includes(true)) break;
      }
    }
  }

  /** So much time goes by while everything is quick. */
  function wait(milliseconds: number): void {
    settle();
    say(`wait ${milliseconds}`);
    for (const end = now + milliseconds; now < end; ) {
      const next = Math.min(end, now + 1000);
      const interval = intervalOver(now, next);
      now = next;
      for (const pair of pairs) {
        if (pair.server !== undefined && interval > 0) serve(pair, { kind: "heartbeat", interval });
      }
      settle();
      for (const pair of pairs) event(pair, { kind: "time" });
    }
  }

  function change(next: SampleGroup): void {
    group = next;
    for (const pair of pairs) if (pair.server !== undefined && pair.server.status().length > 0) give(pair);
  }

  function step(): void {
    const pair = random.pick(pairs);
    const chance = random.int(100);
    if (chance < 10) change(randomChange(group, random, say));
    else if (chance < 20) subscribe(pair);
    else if (chance < 28) unsubscribe(pair);
    else if (chance < 36) connect(pair);
    else if (chance < 39) disconnect(pair);
    else if (chance < 54) ask(pair);
    else if (chance < 67) reachServer(pair);
    else if (chance < 81) respond(pair);
    else if (chance < 94) reachClient(pair);
    else if (chance < 98) decide(pair, random.chance(0.8));
    else wait(random.pick([1000, 5000, 20_000]));
  }

  for (const pair of pairs) {
    subscribe(pair);
    connect(pair);
  }
  for (let index = 0; index < steps; index++) {
    random = createRandom(seed, index);
    if (!without.has(index)) step();
  }

  say("rest");
  for (const pair of pairs) connect(pair);
  settle();
  change(fix(group, say));
  // A resource that a user rejected comes again with a new stream.
  if (answers === "when-told") for (const pair of pairs) disconnect(pair);
  for (const pair of pairs) connect(pair);
  wait(absentAfter + 1000);
  for (const pair of pairs) agree(pair);

  /** Asserts that the client has what the server has of its names. */
  function agree(pair: Pair): void {
    const { server } = pair;
    if (server !== undefined && server.status().length > 0)
      assert.ok(server.isSettled, `${pair.label}: the server has something to send`);
    for (const type of pair.types) {
      const wanted = wantedOf(pair, type);
      const has = group.contents.get(type) ?? new Map<string, string>();
      const isFull = variant === "delta" || typeOf(type).fullState;
      const held = pair.watch.of(type);
      const states = pair.client.status().find((one) => wordOfType(one.type) === type)?.states;
      for (const name of askable) {
        if (name === "*" || !(wanted.has("*") || wanted.has(name))) continue;
        const content = has.get(name);
        if (content !== undefined)
          assert.equal(held.get(name), `${name}=${withoutTtl(content, api)}`, `${type} ${name}`);
        // Rule 74: nobody is told that it is gone, and after a rejection silence says nothing either.
        else if (isFull || !held.has(name)) {
          assert.ok(!held.has(name), `${type} ${name} is gone, and held`);
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
