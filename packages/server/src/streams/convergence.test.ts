import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { create, fromBinary, fromJsonString, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { createResource, envoyRegistry } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import type { PollAnswer } from "../contracts/poll-transport.js";
import type { GroupSettings } from "../settings/group-settings.js";
import { patienceMs } from "../testing/basics/wait-for.js";
import { parkedPolls } from "../testing/running-rest.js";
import { ads, openStreams, types, urlOf, withMemoryServer } from "../testing/running-server.js";
import { cluster, loadAssignment } from "../testing/test-resources.js";
import {
  createMemoryPollTransport,
  type MemoryPollClient,
  type MemoryPollTransport,
} from "../transports/memory/memory-polls.js";
import type { MemoryStream } from "../transports/memory/memory-stream.js";
import type { MemoryTransport } from "../transports/memory/memory-transport.js";

const groups: readonly GroupSettings[] = [
  { name: "one", match: { cluster: "one" }, layers: ["base"] },
  { name: "two", match: { cluster: "two" }, layers: ["base", "over"] },
  { name: "three", match: { cluster: "three" }, layers: ["over", "base", "extra"] },
];
const layers = ["base", "over", "extra"];
const registry = envoyRegistry();
const names = ["a", "b", "c", "d", "e", "f"];

type Kind = "sotw" | "delta" | "rest";

/** A client, as the test uses it. */
interface Holder {
  readonly kind: Kind;
  readonly group: string;
  readonly id: string;
  readonly held: { readonly cluster: Map<string, string>; readonly endpoint: Map<string, string> };
  readonly wanted: readonly string[];
  reopen(): void;
  togglePause(): void;
  resume(): void;
  leave(): void;
}

/**
 * A client that polls, each type again as soon as it is answered; a pause breaks its connection, with the messages in
 * flight.
 */
function createPoller(transport: MemoryPollTransport, address: string, group: string, id: string): Holder {
  const held = { cluster: new Map<string, string>(), endpoint: new Map<string, string>() };
  const versions = { cluster: "", endpoint: "" };
  const wanted = names.slice(0, 4);
  let client: MemoryPollClient | undefined;

  function connect(): void {
    client?.close();
    client = transport.connect(address);
    for (const type of ["cluster", "endpoint"] as const) poll(client, type);
  }
  function poll(on: MemoryPollClient, type: "cluster" | "endpoint"): void {
    const node = { id, cluster: group };
    const request = { node, versionInfo: versions[type], resourceNames: type === "cluster" ? [] : wanted };
    void on.poll(types[type], request).answer.then((answer) => {
      if (on !== client) return;
      take(type, answer);
      poll(on, type);
    });
  }
  function take(type: "cluster" | "endpoint", answer: PollAnswer): void {
    assert.notEqual(answer.kind, "refused");
    if (answer.kind !== "response") return;
    const { resources, versionInfo } = fromJsonString(
      DiscoveryResponseSchema,
      Buffer.from(answer.body.bytes).toString(),
      {
        registry,
      },
    );
    held[type].clear();
    versions[type] = versionInfo;
    for (const any of resources) {
      const { name, body } = createResource(anyUnpack(any, registry)!);
      held[type].set(name, Buffer.from(body).toString("base64"));
    }
  }
  function pause(): void {
    client?.close();
    client = undefined;
  }
  function resume(): void {
    if (client === undefined) connect();
  }
  return {
    kind: "rest",
    group,
    id,
    held,
    wanted,
    resume,
    leave: pause,
    reopen() {
      versions.cluster = "";
      versions.endpoint = "";
      connect();
    },
    togglePause: () => (client === undefined ? resume() : pause()),
  };
}

/** A client that keeps to the protocol and remembers its resources: clusters by wildcard, load assignments by name. */
function createHolder(
  transport: MemoryTransport,
  address: string,
  kind: Exclude<Kind, "rest">,
  group: string,
  id: string,
): Holder {
  const held = { cluster: new Map<string, string>(), endpoint: new Map<string, string>() };
  const wanted = names.slice(0, 4);
  let stream: MemoryStream | undefined;
  let paused = false;
  let opened = 0;

  function reopen(): void {
    stream?.cancel();
    held.cluster.clear();
    held.endpoint.clear();
    opened += 1;
    const mine = opened;
    paused = false;
    stream = transport.open(address, ads(kind), (bytes) => {
      if (mine === opened) take(bytes);
    });
    const node = { id, cluster: group };
    if (kind === "sotw") {
      sendSotw({ node, typeUrl: urlOf("cluster") });
      sendSotw({ typeUrl: urlOf("endpoint"), resourceNames: wanted });
    } else {
      sendDelta({ node, typeUrl: urlOf("cluster") });
      sendDelta({ typeUrl: urlOf("endpoint"), resourceNamesSubscribe: wanted });
    }
  }
  function sendSotw(request: MessageInitShape<typeof DiscoveryRequestSchema>): void {
    stream?.send(toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, request)));
  }
  function sendDelta(request: MessageInitShape<typeof DeltaDiscoveryRequestSchema>): void {
    stream?.send(toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, request)));
  }
  function put(typeUrl: string, value: Uint8Array): void {
    const text = Buffer.from(value).toString("base64");
    if (typeUrl === urlOf("cluster")) held.cluster.set(fromBinary(ClusterSchema, value).name, text);
    else held.endpoint.set(fromBinary(ClusterLoadAssignmentSchema, value).clusterName, text);
  }
  function take(bytes: Uint8Array): void {
    if (kind === "sotw") {
      const { typeUrl, resources, nonce, versionInfo } = fromBinary(DiscoveryResponseSchema, bytes);
      if (typeUrl === urlOf("cluster")) held.cluster.clear();
      for (const { value } of resources) put(typeUrl, value);
      const resourceNames = typeUrl === urlOf("cluster") ? [] : wanted;
      sendSotw({ typeUrl, resourceNames, responseNonce: nonce, versionInfo });
    } else {
      const { typeUrl, resources, removedResources, nonce } = fromBinary(DeltaDiscoveryResponseSchema, bytes);
      const map = typeUrl === urlOf("cluster") ? held.cluster : held.endpoint;
      for (const name of removedResources) map.delete(name);
      for (const { resource } of resources) put(typeUrl, resource?.value ?? new Uint8Array());
      sendDelta({ typeUrl, responseNonce: nonce });
    }
  }
  return {
    kind,
    group,
    id,
    held,
    wanted,
    reopen,
    togglePause() {
      if (paused) stream?.resume();
      else stream?.pause();
      paused = !paused;
    },
    resume() {
      paused = false;
      stream?.resume();
    },
    leave: () => stream?.cancel(),
  };
}

