import type { XdsServer } from "@xdskit/server";
import type { ActivityKeeper, ActivitySample } from "../contract/admin-options.js";

/** How long a sample is, in milliseconds. All servers begin one at the same moments: samples can be added up. */
export const stepMs = 15_000;
/** Half an hour. */
const maxSamples = 120;

type ActivityCounters = Pick<ActivitySample, "pushes" | "rejections">;

/**
 * Keeps what happened in the last half hour, from when it was made: a look at counters now and then, however many nodes
 * there are. Whoever makes it closes it.
 */
export class Activity implements ActivityKeeper {
  readonly #server: Pick<XdsServer, "stats" | "rollouts">;
  readonly #samples: ActivitySample[] = [];
  /** The counters at the beginning of the newest sample. */
  #before: ActivityCounters;
  readonly #timer: NodeJS.Timeout;

  constructor(server: Pick<XdsServer, "stats" | "rollouts">) {
    this.#server = server;
    this.#before = countersOf(server);
    this.#note();
    this.#timer = setInterval(() => this.#note(), stepMs / 3).unref();
  }

  /** From the oldest to the newest, which goes on. */
  samples(): readonly ActivitySample[] {
    this.#note();
    return this.#samples;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #note(): void {
    const at = Math.floor(Date.now() / stepMs) * stepMs;
    const now = countersOf(this.#server);
    const newest = this.#samples.at(-1);
    const isNew = newest === undefined || newest.at < at;
    // What happened since the last look belongs to the sample that it began in, or to the one that began since.
    const [pushes, rejections] = [now.pushes - this.#before.pushes, now.rejections - this.#before.rejections];
    const heldBack = this.#server.rollouts().reduce((sum, { nodes }) => sum + nodes.held, 0);
    if (isNew) {
      this.#samples.push({ at, pushes, rejections, heldBack });
      if (this.#samples.length > maxSamples) this.#samples.shift();
    } else
      this.#samples[this.#samples.length - 1] = {
        at: newest.at,
        pushes: newest.pushes + pushes,
        rejections: newest.rejections + rejections,
        heldBack: Math.max(newest.heldBack, heldBack),
      };
    this.#before = now;
  }
}

/** The samples of several servers, added up. */
export function sumOfSamples(servers: readonly (readonly ActivitySample[])[]): ActivitySample[] {
  const sums = new Map<number, ActivitySample>();
  for (const sample of servers.flat()) {
    const known = sums.get(sample.at) ?? { at: sample.at, pushes: 0, rejections: 0, heldBack: 0 };
    sums.set(sample.at, {
      at: sample.at,
      pushes: known.pushes + sample.pushes,
      rejections: known.rejections + sample.rejections,
      // A rollout counts the nodes of all servers.
      heldBack: Math.max(known.heldBack, sample.heldBack),
    });
  }
  return [...sums.values()].sort((a, b) => a.at - b.at).slice(-maxSamples);
}

function countersOf(server: Pick<XdsServer, "stats">): ActivityCounters {
  let [pushes, rejections] = [0, 0];
  for (const { responses, heartbeats, rejected } of server.stats().types) {
    pushes += responses - heartbeats;
    rejections += rejected;
  }
  return { pushes, rejections };
}
