import type { Finding, ResourceType } from "@xdskit/api";
import type { CacheFolder, FoundType } from "../cache/cache-folder.js";
import type { WatchedCollection } from "./upstream/upstream-types.js";

interface CachedStartOptions {
  readonly cache: CacheFolder | undefined;
  /** Those that are always asked for. */
  readonly collections: readonly WatchedCollection[];
  canAsk(type: ResourceType): boolean;
}

/** What there was in the cache of a group at its start. Without resources: these may be forgotten later. */
export interface CachedStart {
  /** Types that were complete, and types of which something was lost. */
  readonly whole: ReadonlySet<ResourceType>;
  readonly damaged: ReadonlySet<ResourceType>;
  /** Clients could begin with it. */
  readonly isServed: boolean;
}

export interface FoundInCache {
  readonly start: CachedStart;
  readonly types: readonly FoundType[];
  /** What is wrong with it. */
  readonly findings: readonly Finding[];
}

export async function findInCache({ cache, collections, canAsk }: CachedStartOptions): Promise<FoundInCache> {
  const { types: found, findings } = (await cache?.read()) ?? { types: [], findings: [] };
  const isMissing = ({ type }: WatchedCollection) => canAsk(type) && !found.some((each) => each.type === type);
  // The origin must answer before its silence about the missing type means something, and it need not answer a claim.
  const types = cache !== undefined && collections.some(isMissing) ? found.map(cache.withoutVersions) : found;
  const whole = new Set(found.filter(({ isWhole }) => isWhole).map(({ type }) => type));
  const damaged = new Set(found.filter(({ isWhole }) => !isWhole).map(({ type }) => type));
  // A client cannot begin with endpoints alone.
  const isServed = collections.length === 0 ? whole.size > 0 : collections.some(({ type }) => whole.has(type));
  return { start: { whole, damaged, isServed }, types, findings };
}
