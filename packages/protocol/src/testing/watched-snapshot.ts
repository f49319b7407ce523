import type { Snapshot } from "../index.js";

/** The number of requests for a set of a snapshot. */
export interface Looks {
  count: number;
}

/** The same snapshot, which counts the requests for a set of it. */
export function watched(snapshot: Snapshot, looks: Looks): Snapshot {
  const of: Snapshot["of"] = (type) => {
    looks.count += 1;
    return snapshot.of(type);
  };
  return { sets: snapshot.sets, of };
}
