import assert from "node:assert/strict";
import { create, toBinary } from "@bufbuild/protobuf";
import { resourceTypes } from "@xdskit/api";
import { NodeSchema } from "@xdskit/api/envoy/config/core/v3/base";
import { createStream, defaultStreamLimits, type SotwOrDelta, type Stream, type StreamEvent } from "@xdskit/protocol";
import { createRandom, type Random } from "../../../protocol/src/testing/random.js";
import { type Edit, edit, type SampleGroup, typeOf } from "../../../protocol/src/testing/sample-world.js";
import { CrowdClient } from "../crowd/crowd-client.js";
import { SharedState } from "../crowd/shared-state.js";

const types = ["cluster", "endpoint", "listener", "route"] as const;
const names = ["a", "b", "c", "d"];
/** More rounds than two ends need to come to rest, unless they answer each other for ever. */
const maxRounds = 100;

/** One client of the crowd, with the servers' ends of its streams and what is on its way. */
interface Member {
  readonly label: string;
  readonly client: CrowdClient;
  readonly servers: (Stream | undefined)[];
  readonly toServer: Uint8Array[][];
  readonly toClient: Uint8Array[][];
}

/**
 * Clients of a crowd against the server's machine: resources come, go and name others, messages are slow, streams
 * break, changes are rejected now and then. In the end each client must hold what the server has of what it asks for,
 * and what a reconnecting one claimed must not come again (delta).
 */
export function runCrowd(seed: number, steps: number, without: ReadonlySet<number>, say: (line: string) => void): void {
  const run = new CrowdRun(seed, say);
  run.play(seed, steps, without);
  run.rest();
  run.connectAgain();
}

class CrowdRun {
  readonly #variant: SotwOrDelta;
  readonly #aggregated: boolean;
  readonly #members: readonly Member[];
  readonly #say: (line: string) => void;
  #random: Random;
  /** Resources that were sent. */
  #sent = 0;
  #group: SampleGroup;

