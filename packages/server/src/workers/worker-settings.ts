import { availableParallelism } from "node:os";
import { packTypes, XdskitError } from "@xdskit/api";
import type { ServerOptions } from "../contracts/xds-server.js";
import { defaultEventLoopOptions } from "../event-loop/event-loop-stats.js";
import type { Keepalive } from "../settings/keepalive.js";
import type { ServerLimits } from "../settings/limits.js";
import type { WorkerSettings } from "./messages.js";
import { mostWorkers } from "./shared-numbers.js";

/**
 * How many threads are to serve. Throws an XdskitError (XDSKIT_SERVER_OPTION) for what is no number of threads, and for
 * options that cannot be had with several: functions cannot go to another thread.
 */
export function workerCount({ workers = 1, groups, clock, onDemand }: ServerOptions): number {
  const count = workers === "auto" ? Math.min(availableParallelism(), mostWorkers) : workers;
  const refuse = (message: string): never => {
    throw XdskitError.of("XDSKIT_SERVER_OPTION", message);
  };
  if (!Number.isInteger(count) || count < 1 || count > mostWorkers) {
    refuse(`workers must be "auto" or a whole number from 1 to ${mostWorkers}, not ${String(workers)}`);
  }
  if (count === 1) return count;
  if (process.platform === "win32") refuse("workers must be 1 on Windows, where threads cannot accept on one port");
  if (typeof groups === "function") refuse("groups must be a list of settings where there are workers, not a function");
  for (const [option, value] of Object.entries({ clock, onDemand })) {
    if (value !== undefined) refuse(`${option} cannot be given where there are workers`);
  }
  return count;
}

/** What each worker has to know of a server's options. */
export function workerSettings(
  options: ServerOptions,
  limits: ServerLimits,
  keepalive: Keepalive,
): Omit<WorkerSettings, "worker" | "numbers" | "calls" | "services" | "tls"> {
  const { groups, ttl, onReject, rollout, ordering, authorities, resourceErrors, defaultNode } = options;
  const eventLoop = options.eventLoop !== false && { ...defaultEventLoopOptions, ...options.eventLoop };
  return {
    types: packTypes(options.types),
    groups: typeof groups === "function" ? undefined : groups,
    ttl,
    onReject,
    rollout,
    ordering,
    authorities,
    resourceErrors,
    defaultNode,
    limits,
    keepalive,
    eventLoop,
  };
}

/** The one after the other, as they are when they are looked at. */
export function bothOf<First, Second>(first: Iterable<First>, second: Iterable<Second>): Iterable<First | Second> {
  return {
    *[Symbol.iterator]() {
      yield* first;
      yield* second;
    },
  };
}
