import { createResource, type Resource } from "@xdskit/api";
import { type Clock, createServer, type GroupOf, type XdsServer } from "@xdskit/server";
import { createBareStreams, type Wish } from "./bare-streams.js";
import type { OperationCounter, Operations } from "./operation-count.js";
import { build } from "./resources.js";

/** The resources, the requests of streams, and the change. */
export interface Situation {
  /** The number of clusters, and of load assignments. */
  readonly resources: number;
  readonly streams?: number;
  /** The requests of each stream; a function tells them apart. */
  readonly wishes?: readonly (Wish | ((stream: number) => Wish))[];
  /** The type that changes: its first resource. Default: a load assignment. */
  readonly changes?: "cds" | "eds";
  /** The number of groups, each with its own layer beside the one that all have. Default: one group with one layer. */
  readonly groups?: number;
  /**
   * Let time go by instead of making a change: the first load assignment lives for this many milliseconds, and needs a
   * heartbeat.
   */
  readonly ttl?: number;
  /** Extra work at every change, which the counts must show as if the product did it. */
  readonly besides?: (server: XdsServer) => void;
}

/** The cost of one change. */
export interface Cost extends Operations {
  /** The number of sent responses. */
  readonly responses: number;
  /** The number of bodies encoded for them. */
  readonly bodies: number;
}

export const clusterName = (index: number): string => `cluster-${String(index).padStart(6, "0")}`;

const common = "common";
const layerOf = (group: number) => `group-${group}`;

/**
 * Changes before those that are counted. V8 compiles a function anew after some calls, at the first size or at a later
 * one, and counts the memory for that as well: 45,000 bytes after three changes, next to nothing after these.
 */
const warmUp = 16;
/** Changes that are counted; the least counts, since some compilation still comes later. */
const times = 4;

const made = new Map<string, readonly Resource[]>();

/** Made once: they cost the most time here, and are not counted. */
function resources(kind: "cds" | "eds", count: number, marker: number): readonly Resource[] {
  const key = `${kind} ${count} ${marker}`;
  const known = made.get(key);
  if (known !== undefined) return known;
  const shape = { clusters: count, endpoints: 1, payload: 0, groups: 1 };
  const fresh = build(kind, 0, count, marker, shape).map((message) => createResource(message));
  made.set(key, fresh);
  return fresh;
}

/** A clock that stands still until the test moves it. */
function heldClock(): Clock & { advance(milliseconds: number): void } {
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  let now = 0;
  return {
    now: () => now,
    after(milliseconds, callback) {
      const timer = { at: now + milliseconds, callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance(milliseconds) {
      now += milliseconds;
      for (const timer of timers) {
        if (timer.at > now) continue;
        timers.delete(timer);
        timer.callback();
      }
    },
  };
}

/** Long enough for work that is cut into slices, and for the acknowledgements that it brings. */
async function quiet(streams: number): Promise<void> {
  for (let turn = 0; turn < 20 + streams / 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/**
 * Makes a server with its streams, changes one thing some times, and returns the cost once everything is warm.
 */
export async function costOf(counter: OperationCounter, situation: Situation): Promise<Cost> {
  const { resources: count, streams = 0, wishes = [], changes = "eds", groups = 1, ttl, besides } = situation;
  const clock = heldClock();
  const groupOf: GroupOf = ({ id }) => {
    const name = layerOf(Number(id) % groups);
    return { name, layers: [common, name] };
  };
  // The watch of the event loop goes by the real clock, and by V8's pauses.
  const server = createServer({ groups: groups === 1 ? undefined : groupOf, clock, ttl: "always", eventLoop: false });
  try {
    const all = [...resources("cds", count, 1), ...resources("eds", count, 1)];
    server.config.layer(common).set(all);
    for (let group = 0; group < groups && groups > 1; group += 1) {
      server.config.layer(layerOf(group)).set(resources("eds", 1, 2));
    }
    const bare = await createBareStreams(server);
    for (let stream = 0; stream < streams; stream += 1)
      for (const wish of wishes) bare.open(String(stream), typeof wish === "function" ? wish(stream) : wish);
    await quiet(streams * wishes.length);
    let marker = 10;
    const change = async () => {
      marker += 1;
      if (ttl !== undefined && marker > 11) clock.advance(ttl);
      else {
        const layer = server.config.layer(groups === 1 ? common : layerOf(0));
        const shape = { clusters: count, endpoints: 1, payload: 0, groups: 1 };
        const messages = build(changes, 0, 1, marker, shape);
        layer.update({ upsert: messages.map((each) => (ttl === undefined ? each : createResource(each, { ttl }))) });
      }
      besides?.(server);
      await quiet(streams * wishes.length);
    };
    for (let warmth = 0; warmth < warmUp; warmth += 1) await change();
    const before = bare.responses;
    bare.bodies.clear();
    const counted = await counter.count(change, times);
    return { ...counted, responses: (bare.responses - before) / times, bodies: bare.bodies.size / times };
  } finally {
    await server.close();
  }
}
