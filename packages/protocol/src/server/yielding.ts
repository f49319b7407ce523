import type { Resource, ResourceName, ResourceType } from "@xdskit/api";
import { type ResourceSet, ResourceSets } from "../resource-set.js";
import { sharedBranch } from "../shared-branch.js";
import { mostNamesOfWait, type Wait } from "../wait.js";
import type { OrderingTimes } from "./ordering-times.js";
import type { Subscriber, Yielding } from "./subscriber.js";

/**
 * The target of a stage, with those removed resources that nothing names any more, but that the client still asks for by name. They stay until it asks for them no longer, at most
 * `named` milliseconds: clients of gRPC use a cluster until they have the endpoints of its successor, whatever they acknowledged (gRPC on the wire, 8). `retained`: removed resources that
 * are kept by the stage, by key; their time begins when it keeps them no longer.
 */
export function yieldTo(
  subscriber: Subscriber,
  target: ResourceSet,
  retained: ReadonlyMap<ResourceName, Resource> | undefined,
  now: number,
  times: OrderingTimes,
): ResourceSet {
  const { names } = subscriber.subscription;
  if (subscriber.yielding === undefined && (retained === undefined || names.size === 0)) return target;
  const yielding: Yielding = subscriber.yielding ?? new Map();
  for (const [key, resource] of retained ?? []) if (names.has(key)) yielding.set(key, { resource, until: undefined });
  const kept = new Map<ResourceName, Resource>();
  for (const [key, each] of yielding) {
    if (retained?.has(key)) continue;
    each.until ??= now + times.named;
    const isOver = each.until <= now || !names.has(key) || ResourceSets.get(target, key) !== undefined;
    if (isOver) yielding.delete(key);
    else kept.set(key, each.resource);
  }
  subscriber.yielding = yielding.size === 0 ? undefined : yielding;
  return kept.size === 0 ? target : sharedBranch(target, kept);
}

/** When the time of the first one is over, in milliseconds; `Infinity` for never. */
export function nextOfYielding(yielding: Yielding | undefined): number {
  let next = Number.POSITIVE_INFINITY;
  for (const { until = next } of yielding?.values() ?? []) next = Math.min(next, until);
  return next;
}

/** What stays only because the client asks for it, as waits of kind `named`. */
export function yieldingWaits(type: ResourceType, yielding: Yielding): readonly Wait[] {
  const names: ResourceName[] = [];
  for (const { resource, until } of yielding.values()) {
    if (until !== undefined && names.length < mostNamesOfWait) names.push(resource.name);
  }
  return names.length === 0 ? [] : [{ kind: "named", type, names, for: undefined }];
}
