import type { ResourceType, TypeUrl } from "@xdskit/api";
import type { ResourceSet } from "../../model/sets/resource-set.js";
import type { Subscription } from "../../model/subscribed/subscription.js";
import { find } from "../state/find.js";

type Types = Pick<ReadonlySet<TypeUrl>, "has">;

/**
 * Whether a client may have resources of a type that are warming: it has asked for some that warm them (`warmers`),
 * such as endpoints for its clusters, and not for the type yet. Envoy asks for clusters on a new stream only once its
 * earlier ones are warm.
 */
export function mayBeWarming(
  { typeUrl, acknowledgedWarm, warmedBy }: ResourceType,
  asked: Types,
  warmers: Types = asked,
): boolean {
  return acknowledgedWarm && !asked.has(typeUrl) && warmedBy.some((one) => warmers.has(one));
}

/**
 * Whether clusters that a client has may be warming: it asks for their endpoints and for routes or listeners, and not
 * for clusters. Certain: it waits for endpoints that are not there.
 */
export type Warming = "no" | "possible" | "certain";

/** The same for all resources of these types (`warming`), by what the client asks for and what its sets have. */
export function warmingOf(
  sets: ReadonlyMap<TypeUrl, ResourceSet>,
  asked: ReadonlyMap<TypeUrl, Subscription>,
  warming: readonly ResourceType[],
): Warming {
  const warmers = new Set(warming.flatMap(({ warmedBy }) => warmedBy));
  // A client of endpoints alone has no routes that could break.
  if (warmers.size === 0 || [...asked.keys()].every((url) => warmers.has(url))) return "no";
  const isMissing = [...warmers].some((url) => {
    const set = sets.get(url);
    return [...(asked.get(url)?.names ?? [])].some((name) => set === undefined || find(set, name).length === 0);
  });
  return isMissing ? "certain" : "possible";
}
