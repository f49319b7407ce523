import type { PeerServer } from "../contract/peers.js";
import type { AnySourceStatus } from "../contract/source-status.js";
import { type AllAnswered, askAll } from "./ask-all.js";

/** The sources of all servers of a store. */
export interface AllSources extends AllAnswered {
  readonly sources: readonly AnySourceStatus[];
}

/** Asks the other servers of the store for their sources: each reads a folder of its own. Does not reject. */
export async function sourcesOfAll(
  own: { readonly name: string; readonly sources: readonly AnySourceStatus[] },
  peers: readonly PeerServer[],
): Promise<AllSources> {
  const { answers, ...silent } = await askAll<readonly AnySourceStatus[]>(peers, "sources");
  const all = [{ replica: own.name, answer: own.sources }, ...answers];
  const sources = all.flatMap(({ replica, answer }) => answer.map((source) => ({ ...source, replica })));
  return { sources, ...silent };
}
