import { createStream, Ordering, SnapshotLineage, type Stream } from "../../index.js";
import { createRandom, type Random } from "../random.js";
import { urlOf } from "../sample-resources.js";
import { describeSet, type SampleGroup, typeOf } from "../sample-world.js";
import { usualStream } from "../stream-options.js";
import { decodeResponse, encodeRequest, type SeenResponse } from "../wire.js";
import { isNamed, OrderClient, type OrderRequest, orderedTypes as types } from "./order-client.js";
import { closedWorld, fixed } from "./order-world.js";

/** The longest time that a client takes to answer, in steps, and the length of a step in milliseconds. */
const patience = 12;
const step = 300;

/** More turns than the streams of a client need to finish, unless they wake each other for ever. */
const mostTurns = 1_000;

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
  const start = createRandom(seed);
  let random: Random = start;
  const variant = start.chance(0.5) ? "sotw" : "delta";
  const ads = start.chance(0.6);
  const client = new OrderClient(start, variant === "delta");
  let now = 0;
  let world: SampleGroup = closedWorld(start, undefined, false);
  const shared = new Ordering();
  const snapshots = new SnapshotLineage();
  snapshots.start(world.snapshot);
  const lines = (ads ? [types] : types.map((type) => [type])).map((own) => open(own));
  /** Answers that the client has not sent yet, oldest first, and the step at which it must. */
  const late: { readonly line: Line; readonly request: OrderRequest; readonly until: number }[] = [];
  const said = new Map<string, { names: ReadonlySet<string>; version: string; nonce: string }>();
  /** By type and name, how many responses had been sent when the client last asked for the name. */
  const askedAt = new Map<string, number>();
  let sent = 0;
  const lastNonces = new Map<string, string>();
  say(`${variant} ${ads ? "ads" : "per-type"}`);
  tell();

  function open(own: readonly string[]): Line {
    const stream = createStream({
      ...usualStream(variant, ads ? undefined : typeOf(own[0] ?? "")),
      progressed: () => {
        line.isAwake = true;
      },
    });
    const line: Line = { stream, types: own, responses: [], isNew: true, isAwake: true };
    return line;
  }

  function tell(): void {
    say(`  wanted: ${types.map((type) => `${type} ${describeSet(world, type)}`).join("; ")}`);
    snapshots.goOn(world.snapshot, true);
    // As a server does: a stream that moved along with the lineage is not visited.
    for (const line of lines) if (!line.isNew && !line.stream.isAbreast(world.snapshot)) give(line);
  }

  function give(line: Line): void {
    line.isAwake = true;
    line.stream.step({ kind: "snapshot", snapshot: world.snapshot, ordering: shared, lineage: snapshots }, now);
  }

  /** Delivers a request as the client means it now. */
  function deliver(line: Line, { type, nonce, rejects }: OrderRequest): void {
    const before = said.get(type);
    const names = client.wants(type);
    const added = [...names].filter((name) => !before?.names.has(name));
    const dropped = [...(before?.names ?? [])].filter((name) => !names.has(name));
    const version = before?.version ?? "";
    say(`  > ${type} ${[...names].join(" ")} n=${nonce}${rejects === undefined ? "" : ` nack: ${rejects}`}`);
    const told = nonce === "" ? (before?.nonce ?? "") : nonce;
    // Rule 27: the names of a SotW request with an old nonce do not count, so names that it leaves out may still come.
    const isHeard = variant === "delta" || before === undefined || told === lastNonces.get(type);
    if (isHeard) client.forgetBut(type, names);
    if (isHeard) for (const name of added) askedAt.set(`${type} ${name}`, sent);
    said.set(type, { names: isHeard ? names : before.names, version, nonce: told });
    const bytes = encodeRequest(variant, {
      typeUrl: urlOf(type, "v3"),
      node: line.isNew ? { id: "order" } : undefined,
      nonce: nonce === "" && variant === "sotw" ? (before?.nonce ?? "") : nonce,
      error: rejects === undefined ? undefined : { code: 3, message: rejects },
      names: [...names],
      version,
      subscribe: added,
      unsubscribe: dropped,
    });
    line.isAwake = true;
    line.stream.step({ kind: "request", bytes }, now);
    if (line.isNew) {
      line.isNew = false;
      give(line);
    }
  }

  function flow(): void {
    for (let turn = 0; lines.some(({ isAwake }) => isAwake); turn++) {
      if (turn === mostTurns) throw new Error("streams wake each other without end");
      for (const line of lines) {
        if (!line.isAwake) continue;
        line.isAwake = false;
        for (let response = line.stream.next(now); response !== undefined; response = line.stream.next(now)) {
          const seen = decodeResponse(variant, response);
          const type = types.find((one) => urlOf(one, "v3") === seen.typeUrl) ?? "";
          const there = seen.resources.map(({ name, content }) => `${name}=${content}`);
          say(`  < ${type} ${[...there, ...seen.removed.map((name) => `-${name}`)].join(" ")} n=${seen.nonce}`);
          lastNonces.set(type, seen.nonce);
          line.responses.push({ type, seen, count: ++sent });
        }
      }
    }
  }

  /** The client reads one response. */
  function read(line: Line, at: number): void {
    const next = line.responses.shift();
    if (next === undefined) return;
    const { type, count } = next;
    // It was in flight while the name was dropped and asked for again: nothing in the protocol says that it is out of
    // date.
    const isFresh = (name: string) => !isNamed(type) || count > (askedAt.get(`${type} ${name}`) ?? 0);
    const seen = { ...next.seen, resources: next.seen.resources.filter(({ name }) => isFresh(name)) };
    say(`  reads ${type} n=${seen.nonce}`);
    const request = client.receive(type, seen, now);
    late.push({ line, request, until: at + random.int(patience) });
    ask();
  }

  /** For each type asked for by name, the client asks for what its resources name. */
  function ask(): void {
    for (const type of client.asks) {
      const line = lines.find((one) => one.types.includes(type));
      const before = said.get(type);
      const names = client.wants(type);
      if (line === undefined || (before !== undefined && same(before.names, names))) continue;
      if (isNamed(type) && names.size === 0 && before === undefined) continue;
      // SotW: a nonce that is old would have it ignored; the answer that is still to come says it.
      if (variant === "sotw" && late.some((one) => one.request.type === type)) continue;
      if (variant === "sotw" && line.responses.some((one) => one.type === type)) continue;
      deliver(line, { type, nonce: "", rejects: undefined });
    }
    flow();
  }

  /** The client answers the oldest response of a type that it has not answered. */
  function answer(index: number): void {
    const [one] = late.splice(index, 1);
    if (one === undefined) return;
    const { line, request } = one;
    // Clients answer in order.
    const earlier = late.findIndex((other, at) => at < index && other.request.type === request.type);
    if (earlier >= 0) {
      late.splice(index, 0, one);
      answer(earlier);
      return;
    }
    client.acknowledged(request.type);
    deliver(line, request);
    flow();
    ask();
  }

  function pass(milliseconds: number): void {
    now += milliseconds;
    for (const line of lines) {
      const { stream } = line;
      const due = stream.deadline();
      if (due === undefined || due > now) continue;
      line.isAwake = true;
      for (const effect of stream.step({ kind: "time" }, now)) {
        if (effect.kind === "wait-ended")
          throw new Error(`a wait for ${effect.type.name} ended, though the client answers`);
      }
    }
    flow();
    client.check(now);
    ask();
  }

  /** Until nothing is on its way. */
  function rest(at: number): void {
    for (let round = 0; round < 400; round++) {
      const line = lines.find(({ responses }) => responses.length > 0);
      if (line !== undefined) read(line, at);
      else if (late.length > 0) answer(0);
      else if (round % 40 === 39 || lines.every(({ stream }) => stream.deadline() === undefined)) return;
      else pass(step);
    }
    throw new Error("it never comes to rest");
  }

  ask();
  rest(0);
  for (let at = 1; at <= steps; at++) {
    random = createRandom(seed, at);
    if (without.has(at)) continue;
    const overdue = late.findIndex(({ until }) => until <= at);
    if (overdue >= 0) answer(overdue);
    const action = random.int(10);
    if (action < 2) {
      say(`${at}: change`);
      world = closedWorld(random, world, true);
      tell();
      flow();
    } else if (action < 6) {
      say(`${at}: read`);
      read(random.pick(lines), at);
    } else if (action < 8) {
      say(`${at}: answer`);
      answer(random.int(Math.max(1, late.length)));
    } else {
      say(`${at}: time goes by`);
      pass(step);
    }
  }
  say("at last");
  world = fixed(world);
  tell();
  flow();
  for (let round = 0; round < 60; round++) {
    rest(steps);
    pass(step);
    if (lines.every(({ stream }) => stream.isSettled && stream.deadline() === undefined)) break;
  }
  rest(steps);
  for (const type of types) {
    const wanted = [...(world.contents.get(type) ?? [])].filter(
      ([name]) => !isNamed(type) || client.wants(type).has(name),
    );
    const got = [...(client.held.get(type) ?? [])]
      .map(([name, content]) => `${name}=${content}`)
      .sort()
      .join(" ");
    const want = wanted
      .map(([name, content]) => `${name}=${content}`)
      .sort()
      .join(" ");
    if (got !== want) throw new Error(`in the end the client has ${type} ${got}, and is to have ${want}`);
  }
  for (const { stream } of lines) if (!stream.isSettled) throw new Error("in the end a stream is not settled");
}

function same(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((name) => b.has(name));
}
