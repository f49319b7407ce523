import { XdskitError } from "@xdskit/api";
import type { StoreUrl } from "../../settings/options/store-url.js";
import { workerCount } from "../../settings/options/worker-count.js";

/** The options that give the number of processes, and those that limit it. */
export interface WorkerOptions {
  readonly workers: number | "auto" | undefined;
  readonly store: StoreUrl | undefined;
  readonly replica: unknown;
}

/**
 * How many processes must serve. Throws an XdskitError (XDSKIT_SERVER_OPTION) for more than there may be, and where
 * they cannot share what the options say: workers share a store of their machine, and speak for each other there.
 */
export function workersOf({ workers, store, replica }: WorkerOptions): number {
  const count = workerCount(workers);
  if (count === 1) return 1;
  const instead = "run several servers instead, each with one worker and an address of its own";
  if (store?.kind === "etcd") refuse(`workers share a store on their machine, and no etcd: ${instead}`);
  if (replica !== undefined) refuse(`workers cannot share the address of --replica: ${instead}`);
  return count;
}

function refuse(message: string): never {
  throw XdskitError.of("XDSKIT_SERVER_OPTION", message);
}
