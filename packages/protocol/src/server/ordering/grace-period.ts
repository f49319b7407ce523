import { maxFindings, type Resource, type ResourceName, type ResourceType } from "@xdskit/api";
import type { Wait } from "../../model/basics/wait.js";
import { changeBetween } from "../../model/sets/change.js";
import { type ResourceSet, ResourceSets } from "../../model/sets/resource-set.js";
import { sharedBranch } from "../../model/sets/shared-branch.js";
import type { Snapshot } from "../../model/snapshots/snapshot.js";
import type { Stage } from "../../planning/make-before-break.js";
import type { GracePeriod, GracePeriods, Subscriber } from "../state/subscriber.js";
import type { OrderingTimes } from "./ordering-times.js";

/**
 * Adds removed resources to the target of a stage: those that nothing names any more, but that the client still asks
 * for by name. They stay until it no longer asks, at most `named` milliseconds. gRPC's clients use a cluster until they
 * have the endpoints of its successor, whatever they acknowledged (gRPC on the wire, 8). `retained`: by key, the
 * removed resources that the stage keeps. Their time begins when the stage no longer keeps them.
 */
export function withGrace(
  subscriber: Subscriber,
  target: ResourceSet,
  retained: ReadonlyMap<ResourceName, Resource> | undefined,
  now: number,
  times: OrderingTimes,
): ResourceSet {
  const { names } = subscriber.subscription;
  if (subscriber.grace === undefined && (retained === undefined || names.size === 0)) return target;
  const grace = new Map<ResourceName, GracePeriod>();
  const kept = new Map<ResourceName, Resource>();
  for (const [key, { resource, until = now + times.named }] of subscriber.grace ?? []) {
    if (retained?.has(key) || until <= now || !names.has(key) || ResourceSets.get(target, key) !== undefined) continue;
    grace.set(key, { resource, until });
    kept.set(key, resource);
  }
  for (const [key, resource] of retained ?? []) if (names.has(key)) grace.set(key, { resource, until: undefined });
  subscriber.grace = grace.size === 0 ? undefined : grace;
  return kept.size === 0 ? target : sharedBranch(target, kept);
}

/**
 * The set of one type that a client must have to be in sync. It is the target. If the client was sent the target and
 * besides only removed resources that stay for now, and the stream waits for no answer, it is the set that was sent.
 * Removed resources stay while connections drain, or while the client asks for them.
 */
export function inSyncSet(
  { type, grace, sent: { set: sentSet } }: Subscriber,
  wanted: Snapshot,
  stage: Stage | undefined,
): ResourceSet {
  const current = wanted.of(type);
  if (sentSet === current) return current;
  const retained = stage?.awaited.size === 0 ? stage.retained.get(type.typeUrl) : undefined;
  if (retained === undefined && grace === undefined) return current;
  const { upserted, removed } = changeBetween(sentSet, current);
  const stay = ({ key }: Resource) => retained?.has(key) === true || grace?.get(key)?.until !== undefined;
  return upserted.length === 0 && removed.every(stay) ? sentSet : current;
}

/** When the first grace period ends, in milliseconds; `Infinity` for never. */
export function nextOfGrace(grace: GracePeriods | undefined): number {
  let next = Number.POSITIVE_INFINITY;
  for (const { until = next } of grace?.values() ?? []) next = Math.min(next, until);
  return next;
}

/** The resources that stay only because the client asks for them, as waits of kind `named`. */
export function graceWaits(type: ResourceType, grace: GracePeriods): readonly Wait[] {
  const names: ResourceName[] = [];
  for (const { resource, until } of grace.values()) {
    if (until !== undefined && names.length < maxFindings) names.push(resource.name);
  }
  return names.length === 0 ? [] : [{ kind: "named", type, names, for: undefined }];
}
