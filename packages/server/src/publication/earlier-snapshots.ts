import type { Clock } from "@xdskit/api";
import { replacesListeners } from "@xdskit/protocol";
import type { SharedStack } from "./shared-stacks.js";

/** The number of snapshots from before a restart that are kept whatever changed. */
const maxEarlier = 10;

/**
 * Begins to record the snapshots that clients may have from before a restart (`Resumption`), for `rememberedMs`
 * milliseconds. Each call of the returned function records the snapshots of that moment. The newest ones must come
 * first. Of many, only those are kept from whose listeners connections may drain.
 */
export function rememberEarlier(stacks: Iterable<SharedStack>, clock: Clock, rememberedMs: number): () => void {
  const remembering = Array.from(stacks, (shared) => {
    const snapshot = shared.stack.snapshot();
    return { shared, last: snapshot, seen: new Set([snapshot]) };
  });
  clock.after(rememberedMs, () => {
    for (const { shared } of remembering) shared.earlier = [];
  });
  return () => {
    for (const one of remembering) {
      const { shared, seen, last } = one;
      const snapshot = shared.stack.snapshot();
      if (snapshot === undefined || seen.has(snapshot)) continue;
      const isOld = seen.size > maxEarlier && last !== undefined && !replacesListeners(snapshot, last);
      seen.add(snapshot);
      one.last = snapshot;
      if (!isOld) shared.earlier = [...shared.earlier, snapshot];
    }
  };
}
