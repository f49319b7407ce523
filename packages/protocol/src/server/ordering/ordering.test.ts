import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type Resource, resourceTypes } from "@xdskit/api";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import {
  createStream,
  defaultOrderingTimes,
  defaultStreamLimits,
  emptySnapshot,
  Ordering,
  type Snapshot,
  updateSnapshot,
} from "../../index.js";
import { closedNames, closedResources, closedTypes } from "../../testing/closed-resources.js";
import { times } from "../../testing/effort.js";
import { createRandom } from "../../testing/random.js";
import { typeOf } from "../../testing/sample-world.js";

const clusterUrl = typeOf("cluster").typeUrl;

/** A client on one delta stream. It applies each response at once, and acknowledges it some time later. */
function createClient() {
  // The client never shows when its listeners have drained.
  const ordering = new Ordering({ ...defaultOrderingTimes, drain: 8_000 });
  const options = { variant: "delta", api: "v3", types: resourceTypes, only: undefined } as const;
  const stream = createStream({ ...options, limits: defaultStreamLimits, defaultNode: undefined });
  const has = new Map<string, Resource>();
  const unanswered: { readonly typeUrl: string; readonly nonce: string; readonly names: readonly string[] }[] = [];
  /**
   * Clusters that it acknowledged and has; undefined before the first acknowledgement, while everything goes out at
   * once.
   */
  let warm: Set<string> | undefined;
  const made = new Map<string, Resource>();
  let now = 0;
  const request = (typeUrl: string, more: object) => {
    const message = create(DeltaDiscoveryRequestSchema, { node: { id: "n" }, typeUrl, ...more });
    stream.step({ kind: "request", bytes: toBinary(DeltaDiscoveryRequestSchema, message) }, now);
  };
  const keyOf = (typeUrl: string, name: string) => `${typeUrl} ${name}`;
  const contentKey = (typeUrl: string, name: string, version: string) => `${typeUrl} ${name} ${version}`;
  return {
    stream,
    has,
    unanswered,
    subscribe() {
      for (const word of closedTypes) {
        const type = typeOf(word);
        const resourceNamesSubscribe = type.emptyFirstRequest === "wildcard" ? [] : closedNames;
        request(type.typeUrl, { resourceNamesSubscribe });
      }
    },
    publish(snapshot: Snapshot) {
      for (const set of snapshot.sets.values()) {
        for (const one of set) made.set(contentKey(one.type.typeUrl, one.name, one.version), one);
      }
      stream.step({ kind: "snapshot", snapshot, ordering }, now);
    },
    /** Takes the next response, if there is one, and checks the client's resources then. */
    take(): boolean {
      const response = stream.next(now);
      if (response === undefined) return false;
      const bytes = Buffer.concat([response.body.bytes, response.tail]);
      const { typeUrl, nonce, resources, removedResources } = fromBinary(DeltaDiscoveryResponseSchema, bytes);
      for (const { name, version } of resources) {
        const resource = made.get(contentKey(typeUrl, name, version));
        assert.ok(resource, `${typeUrl} ${name} ${version} was never published`);
        has.set(keyOf(typeUrl, name), resource);
        for (const reference of warm === undefined || typeUrl === clusterUrl ? [] : resource.references) {
          if (reference.type === clusterUrl)
            assert.ok(warm?.has(reference.name), `${name} came before ${reference.name}`);
        }
      }
      for (const name of removedResources) {
        has.delete(keyOf(typeUrl, name));
        if (typeUrl === clusterUrl) warm?.delete(name);
      }
      unanswered.push({ typeUrl, nonce, names: resources.map(({ name }) => name) });
      for (const { type, name, references } of has.values()) {
        if (type.name === "cluster") continue;
        for (const reference of references) {
          if (reference.type !== clusterUrl) continue;
          assert.ok(has.has(keyOf(clusterUrl, reference.name)), `${type.name} ${name} names cluster ${reference.name}`);
        }
      }
      return true;
    },
    acknowledge() {
      const answered = unanswered.shift();
      if (answered === undefined) return;
      request(answered.typeUrl, { responseNonce: answered.nonce });
      if (answered.typeUrl !== clusterUrl) return;
      const there = answered.names.filter((name) => has.has(keyOf(clusterUrl, name)));
      warm = new Set([...(warm ?? []), ...there]);
    },
    pass(milliseconds: number) {
      now += milliseconds;
      stream.step({ kind: "time" }, now);
    },
  };
}

test("whatever comes in between, no resource of a client names a cluster that it lacks, and in the end it has the wanted resources", () => {
  const seed = Number(process.env.SEED ?? 1);
  const runs = times(30);
  for (let run = 0; run < runs; run++) {
    const random = createRandom(seed, run);
    const client = createClient();
    client.subscribe();
    let snapshot = emptySnapshot();
    try {
      for (let step = 0; step < 60; step++) {
        if (step === 0 || random.chance(0.1)) {
          const remove = [...snapshot.sets.values()].flatMap((set) =>
            Array.from(set, ({ type, key }) => ({ type, name: key })),
          );
          snapshot = updateSnapshot(snapshot, { upsert: closedResources(random), remove });
          client.publish(snapshot);
        }
        if (random.chance(0.6)) client.take();
        if (random.chance(0.4)) client.acknowledge();
        if (random.chance(0.2)) client.pass(random.int(500));
      }
      // In each round, something is taken or answered, or time passes. A change takes a few rounds.
      for (let round = 0; round < 40; round++) {
        while (client.take());
        while (client.unanswered.length > 0) client.acknowledge();
        if (client.stream.isInSync && client.stream.deadline() === undefined) break;
        client.pass(1_000);
      }
    } catch (error) {
      throw new Error(`SEED=${seed}, run ${run}`, { cause: error });
    }
    const wanted = [...snapshot.sets.values()].flatMap((set) => [...set]);
    const versions = (resources: Iterable<Resource>) =>
      Array.from(resources, ({ type, name, version }) => `${type.name} ${name} ${version}`).sort();
    assert.deepEqual(versions(client.has.values()), versions(wanted), `SEED=${seed}, run ${run}`);
    assert.ok(client.stream.isInSync, `SEED=${seed}, run ${run}`);
  }
});
