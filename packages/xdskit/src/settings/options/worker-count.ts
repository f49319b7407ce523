import { availableParallelism } from "node:os";
import { XdskitError } from "@xdskit/api";

/** More processes than this are refused. */
export const maxWorkers = 64;

/** How many processes must serve. Throws an XdskitError (XDSKIT_SERVER_OPTION) for more than there may be. */
export function workerCount(workers: number | "auto" = 1): number {
  if (workers === "auto") return Math.min(availableParallelism(), maxWorkers);
  if (workers <= maxWorkers) return workers;
  throw XdskitError.of("XDSKIT_SERVER_OPTION", `workers must be "auto" or a whole number from 1 to ${maxWorkers}`);
}
