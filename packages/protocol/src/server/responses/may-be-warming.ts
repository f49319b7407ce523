import { isCollection, type Resource, type ResourceType, type TypeUrl } from "@xdskit/api";
import { WireReader } from "@xdskit/api/wire";
import { PerKey } from "../../model/basics/memo.js";
import { changeBetween } from "../../model/sets/change.js";
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
 * for clusters. Certain: it waits for endpoints that are not there. Until answered: its clusters wait for nothing but
 * endpoints that are there, so that they are warm once it has acknowledged those.
 */
export type Warming = "no" | "until answered" | "possible" | "certain";

/**
 * The same for all resources of these types (`warming`), by what the client asks for and what its sets have. `isSure`:
 * it has no others.
 */
export function warmingOf(
  sets: ReadonlyMap<TypeUrl, ResourceSet>,
  asked: ReadonlyMap<TypeUrl, Subscription>,
  warming: readonly ResourceType[],
  isSure: boolean,
): Warming {
  const warmers = new Set(warming.flatMap(({ warmedBy }) => warmedBy));
  // A client of endpoints alone has no routes that could break.
  if (warmers.size === 0 || [...asked.keys()].every((url) => warmers.has(url))) return "no";
  const isMissing = [...warmers].some((url) => {
    const set = sets.get(url);
    return [...(asked.get(url)?.names ?? [])].some((name) => set === undefined || find(set, name).length === 0);
  });
  if (isMissing) return "certain";
  const waitForMore = warming.some((type) => {
    const set = sets.get(type.typeUrl);
    return set !== undefined && waitingForMore(type, set).some((one) => mayHave(asked, type, one));
  });
  return isSure && !waitForMore ? "until answered" : "possible";
}

/** Whether a client may have a resource: it asks for what warms it. */
export function mayHave(
  asked: ReadonlyMap<TypeUrl, Subscription>,
  { warmedBy }: ResourceType,
  { references }: Resource,
): boolean {
  return references.every((one) => {
    if (isCollection(one) || !warmedBy.includes(one.type)) return true;
    const subscription = asked.get(one.type);
    return subscription === undefined || subscription.wildcard || subscription.names.has(one.name);
  });
}

const waiting = new PerKey<ResourceSet, readonly Resource[]>();

/** The resources of a set that may warm for more than resources of `warmedBy`: health checks, DNS, secrets. */
function waitingForMore(type: ResourceType, set: ResourceSet): readonly Resource[] {
  const known = waiting.get(set, type.typeUrl);
  return known ?? waiting.set(set, type.typeUrl, [...set].filter(waitsForMore));
}

/** Whether a client may have an earlier content, of these sets with the newest first, that warms for more. */
export function hadWaiting(
  asked: ReadonlyMap<TypeUrl, Subscription>,
  [newest, ...others]: readonly [ResourceSet, ...ResourceSet[]],
): boolean {
  for (const other of others)
    for (const { before } of changeBetween(other, newest).differences.values())
      if (before !== undefined && waitsForMore(before) && mayHave(asked, before.type, before)) return true;
  return false;
}

/** Whether a resource may warm for more than resources of `warmedBy`. */
function waitsForMore({ type: { warmedBy, warmingFields = [] }, references, body }: Resource): boolean {
  return (
    references.length === 0 || references.some((one) => !warmedBy.includes(one.type)) || hasField(body, warmingFields)
  );
}

function hasField(body: Uint8Array, fields: readonly number[]): boolean {
  for (const reader = new WireReader(body); !reader.atEnd; ) {
    const tag = reader.tag();
    if (fields.includes(tag >>> 3)) return true;
    reader.skip(tag);
  }
  return false;
}
