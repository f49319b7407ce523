import assert from "node:assert/strict";
import { test } from "node:test";
import type { Message } from "@bufbuild/protobuf";
import type { GroupSettings } from "../settings/group-settings.js";
import { times } from "../testing/basics/effort.js";
import { manualClock } from "../testing/basics/manual-clock.js";
import { randomFrom } from "../testing/basics/random.js";
import { contentOf, type InUse, nothingInUse, typeNames, UsingClient } from "../testing/clients/using-client.js";
import { type Running, type TypeName, withMemoryServer } from "../testing/running-server.js";
import { cluster, listener, loadAssignment, routeConfiguration } from "../testing/test-resources.js";

/** `SEED=7` plays one seed, `EFFORT=50` more than the suite does. */
const { SEED } = process.env;
const seeds = SEED === undefined ? Array.from({ length: times(6) }, (_, index) => index + 1) : [Number(SEED)];
const steps = 60;
const names = ["a", "b", "c", "d"];
const everything = typeNames.flatMap((type) => names.map((name) => [type, name] as const));
const usualGroups: readonly GroupSettings[] = [
  { name: "edge", match: { cluster: "edge" }, layers: ["default", "edge"] },
  { name: "far", match: { cluster: "far" }, layers: ["far"] },
  { name: "careful", match: { cluster: "careful" }, layers: ["default", "far"], onReject: "lastGood" as const },
  { name: "rest", match: { cluster: "rest" }, layers: ["default"] },
];
const layerLists = [["default", "edge"], ["default"], ["default", "far"], ["far"], ["edge", "default"]];

/**
 * Most changes concern few types, and streams that ask for others are not visited: all clients must reach their targets
 * in the end, and the server must know that they did.
 */
