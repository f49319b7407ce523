import { countDifferences, type ResourceSet, type TypeStatus } from "@xdskit/protocol";
import type { HeldBack } from "../../contracts/nodes/node-status.js";
import type { ReportedStream } from "../../contracts/nodes/reported-stream.js";

/** The snapshots between which a stream's group keeps something from it. */
export type HeldStream = Pick<ReportedStream, "newest" | "rollout" | "heldBackWhy">;

/**
 * What of a type the group of a stream keeps from it: nearly always nothing, which the sets show at once. `wanted`: its
 * target now.
 */
export function heldBackOf(
  { type, subscription }: TypeStatus,
  wanted: ResourceSet | undefined,
  { newest, rollout, heldBackWhy: why }: HeldStream,
): HeldBack | undefined {
  const last = newest?.of(type);
  if (wanted === undefined || last === undefined || wanted === last || wanted.version === last.version)
    return undefined;
  const resources = countDifferences(subscription, wanted, last);
  if (resources === 0) return undefined;
  if (why !== undefined) return { resources, quarantined: 0, rollout: undefined, why };
  const reached = rollout?.snapshot.of(type) ?? wanted;
  const quarantined = countDifferences(subscription, reached, last);
  return { resources, quarantined, rollout: reached.version === wanted.version ? undefined : rollout?.at };
}
