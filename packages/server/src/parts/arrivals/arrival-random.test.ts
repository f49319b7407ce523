import assert from "node:assert/strict";
import { test } from "node:test";
import { fromBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import {
  DeltaDiscoveryResponseSchema,
  DiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import type { ConfigArrivalOutcome } from "../../index.js";
import { times } from "../../testing/basics/effort.js";
import { randomFrom } from "../../testing/basics/random.js";
import { waitFor } from "../../testing/basics/wait-for.js";
import type { RawStream } from "../../testing/clients/raw-client.js";
import { delta, sotw } from "../../testing/clients/xds-client.js";
import { ads, type Running, urlOf, withMemoryServer } from "../../testing/running-server.js";
import { cluster } from "../../testing/test-resources.js";

/** `SEED=7` plays one seed, `EFFORT=50` more than the suite does. */
const { SEED } = process.env;
const seeds = SEED === undefined ? Array.from({ length: times(6) }, (_, index) => index + 1) : [Number(SEED)];
const steps = 150;
const pool = ["a", "b", "c", "d", "e", "f"];
const typeUrl = urlOf("cluster");
const turn = async () => {
  for (let times = 0; times < 4; times++) await new Promise((resolve) => setImmediate(resolve));
};

/** The contents of a response by name; contents are numbers that only grow. */
interface Told {
  readonly nonce: string;
  readonly version: string;
  readonly contents: ReadonlyMap<string, number>;
  readonly removed: readonly string[];
}

/** A client that answers when the test says so, and uses what it accepted. */
interface Client {
  readonly id: string;
  readonly asks: (name: string) => boolean;
  readonly used: ReadonlyMap<string, number>;
  /** Answers the oldest response that it did not answer; false if there is none. */
  answer(wantsToReject: boolean): boolean;
  /** It accepted something. */
  readonly accepted: boolean;
  leave(): void;
}

function connect({ client }: Running, id: string, kind: "sotw" | "delta", names: readonly string[]): Client {
  const raw = client.open(ads(kind));
  const used = new Map<string, number>();
  let answered = 0;
  let accepted = false;
  let isKnown = true;
  const { say, read } = kind === "sotw" ? speakSotw(raw, id, names) : speakDelta(raw, id, names);
  say(undefined, false);
  return {
    id,
    asks: (name) => names.length === 0 || names.includes(name),
    used,
    get accepted() {
      return accepted;
    },
    answer(wantsToReject) {
      const bytes = raw.responses[answered];
      if (bytes === undefined) return false;
      answered += 1;
      const told = read(bytes);
      // A late answer is ignored (SotW), or is about an older response. The content that a client uses after a late
      // rejection is not known.
      const isNewest = answered === raw.responses.length;
      const reject = wantsToReject && isNewest && (isKnown || kind === "delta");
      isKnown = isNewest;
      if (!reject) {
        accepted = true;
        if (kind === "sotw") used.clear();
        for (const name of told.removed) used.delete(name);
        for (const [name, content] of told.contents) used.set(name, content);
      }
      say(told, reject);
      return true;
    },
    leave: () => raw.cancel(),
  };
}

const error = { code: 3, message: "no" };

function speakSotw(raw: RawStream, id: string, names: readonly string[]) {
  const stream = sotw(raw);
  const say = (to: Told | undefined, reject: boolean) =>
    stream.send({
      node: { id },
      typeUrl,
      resourceNames: [...names],
      ...(to && { responseNonce: to.nonce, versionInfo: to.version }),
      ...(reject ? { errorDetail: error } : {}),
    });
  const read = (bytes: Uint8Array): Told => {
    const { nonce, versionInfo: version, resources } = fromBinary(DiscoveryResponseSchema, bytes);
    return { nonce, version, removed: [], contents: contentsOf(resources) };
  };
  return { say, read };
}

function speakDelta(raw: RawStream, id: string, names: readonly string[]) {
  const stream = delta(raw);
  const say = (to: Told | undefined, reject: boolean) =>
    stream.send({
      node: { id },
      typeUrl,
      ...(to === undefined ? { resourceNamesSubscribe: [...names] } : { responseNonce: to.nonce }),
      ...(reject ? { errorDetail: error } : {}),
    });
  const read = (bytes: Uint8Array): Told => {
    const { nonce, resources, removedResources: removed } = fromBinary(DeltaDiscoveryResponseSchema, bytes);
    const anys = resources.flatMap(({ resource }) => resource ?? []);
    return { nonce, version: "", removed, contents: contentsOf(anys) };
  };
  return { say, read };
}

function contentsOf(resources: readonly Parameters<typeof anyUnpack>[0][]): ReadonlyMap<string, number> {
  return new Map(
    resources.map((any) => {
      const message = anyUnpack(any, ClusterSchema);
      assert.ok(message);
      return [message.name, Number(message.altStatName)];
    }),
  );
}

/** Plays random changes and clients, and holds each outcome against what the clients really use. */
async function play(running: Running, seed: number): Promise<void> {
  const { server } = running;
  const random = randomFrom(seed);
  const clients: (Client | undefined)[] = Array.from({ length: 6 });
  /** When each name was last removed. */
  const removedAt = new Map<string, number>();
  const there = new Set(pool);
  let content = 0;
  let awaited = 0;
  let ended = 0;
  let faults: string | undefined;

  /** `concerned`: nodes that were there; those that came later are not waited for. */
  function check(
    outcome: ConfigArrivalOutcome,
    concerned: readonly string[],
    at: number,
    upserted: readonly string[],
    removed: readonly string[],
  ) {
    const refused = outcome.rejections.map(({ node }) => node);
    for (const client of clients) {
      if (client === undefined || !client.accepted || refused.includes(client.id)) continue;
      if (!concerned.includes(client.id)) continue;
      const has = (name: string) => client.used.get(name) ?? 0;
      for (const name of upserted.filter(client.asks)) {
        if (has(name) < at && !(has(name) === 0 && (removedAt.get(name) ?? 0) > at)) {
          faults ??= `${client.id} has ${name} of ${has(name)}, not of ${at}: ${JSON.stringify(outcome)}`;
        }
      }
      for (const name of removed.filter(client.asks)) {
        if (has(name) !== 0 && has(name) < at) faults ??= `${client.id} still has ${name}, removed at ${at}`;
      }
    }
  }
  function change(names: readonly string[], isRemoval: (name: string) => boolean): void {
    content += 1;
    const at = content;
    const removed = new Set(names.filter(isRemoval));
    const upserted = names.filter((name) => !removed.has(name));
    const concerned = server.nodes().map(({ id }) => id);
    const gone = [...removed].filter((name) => there.has(name));
    for (const name of upserted) there.add(name);
    for (const name of gone) if (there.delete(name)) removedAt.set(name, at);
    const arrival = server.config.update({
      upsert: upserted.map((name) => cluster(name, `${at}`)),
      remove: Array.from(removed, (name) => ({ type: "cluster", name })),
    });
    const status = arrival.status();
    assert.ok(status.acknowledged + status.rejected + status.pending <= clients.length);
    awaited += 1;
    void arrival.done().then((outcome) => {
      ended += 1;
      assert.equal(outcome.pending, 0);
      check(outcome, concerned, at, upserted, gone);
    });
  }

  server.config.set(pool.map((name) => cluster(name, "0")));
  for (let step = 0; step < steps; step++) {
    const index = random(clients.length);
    const client = clients[index];
    const action = random(10);
    if (action < 3) {
      const first = random(pool.length);
      change(pool.slice(first, first + 1 + random(2)), () => random(4) === 0);
    } else if (client === undefined) {
      const names = random(2) === 0 ? [] : pool.slice(0, 1 + random(4));
      clients[index] = connect(running, `n${index}`, index % 2 === 0 ? "sotw" : "delta", names);
    } else if (action === 3 && random(3) === 0) {
      client.leave();
      clients[index] = undefined;
    } else {
      client.answer(random(6) === 0);
    }
    if (random(2) === 0) await turn();
    assert.equal(faults, undefined);
  }
  // In the end all clients get something new that no client rejects.
  change(pool, () => false);
  const rest = async () => {
    for (const client of clients) while (client?.answer(false)) await turn();
  };
  for (let round = 0; round < 200 && ended < awaited; round++) {
    await rest();
    await turn();
  }
  assert.equal(ended, awaited, "arrivals that are not done");
  assert.equal(faults, undefined);
  const present = clients.flatMap((client) => client ?? []);
  await waitFor("all to be synced", () => {
    void rest();
    return present.every(({ id }) => server.node(id)?.state === "synced");
  });
  for (const { used, asks } of present) {
    assert.deepEqual([...used.keys()].sort(), pool.filter(asks));
    for (const name of used.keys()) assert.equal(used.get(name), content);
  }
}

for (const seed of seeds) {
  test(`an arrival agrees with the contents that clients use, seed ${seed}`, () =>
    withMemoryServer({}, (running) => play(running, seed)));
}