async function play(
  { server, client }: Running,
  seed: number,
  regroups: boolean,
  advance: (milliseconds: number) => void,
): Promise<void> {
  const random = randomFrom(seed);
  let groups = usualGroups;
  const layers = new Map<string, Map<string, Message>>();
  const clients = new Map<number, UsingClient>();
  const used = new Map<number, InUse>();
  const story: string[] = [];
  let count = 1000;
  let arriving = 0;

  function make(type: TypeName, name: string): Message {
    count += 1;
    if (type === "cluster") return cluster(name, `${count}`);
    if (type === "endpoint") return loadAssignment(name, count);
    if (type === "listener") return listener(name, `${count}`);
    const route = routeConfiguration(name, names[random(names.length)] ?? "a");
    return Object.assign(route, { maxDirectResponseBodySizeBytes: count });
  }
  function change(layer: string, what: typeof everything, removes: () => boolean, bySteps: boolean): void {
    const held = layers.get(layer) ?? new Map<string, Message>();
    layers.set(layer, held);
    const upsert = new Map<string, Message>();
    const remove: { type: TypeName; name: string }[] = [];
    for (const [type, name] of what) {
      const key = `${type} ${name}`;
      if (upsert.has(key)) continue;
      if (removes()) remove.push({ type, name });
      else upsert.set(key, make(type, name));
    }
    for (const { type, name } of remove) held.delete(`${type} ${name}`);
    for (const [key, message] of upsert) held.set(key, message);
    story.push(`${layer}: ${[...upsert.keys()]} -${remove.map(({ type, name }) => `${type} ${name}`)} ${bySteps}`);
    const rollout = bySteps ? { steps: [{ percent: 40 }], soakMs: 0 } : ("off" as const);
    const of = layer === "default" ? server.config : server.config.layer(layer);
    arriving += 1;
    const arrival = of.update({ upsert: upsert.values(), remove }, { rollout });
    void arrival.done({ timeout: Number.POSITIVE_INFINITY }).then(() => {
      arriving -= 1;
    });
  }
  function come(index: number): void {
    const inUse = (random(2) === 0 ? used.get(index) : undefined) ?? nothingInUse();
    used.set(index, inUse);
    const asked = new Map<TypeName, Set<string>>();
    const isPerType = random(2) === 0;
    for (const type of typeNames) {
      if (isPerType && random(5) === 0 && type !== "cluster") continue;
      const isAll = ["cluster", "listener"].includes(type) && random(3) > 0;
      asked.set(type, new Set(isAll ? [] : ["a", ...names.slice(1).filter(() => random(3) > 0)]));
    }
    const variant = random(3) === 0 ? "sotw" : "delta";
    const settings = { id: `n${index}`, cluster: usualGroups[index % groups.length]?.name ?? "", variant } as const;
    story.push(`come ${JSON.stringify({ ...settings, isPerType })}`);
    clients.set(index, new UsingClient(client, { ...settings, isPerType, asked, inUse }));
  }
  /** Groups get other layers, and nodes come into other groups. */
  function regroup(): void {
    const [edge, far, careful, rest] = ["edge", "far", "careful", "rest"];
    const isSwapped = random(2) === 0;
    const clusters = isSwapped ? [far, rest, careful, edge] : [edge, far, careful, rest];
    groups = usualGroups.map((group, index) => ({
      ...group,
      match: { cluster: clusters[index] ?? "" },
      layers: random(2) === 0 ? group.layers : (layerLists[random(layerLists.length)] ?? group.layers),
    }));
    story.push(`regroup ${JSON.stringify(groups.map(({ match, layers }) => [match.cluster, ...layers]))}`);
    server.reconfigure({ groups, ...(random(3) === 0 ? { ordering: random(2) === 0 ? false : {} } : {}) });
  }
  async function turn(): Promise<boolean> {
    for (let times = 0; times < 3; times++) await new Promise((resolve) => setImmediate(resolve));
    return [...clients.values()].map((each) => each.answer(undefined)).includes(true);
  }
  async function rest(): Promise<void> {
    for (let quiet = 0, rounds = 0; quiet < 3 && rounds < 400; rounds++) quiet = (await turn()) ? 0 : quiet + 1;
  }
  /** Changes each content that a client rejected, and lets each wait end. */
  async function settle(): Promise<void> {
    await rest();
    const rejected = [...clients.values()].map((each) => each.reject(false)).includes(true);
    if (rejected) for (const layer of [...layers.keys()]) change(layer, everything, () => false, false);
    // In between connections drain; what clients still ask for by name goes after that.
    for (const time of [5_000, 5_000, 5_000, 5_000, 600_000, 5_000, 5_000, 5_000, 5_000]) {
      await rest();
      for (const rollout of server.rollouts()) rollout.promote();
      advance(time);
    }
    await rest();
  }
  function check(): void {
    for (const { settings } of clients.values()) {
      const { id, cluster, variant, asked, inUse } = settings;
      const of = groups.find(({ match }) => match.cluster === cluster)?.layers ?? [];
      for (const [type, only] of asked) {
        const wanted = new Map<string, string>();
        for (const layer of of) {
          for (const [key, message] of layers.get(layer) ?? []) {
            const [ofType, name = ""] = key.split(" ");
            if (ofType === type && (only.size === 0 || only.has(name))) wanted.set(name, contentOf(type, message));
          }
        }
        const has = new Map(Array.from(inUse.get(type) ?? [], ([name, { content }]) => [name, content]));
        // State of the world cannot say that a resource that is requested by name is gone.
        if (variant === "sotw") for (const name of has.keys()) if (!wanted.has(name)) has.delete(name);
        assert.deepEqual([...has].sort(), [...wanted].sort(), `${id} ${type}\n${story.join("\n")}`);
      }
    }
    const nodes = server.nodes().filter(({ group }) => group !== "far" || layers.has("far"));
    const unsynced = nodes.filter(({ state }) => state !== "synced").map(({ id, state }) => `${id} ${state}`);
    assert.deepEqual(unsynced, [], story.join("\n"));
    assert.equal(arriving, 0, `changes that do not arrive\n${story.join("\n")}`);
  }
  function step(): void {
    const index = random(8);
    const known = clients.get(index);
    const kind = random(12);
    if (kind < 5) {
      const layer = random(4) === 0 ? "edge" : random(4) === 0 ? "far" : "default";
      const isAny = () => typeNames[random(4)] ?? "cluster";
      const what = Array.from({ length: 1 + random(2) }, () => {
        return [random(3) === 0 ? isAny() : "endpoint", names[random(4)] ?? "a"] as const;
      });
      change(layer, what, () => random(5) === 0, random(6) === 0);
    } else if (kind === 5 && random(6) === 0) {
      story.push("the edge is dropped");
      layers.delete("edge");
      server.config.layer("edge").drop();
    } else if (regroups && kind === 10 && random(3) > 0) regroup();
    else if (kind < 8) {
      if (known === undefined) come(index);
      else if (random(3) === 0) {
        story.push(`leave ${index}`);
        known.leave();
        clients.delete(index);
      }
    } else if (kind === 8) known?.toggle(typeNames[random(4)] ?? "route", names[random(4)] ?? "a");
    else if (kind === 9 && random(3) === 0 && known?.settings.cluster !== "careful") known?.reject(true);
    else for (const each of clients.values()) each.answer(() => random(2) === 0);
  }

  change("default", everything, () => false, false);
  // A node whose layers do not exist yet keeps its resources.
  if (regroups) change("far", [["cluster", "a"]], () => false, false);
  for (let index = 0; index < steps; index++) {
    step();
    if (random(3) === 0) await turn();
    if (random(4) > 0) continue;
    await settle();
    check();
  }
}

for (const seed of seeds) {
  for (const regroups of [false, true]) {
    test(`a client that a change does not concern lacks nothing${regroups ? ", whichever group it comes into" : ""}, seed ${seed}`, () => {
      const clock = manualClock();
      return withMemoryServer({ clock, groups: usualGroups }, (running) =>
        play(running, seed, regroups, (time) => clock.advance(time)),
      );
    });
  }
}
