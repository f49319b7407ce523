import type { Resource, ResourceType } from "@xdskit/api";
import type { Snapshot } from "@xdskit/protocol";

/** `1 cluster`, `2 clusters`. */
export function counted(count: number, noun: string): string {
  return `${count} ${count === 1 || noun.endsWith("s") ? noun : `${noun}s`}`;
}

/** `2 clusters, 1 listener`; `nothing` for no counts. */
export function countedAll(counts: Iterable<readonly [noun: string, count: number]>): string {
  const parts = Array.from(counts)
    .filter(([, count]) => count > 0)
    .map(([noun, count]) => counted(count, noun));
  return parts.length === 0 ? "nothing" : parts.join(", ");
}

/** The number of resources by the name of their type. */
export type TypeCounts = readonly (readonly [type: string, count: number])[];

/** The number of a snapshot's resources by type, in delivery order. */
export function countsOfSnapshot(snapshot: Snapshot | undefined): TypeCounts {
  return ordered(Array.from(snapshot?.sets.values() ?? [], ({ type, size }) => [type, size]));
}

/** The number of resources by type, in delivery order. */
export function countsOfResources(resources: Iterable<Resource>): TypeCounts {
  const counts = new Map<ResourceType, number>();
  for (const { type } of resources) counts.set(type, (counts.get(type) ?? 0) + 1);
  return ordered([...counts]);
}

function ordered(counts: readonly (readonly [ResourceType, number])[]): TypeCounts {
  return counts
    .filter(([, count]) => count > 0)
    .sort(([a], [b]) => a.deliveryOrder - b.deliveryOrder)
    .map(([{ name }, count]) => [name, count] as const);
}
