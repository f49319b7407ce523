import type { Resource, ResourceName, ResourceType } from "@xdskit/api";
import { mostNamesOfWait } from "../../model/limits.js";
import { type ResourceSet, ResourceSets } from "../../model/resource-set.js";
import { sharedBranch } from "../../model/shared-branch.js";
import type { Wait } from "../../planning/wait.js";
import type { GracePeriods, Subscriber } from "../state/subscriber.js";
import type { OrderingTimes } from "./ordering-times.js";

/**
 * The target of a stage, with those removed resources that nothing names any more, but that the client still asks for
 * by name. They stay until it asks for them no longer, at most `named` milliseconds: clients of gRPC use a cluster
 * until they have the endpoints of its successor, whatever they acknowledged (gRPC on the wire, 8). `retained`: removed
 * resources that are kept by the stage, by key; their time begins when it keeps them no longer.
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
  const grace: GracePeriods = subscriber.grace ?? new Map();
  for (const [key, resource] of retained ?? []) if (names.has(key)) grace.set(key, { resource, until: undefined });
  const kept = new Map<ResourceName, Resource>();
  for (const [key, each] of grace) {
    if (retained?.has(key)) continue;
    each.until ??= now + times.named;
    const isOver = each.until <= now || !names.has(key) || ResourceSets.get(target, key) !== undefined;
    if (isOver) grace.delete(key);
    else kept.set(key, each.resource);
  }
  subscriber.grace = grace.size === 0 ? undefined : grace;
  return kept.size === 0 ? target : sharedBranch(target, kept);
}

/** When the time of the first one is over, in milliseconds; `Infinity` for never. */
export function nextOfGrace(grace: GracePeriods | undefined): number {
  let next = Number.POSITIVE_INFINITY;
  for (const { until = next } of grace?.values() ?? []) next = Math.min(next, until);
  return next;
}

/** What stays only because the client asks for it, as waits of kind `named`. */
export function graceWaits(type: ResourceType, grace: GracePeriods): readonly Wait[] {
  const names: ResourceName[] = [];
  for (const { resource, until } of grace.values()) {
    if (until !== undefined && names.length < mostNamesOfWait) names.push(resource.name);
  }
  return names.length === 0 ? [] : [{ kind: "named", type, names, for: undefined }];
}