  constructor(seed: number, say: (line: string) => void) {
    this.#random = createRandom(seed);
    this.#say = say;
    this.#variant = this.#random.chance(0.5) ? "sotw" : "delta";
    this.#aggregated = this.#random.chance(0.5);
    const [variant, aggregated] = [this.#variant, this.#aggregated];
    say(`${variant} ${aggregated ? "ads" : "per-type"}`);
    this.#group = this.#change(undefined);
    const interests = types.map((type) => ({ type: typeOf(type) }));
    const shared = new SharedState({ variant, aggregated, interests });
    this.#members = ["x", "y", "z"].map((label): Member => {
      const client = new CrowdClient(shared, toBinary(NodeSchema, create(NodeSchema, { id: label })), 0);
      const each = <Item>(make: () => Item) => Array.from({ length: client.streams }, make);
      return { label, client, servers: each(() => undefined), toServer: each(() => []), toClient: each(() => []) };
    });
  }

  /** Random steps; each has random values of its own, so that one can be left out. */
  play(seed: number, steps: number, without: ReadonlySet<number>): void {
    for (let index = 0; index < steps; index++) {
      this.#random = createRandom(seed, index);
      if (!without.has(index)) this.#step();
    }
  }

  /** All messages arrive: the clients must have what the server has. */
  rest(): void {
    this.#say("rest");
    this.#settle();
    // What was rejected comes again with a new stream.
    for (const member of this.#members) this.#disconnect(member);
    this.#settle();
    for (const member of this.#members) this.#agree(member);
  }

  /** The clients connect again, and must have the same afterwards. */
  connectAgain(): void {
    for (const member of this.#members) this.#disconnect(member);
    this.#say("again");
    const current = () => this.#members.map(({ client }) => client.current);
    const before = current();
    this.#sent = 0;
    this.#settle();
    if (this.#variant === "delta") assert.equal(this.#sent, 0, "what was claimed came again");
    assert.deepEqual(current(), before);
  }

  #change(before: SampleGroup | undefined): SampleGroup {
    const edits: Edit[] = [];
    for (let count = before === undefined ? 10 : 1 + this.#random.int(4); count > 0; count--) {
      const [type, name] = [this.#random.pick(types), this.#random.pick(names)];
      if (edits.some((one) => one.type === type && one.name === name)) continue;
      const named = type === "cluster" || type === "listener" ? `->${this.#random.pick(names)}` : "";
      const isGone = before !== undefined && this.#random.chance(0.3);
      edits.push({ type, name, content: isGone ? undefined : `${this.#random.int(3)}${named}` });
    }
    this.#say(`set ${edits.map(({ type, name, content }) => `${type} ${name}=${content ?? "∅"}`).join("; ")}`);
    return edit(before, edits);
  }

  #serverOf(member: Member, stream: number): Stream {
    const only = this.#aggregated ? undefined : typeOf(types[stream] ?? "");
    const known = member.servers[stream];
    if (known !== undefined) return known;
    const limits = defaultStreamLimits;
    const made = createStream({
      variant: this.#variant,
      api: "v3",
      types: resourceTypes,
      limits,
      defaultNode: undefined,
      only,
    });
    member.servers[stream] = made;
    return made;
  }

  #serve(server: Stream, one: StreamEvent): void {
    for (const effect of server.step(one, 0)) {
      assert.notEqual(effect.kind, "close", "the server ended the stream");
      if (effect.kind === "identified")
        this.#serve(server, { kind: "snapshot", snapshot: this.#group.snapshot, ttl: "always" });
    }
  }

  #ask(member: Member, stream: number): boolean {
    const request = member.client.next(stream);
    if (request === undefined) return false;
    this.#say(`  ${member.label}${stream} ${request.kind}`);
    this.#serverOf(member, stream);
    member.toServer[stream]?.push(request.bytes);
    return true;
  }

  #reachServer(member: Member, stream: number): boolean {
    const bytes = member.toServer[stream]?.shift();
    if (bytes !== undefined) this.#serve(this.#serverOf(member, stream), { kind: "request", bytes });
    return bytes !== undefined;
  }

  #respond(member: Member, stream: number): boolean {
    const response = member.servers[stream]?.next(0);
    if (response === undefined) return false;
    this.#say(`  ${member.label}${stream} < ${response.type.name} ${response.resources}+${response.removed}`);
    this.#sent += response.resources;
    member.toClient[stream]?.push(Buffer.concat([response.body.bytes, response.tail]));
    return true;
  }

  #reachClient(member: Member, stream: number, isGood: boolean): boolean {
    const bytes = member.toClient[stream]?.shift();
    if (bytes === undefined) return false;
    const received = member.client.receive(stream, bytes);
    assert.ok(received !== undefined, "a type that nobody asked for");
    assert.equal(received.problem, undefined);
    const error = isGood || received.isFirst ? undefined : "no";
    this.#say(`  ${member.label}${stream} reached${error === undefined ? "" : ", rejects"}`);
    // The bytes are the caller's again.
    bytes.fill(0xff);
    received.answer(error);
    return true;
  }

  #disconnect(member: Member): void {
    this.#say(`${member.label} cut`);
    for (const [stream, server] of member.servers.entries()) {
      server?.end();
      member.servers[stream] = undefined;
      member.toServer[stream] = [];
      member.toClient[stream] = [];
      member.client.closed(stream);
    }
  }

  #settle(): void {
    for (const member of this.#members) {
      for (let round = 0; ; round++) {
        assert.ok(round < maxRounds, `${member.label} does not come to rest`);
        let moved = false;
        for (let stream = 0; stream < member.client.streams; stream++) {
          moved = this.#ask(member, stream) || moved;
          moved = this.#reachServer(member, stream) || moved;
          moved = this.#respond(member, stream) || moved;
          moved = this.#reachClient(member, stream, true) || moved;
        }
        if (!moved) break;
      }
    }
  }

  #give(next: SampleGroup): void {
    this.#group = next;
    for (const server of this.#members.flatMap(({ servers }) => servers)) {
      if (server !== undefined && server.status().length > 0)
        this.#serve(server, { kind: "snapshot", snapshot: this.#group.snapshot, ttl: "always" });
    }
  }

  #step(): void {
    const member = this.#random.pick(this.#members);
    const stream = this.#random.int(member.client.streams);
    const chance = this.#random.int(100);
    if (chance < 12) this.#give(this.#change(this.#group));
    else if (chance < 16) this.#disconnect(member);
    else if (chance < 40) this.#ask(member, stream);
    else if (chance < 60) this.#reachServer(member, stream);
    else if (chance < 80) this.#respond(member, stream);
    else this.#reachClient(member, stream, this.#random.chance(0.9));
  }

  #agree({ client, label }: Member): void {
    const current = (index: number) => client.current[index];
    const has = (type: string) => this.#group.contents.get(type) ?? new Map<string, string>();
    const named = (type: string) => new Set([...has(type).values()].map((content) => content.split("->")[1] ?? ""));
    const expected = [
      has("cluster").size,
      [...named("cluster")].filter((name) => has("endpoint").has(name)).length,
      has("listener").size,
      [...named("listener")].filter((name) => has("route").has(name)).length,
    ];
    // Rules 62, 74: of a type that is no full state, SotW tells nobody that something is gone.
    const isTold = (index: number) => this.#variant === "delta" || index % 2 === 0;
    for (const [index, size] of expected.entries()) {
      const actual = current(index)?.size ?? 0;
      if (isTold(index)) assert.equal(actual, size, `${label}: ${types[index]}`);
      else assert.ok(actual >= size, `${label}: ${types[index]}: ${actual}, not ${size}`);
    }
    const same = this.#members.map((other) => other.client.current[0]);
    assert.ok(
      same.every((one) => one === same[0]),
      "who holds the same has the same object",
    );
    if (this.#variant === "delta")
      assert.ok(client.isComplete, JSON.stringify(client.lacks().map(({ type }) => type.name)));
  }
}
