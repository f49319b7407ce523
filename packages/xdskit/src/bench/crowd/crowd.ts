import type { Crowd, CrowdOptions } from "./contract.js";
import { Client } from "./crowd-client.js";
import { SharedState } from "./shared-state.js";

/** Makes a crowd: see `Crowd`. Throws if no type is asked for. */
export function createCrowd(options: CrowdOptions): Crowd {
  if (options.interests.length === 0) throw new Error("no type is asked for");
  const shared = new SharedState(options);
  return { createClient: (node, group) => new Client(shared, node, group) };
}