type Content = ReturnType<typeof cluster> | ReturnType<typeof loadAssignment>;

/** The content of the layers, in the simplest form. */
function createModel() {
  const held = new Map<string, Map<string, string>>(layers.map((layer) => [layer, new Map()]));
  const put = (layer: string, content: readonly Content[]) => {
    for (const message of content) {
      const { type, name, body } = createResource(message);
      held.get(layer)?.set(`${type.name} ${name}`, Buffer.from(body).toString("base64"));
    }
  };
  return {
    put,
    set(layer: string, content: readonly Content[]) {
      held.get(layer)?.clear();
      put(layer, content);
    },
    remove: (layer: string, type: string, name: string) => held.get(layer)?.delete(`${type} ${name}`),
    /** By name: the content in the last layer that has it. */
    of(stack: readonly string[], type: string, of: readonly string[]): Map<string, string> {
      const found = new Map<string, string>();
      for (const name of of) {
        for (const layer of stack) {
          const body = held.get(layer)?.get(`${type} ${name}`);
          if (body !== undefined) found.set(name, body);
        }
      }
      return found;
    },
  };
}

/** The same numbers for the same seed. */
function generator(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** The names under which two maps differ. */
function differing(what: string, actual: Map<string, string>, expected: Map<string, string>): string[] {
  return [...new Set([...actual.keys(), ...expected.keys()])]
    .filter((name) => actual.get(name) !== expected.get(name))
    .map((name) => `${what} ${name}: ${actual.get(name)}, not ${expected.get(name)}`);
}

/**
 * Waits until all messages have arrived, and a while longer, in which nothing may go wrong again. A pause in the
 * traffic is no sign of the end: on a busy machine one check follows the other before the event loop has made a turn.
 */
async function settled(holds: () => boolean): Promise<void> {
  const end = Date.now() + patienceMs;
  while (!holds() && Date.now() < end) await sleep(2);
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe("clients of random changes", () => {
  for (let seed = 1; seed <= 30; seed++) {
    it(`every client holds its group's target in the end, seed ${seed}`, () =>
      withMemoryServer({ groups, rest: { holdMs: 20 } }, async ({ server, transport, address }) => {
        const polls = createMemoryPollTransport();
        await server.pollOn(polls, "polls");
        const random = generator(seed);
        const model = createModel();
        const set = (layer: string, content: readonly Content[]) => {
          server.config.layer(layer).set(content);
          model.set(layer, content);
        };
        for (const layer of layers) set(layer, [cluster("a", layer)]);
        const holders = Array.from({ length: 15 }, (_, index) => {
          const group = groups[index % 3]!.name;
          if (index >= 12) return createPoller(polls, "polls", group, `n${index}`);
          return createHolder(transport, address, index % 2 === 0 ? "sotw" : "delta", group, `n${index}`);
        });
        for (const holder of holders) holder.reopen();
        for (let step = 0; step < 120; step++) {
          const holder = holders[random(holders.length)]!;
          switch (random(8)) {
            case 0:
              holder.reopen();
              break;
            case 1:
            case 2:
              holder.togglePause();
              break;
            case 3:
              await new Promise((resolve) => setImmediate(resolve));
              break;
            case 4: {
              const some = names.slice(random(3), 3 + random(4));
              const content = some.flatMap((name) => [
                cluster(name, `${random(3)}`),
                ...(random(2) === 0 ? [loadAssignment(name, 1 + random(3))] : []),
              ]);
              set(layers[random(3)]!, content);
              break;
            }
            default: {
              const name = names[random(names.length)]!;
              const upsert = [cluster(name, `${random(3)}`), loadAssignment(name, 1 + random(3))].slice(random(3));
              const type = random(2) === 0 ? "cluster" : "endpoint";
              const gone = names[random(names.length)]!;
              const layer = layers[random(3)]!;
              server.config.layer(layer).update({ upsert, remove: [{ type, name: gone }] });
              model.remove(layer, type, gone);
              model.put(layer, upsert);
            }
          }
        }
        for (const holder of holders) holder.resume();
        /** The differences of each client from its group's target. Must be empty in the end. */
        const differences = () =>
          holders.flatMap(({ kind, group, held, wanted, id }) => {
            const { layers: stack } = groups.find(({ name }) => name === group)!;
            const assignments = model.of(stack, "endpoint", wanted);
            // SotW cannot say that a load assignment is gone: the client keeps it.
            const kept = [...held.endpoint].filter(([name]) => kind !== "sotw" || assignments.has(name));
            return [
              ...differing(`${id} ${kind} cluster`, held.cluster, model.of(stack, "cluster", names)),
              ...differing(`${id} ${kind} endpoint`, new Map(kept), assignments),
            ];
          });
        await settled(() => differences().length === 0);
        assert.deepEqual(differences(), []);
        for (const holder of holders) holder.leave();
        assert.equal(openStreams(server), 0);
        assert.equal(parkedPolls(server), 0);
        assert.equal(server.stats().nodes, 0);
      }));
  }
});
