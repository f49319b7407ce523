import assert from "node:assert/strict";
import { createStream, Ordering, SnapshotLineage, type Stream } from "../../index.js";
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
 * every moment the server's status must be exactly what the client said.
 */
export function runTruth(seed: number, steps: number, without: ReadonlySet<number>, say: (line: string) => void): void {
  const start = createRandom(seed);
  let random: Random = start;
  const variant = start.chance(0.5) ? "sotw" : "delta";
  const ads = start.chance(0.6);
  const isOrdered = start.chance(0.8);
  const ttl = start.chance(0.2) ? ("always" as const) : undefined;
  const blames = start.chance(0.5);
  /** SotW clients may answer only the last of several. */
  const skips = variant === "sotw" && start.chance(0.5);
  const ordering = isOrdered ? new Ordering() : undefined;
  let now = 0;
  let count = 0;
  let sent = 0;
  /** By version, what resources say. */
  const contents = new Map<string, string>();
  let world: SampleGroup = make(
    undefined,
    types.flatMap((type) => pool.map((name) => ({ type, name, content: content(type) }))),
  );
  const line = new SnapshotLineage();
  line.start(world.snapshot);
  const how = [variant, ads ? "ads" : "per type", isOrdered ? "ordered" : "at once"];
  say([...how, ...(blames ? ["blames"] : []), ...(skips ? ["skips"] : [])].join(" "));
  const lines = (ads ? [types] : types.map((type) => [type])).map((own) => open(own));

  function content(type: string): string {
    const label = `${random.chance(0.15) && count > 0 ? bad : ""}${++count}`;
    const time = ttl !== undefined && random.chance(0.3) ? "~10s" : "";
    return `${type === "endpoint" ? label : `${label}->${random.pick(pool)}`}${time}`;
  }

  function make(before: SampleGroup | undefined, edits: readonly Edit[]): SampleGroup {
    for (const { type, name, content } of edits) {
      if (content === undefined) continue;
      contents.set(sampleResource(type, name, content).version, withoutTime(content));
    }
    return edit(before, edits);
  }

  function open(own: readonly string[]): Line {
    const stream = createStream(usualStream(variant, ads ? undefined : typeOf(own[0] ?? "")));
    const clients = own.map((type) => {
      const names = byName.has(type) ? new Set(pool) : undefined;
      return new TruthClient(type, names, variant === "sotw" && !byName.has(type), blames);
    });
    const made: Line = { stream, clients, inbox: [], unanswered: new Map(), lastNonces: new Map() };
    for (const { type, names } of clients) {
      const list = [...(names ?? [])];
      const request = { typeUrl: urlOf(type, "v3"), node: { id: "truth" }, names: list, subscribe: list };
      stream.step({ kind: "request", bytes: encodeRequest(variant, request) }, now);
    }
    give(made);
    return made;
  }

  function give({ stream }: Line): void {
    stream.step({ kind: "snapshot", snapshot: world.snapshot, ordering, lineage: line, ttl }, now);
  }

  function flow(): void {
    for (const { stream, inbox, unanswered, lastNonces } of [...lines, ...lines]) {
      for (let response = stream.next(now); response !== undefined; response = stream.next(now)) {
        const seen = decodeResponse(variant, response);
        const type = response.type.name;
        say(`  < ${describe(type, seen)}`);
        inbox.push({ type, seen, count: ++sent });
        const { nonce, isHeartbeat } = seen;
        lastNonces.set(type, nonce);
        unanswered.set(type, [...(unanswered.get(type) ?? []), { nonce, isHeartbeat }]);
      }
    }
    check();
  }

  function change(): void {
    const edits: Edit[] = [];
    for (let left = 1 + random.int(3); left > 0; left--) {
      const type = random.pick(types);
      edits.push({ type, name: random.pick(pool), content: random.chance(0.2) ? undefined : content(type) });
    }
    const last = [...new Map(edits.map((one) => [`${one.type} ${one.name}`, one])).values()];
    publish(last);
  }

  function publish(edits: readonly Edit[]): void {
    say(`set ${edits.map(({ type, name, content }) => `${type} ${name}=${content ?? "∅"}`).join("; ")}`);
    world = make(world, edits);
    line.goOn(world.snapshot, true);
    for (const one of lines) if (!one.stream.isAbreast(world.snapshot)) give(one);
  }

  function read(one: Line): void {
    const next = one.inbox.shift();
    if (next === undefined) return;
    say(`reads ${describe(next.type, next.seen)}`);
    clientOf(one, next.type).read(next.seen, next.count);
  }

  function answer(one: Line, type: string): void {
    const client = clientOf(one, type);
    let taken = client.open.shift();
    for (let [next] = client.open; skips && next !== undefined && taken !== undefined; [next] = client.open) {
      // Its objection to a response holds for the heartbeat that repeats it, too.
      const isLike =
        taken.refused === undefined ? next.refused === undefined : next.isHeartbeat && next.refused !== undefined;
      if (!isLike || random.chance(0.5)) break;
      const isAll = taken.about === "everything" || next.about === "everything";
      const about = isAll ? ("everything" as const) : new Set([...taken.about, ...next.about]);
      taken = { ...next, about, refused: taken.refused, isHeartbeat: taken.isHeartbeat && next.isHeartbeat };
      client.open.shift();
    }
    if (taken !== undefined) tell(one, client, taken);
  }

  function tell(one: Line, client: TruthClient, taken: Taken): void {
    const { type } = client;
    const { nonce, version, refused, message } = taken;
    say(`> ${type} n=${nonce}${refused === undefined ? "" : ` nack ${message}`}`);
    const error = refused && { code: 3, message };
    const names = [...(client.names ?? [])];
    const bytes = encodeRequest(variant, { typeUrl: urlOf(type, "v3"), nonce, version, names, error });
    const effects = one.stream.step({ kind: "request", bytes }, now);
    const unanswered = one.unanswered.get(type) ?? [];
    const at = unanswered.findIndex((each) => each.nonce === nonce);
    // Rule 27: a SotW acknowledgement of an older response counts, but its names do not.
    const said = effects.map(({ kind }) => kind).join();
    const heard = variant === "sotw" ? ["acknowledged", "stale"] : ["acknowledged"];
    assert.ok((refused === undefined ? heard : ["rejected"]).includes(said), `the answer ${nonce} of ${type}: ${said}`);
    if (variant === "sotw" || refused === undefined) unanswered.splice(0, at + 1);
    else unanswered.splice(at, 1);
    if (!taken.isHeartbeat || refused === undefined) client.heard(taken, wanted(type));
  }

  /** Asks for other names. In SotW only where all was answered: else it is an answer, too, or goes unheard. */
  function ask(one: Line, client: TruthClient): void {
    const { type, names: before } = client;
    const unread = one.inbox.filter((each) => each.type === type);
    const isBusy = client.open.length > 0 || unread.length > 0;
    if (before === undefined || (variant === "sotw" && isBusy)) return;
    // A client that drops the bad name does not say that the rest may come again.
    const isFaulty = unread.some(({ seen }) => seen.resources.some(({ content = "" }) => content.startsWith(bad)));
    const rejects = isFaulty || client.refused.size > 0 || client.open.some(({ refused }) => refused !== undefined);
    const names = new Set([...(rejects ? before : []), ...random.some(pool, 0.6)]);
    // A list without a name is none in SotW.
    if (names.size === 0) names.add(random.pick(pool));
    say(`> ${type} ${[...names].join(" ")}`);
    client.ask(names, sent);
    const subscribe = [...names].filter((name) => !before.has(name));
    const unsubscribe = [...before].filter((name) => !names.has(name));
    const nonce = variant === "sotw" ? one.lastNonces.get(type) : undefined;
    const request = { typeUrl: urlOf(type, "v3"), nonce, names: [...names], subscribe, unsubscribe };
    one.stream.step({ kind: "request", bytes: encodeRequest(variant, request) }, now);
  }

  function pass(milliseconds: number): void {
    now += milliseconds;
    say(`${milliseconds} ms go by`);
    for (const { stream } of lines) {
      const due = stream.deadline();
      if (due === undefined || due > now) continue;
      for (const effect of stream.step({ kind: "time" }, now)) {
        if (effect.kind === "wait-ended") say(`  a wait for ${effect.type.name} ended`);
      }
    }
  }

  function check(): void {
    for (const one of lines) {
      const { stream, unanswered } = one;
      let isTrue = true;
      for (const status of stream.status()) {
        const type = status.type.name;
        const client = clientOf(one, type);
        const what = `${type} at ${now}`;
        for (const name of pool) {
          if (!client.asksFor(name)) continue;
          const said = contents.get(status.acknowledged?.set.get(name)?.version ?? "");
          const told = client.told?.get(name);
          const there = wanted(type).get(name);
          const isUnsaid = variant === "sotw" && byName.has(type);
          // A removed resource may stay, since connections drain or the client asks for it.
          const needed = contents.get(status.meanwhile?.get(name)?.version ?? "");
          assert.ok(needed === there || there === undefined, `${what} ${name}: ${needed} is no lack of ${there}`);
          if (told !== needed && !(needed === undefined && isUnsaid)) isTrue = false;
          // SotW does not say what went of these.
          if (said === undefined && isUnsaid) continue;
          assert.equal(said, told, `${what} ${name}: what it is said to use, and what it said that it uses`);
        }
        const open = (unanswered.get(type) ?? []).length;
        if (open > 0) isTrue = false;
        if (open < 32) assert.equal(status.outstanding, open, `${what}: unanswered`);
        // A resource that went while nothing was in flight must not count as rejected.
        if (open === 0)
          client.refused = new Map([...client.refused].filter(([name, refused]) => wanted(type).get(name) === refused));
        for (const [name, refused] of client.refused) {
          if (client.told?.get(name) === refused) continue;
          assert.ok(status.rejected !== undefined, `${what}: its rejection of ${name}=${refused} is forgotten`);
        }
      }
      if (stream.isSettled) assert.ok(isTrue, "it is said to be settled");
    }
  }

  function wanted(type: string): ReadonlyMap<string, string> {
    return new Map([...(world.contents.get(type) ?? [])].map(([name, content]) => [name, withoutTime(content)]));
  }

  function rest(): void {
    for (let round = 0; round < 300; round++) {
      flow();
      const busy = lines.find(({ inbox, clients }) => inbox.length > 0 || clients.some(({ open }) => open.length > 0));
      if (busy === undefined) {
        const isWaiting = lines.some(({ stream }) => stream.deadline() !== undefined);
        if (!isWaiting) return;
        pass(20_000);
        continue;
      }
      while (busy.inbox.length > 0) read(busy);
      for (const { type } of busy.clients) answer(busy, type);
    }
    throw new Error("it never comes to rest");
  }

  flow();
  for (let at = 1; at <= steps; at++) {
    if (without.has(at)) continue;
    random = createRandom(seed, at);
    const one = random.pick(lines);
    const action = random.int(20);
    if (action < 4) change();
    else if (action < 10) read(one);
    else if (action < 15) answer(one, random.pick(one.clients).type);
    else if (action < 16) rest();
    else if (action < 17) ask(one, random.pick(one.clients));
    else if (action < 18 && ttl !== undefined)
      for (const { stream } of lines) stream.step({ kind: "heartbeat", interval: 2_000 }, now);
    else pass(random.pick([300, 3_000, 16_000]));
    flow();
  }
  say("at last");
  const fixed: Edit[] = [];
  for (const [type, names] of world.contents) {
    for (const [name, text] of names)
      if (text.startsWith(bad)) fixed.push({ type, name, content: text.replace(bad, "0") });
  }
  publish(fixed);
  rest();
  check();
  for (const { stream } of lines) assert.ok(stream.isSettled, "in the end a stream is not settled");
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
