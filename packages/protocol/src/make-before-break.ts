import {
  isCollection,
  type Reference,
  type Resource,
  type ResourceName,
  type ResourceType,
  refersTo,
  type TypeUrl,
} from "@xdskit/api";
import { changeBetween } from "./change.js";
import { isNamedBy } from "./named-by.js";
import { type ResourceSet, ResourceSets } from "./resource-set.js";
import { sharedBranch } from "./shared-branch.js";
import type { Snapshot } from "./snapshot.js";
import { calledName } from "./variant-index.js";
import { createWaits, type Wait } from "./wait.js";

/*
 * Make before break (rule 120), as a function of what one client may be using and what it is to have: which changes may be sent now, and which wait. A change that makes something
 * waits to be acknowledged before anything names it; a removal waits until nothing that the client may be using names what is removed. For example, where route `r` moves from cluster
 * `a` to `b`, and `a` goes: first `b` is sent, then, once it is acknowledged, `r`, and, once that is, the removal of `a`. The caller asks again after each answer; there is no state here.
 */

/** What is known of a client's use of one type. */
export interface InUse {
  readonly type: ResourceType;
  /** The set that the client was brought to on the stream that is asked for. Undefined for a type of its other streams, about which nothing is decided here. */
  readonly held: ResourceSet | undefined;
  /** By key, what the client uses instead of what it rejected; undefined as a value: nothing. */
  readonly instead: ReadonlyMap<ResourceName, Resource | undefined>;
  /** Every set that the client may be using now: the one that it acknowledged, those on their way, and what it rejected and may have taken in part. */
  readonly used: ReadonlySet<ResourceSet>;
  /** Listeners that were replaced or removed, as they were, and still serve connections. */
  readonly draining: ReadonlySet<Resource>;
  /**
   * Of a client with a wildcard: the sets that it acknowledged or will, on every stream that has one. What is not in all of them is new to it, and must be acknowledged before
   * something names it. Undefined for a client that asks by name, since it learns the names from what refers to them, and for one that acknowledged nothing yet.
   */
  readonly known: ReadonlySet<ResourceSet> | undefined;
  /** Nothing was sent of the type on this stream yet: the client may ask for what something of an earlier snapshot names. */
  readonly isFirst: boolean;
  /** The client has something of the type, or was sent something. What it is sent first is never held back: the client would wait for it, and serves nothing by it yet. */
  readonly isEstablished: boolean;
  /**
   * Where the type goes out on other streams: whether all of them that ask for this name have acknowledged it, and at least one asks, unless that was waited for long enough.
   * Undefined where the type is on the same stream or on none, where it has a wildcard, and where nothing is waited for any longer.
   */
  readonly isTaken: ((name: ResourceName) => boolean) | undefined;
}

/** How far a client may be brought now on its way to a snapshot. */
export interface Stage {
  /** The set that each type may be brought to; types that are not listed may be brought to that of the snapshot. */
  readonly targets: ReadonlyMap<TypeUrl, ResourceSet>;
  /** By type, the removed resources that stay for now, by key. */
  readonly retained: ReadonlyMap<TypeUrl, ReadonlyMap<ResourceName, Resource>>;
  /**
   * By type, the names of resources that are new or changed and wait: for now they stay as they were, or out. A client that asks for one of these anew gets no answer until then: the
   * old content may name what this client never had, and it would not be true that there is none. A resource that is retained it does get, since it uses something that names it.
   */
  readonly heldBack: ReadonlyMap<TypeUrl, ReadonlySet<ResourceName>>;
  /** What is held back and why. */
  readonly waits: readonly Wait[];
  /** The types whose acknowledgements are waited for. */
  readonly awaited: ReadonlySet<TypeUrl>;
}

/** The stage at which nothing is held back. */
export const wholeStage: Stage = {
  targets: new Map(),
  retained: new Map(),
  heldBack: new Map(),
  waits: [],
  awaited: new Set(),
};

/**
 * How far a client may be brought now from what it uses (`types`) to what it is to have, such that traffic never breaks (rule 120). All that is new or changed goes out, but for what
 * names something that the client has to warm first (withheld); and all removals, but for those of what something names that the client may still be using (retained). Asked again
 * after each acknowledgement, it gives the stages after; `planBetween` lists them. `earlier`: what the client was to have before, for types that are sent for the first time.
 *
 * What is removed although something of the wanted snapshot goes on to name it is not retained for that: that is what is wanted. Costs the differences between the sets, not the sets.
 */
export function stageOf(
  types: ReadonlyMap<TypeUrl, InUse>,
  wanted: Snapshot,
  earlier: readonly Snapshot[] = [],
): Stage {
  // What is removed; and what is new and must be acknowledged before something names it.
  const going = goingOf(types, wanted, earlier);
  const coming = comingOf(types, wanted);
  const isWarmedElsewhere = [...types.values()].some(({ isTaken }) => isTaken !== undefined);
  if (going.size === 0 && coming.size === 0 && !isWarmedElsewhere) return wholeStage;
  const retained = new Map<TypeUrl, Map<ResourceName, Resource>>();
  const withheld = new Map<TypeUrl, Map<ResourceName, Resource>>();
  const awaited = new Set<TypeUrl>();
  const waits = createWaits();

  const uses = new Map<Resource, Use>();
  const retain = (resource: Resource, use: Use): void => {
    const { cause, drains } = use;
    note(retained, resource);
    uses.set(resource, use);
    // `linger` waits until connections have drained, `break` for an acknowledgement.
    const kind = drains ? "linger" : "break";
    if (kind === "break") awaited.add(cause.type.typeUrl);
    waits.add(kind, resource, cause);
  };
  // An aggregate cluster and the clusters that it names are removed in one response, since they are of one type and may name each other. But while it stays, so do they: what
  // goes with a resource, by its type and key.
  const together = new Map<ResourceType, Map<ResourceName, Resource[]>>();

  for (const { type, used, draining } of going.size === 0 ? [] : types.values()) {
    for (const before of draining) {
      // It is an acknowledgement that is waited for where something still uses it: two processes may have one node id.
      if ([...used].some((set) => ResourceSets.get(set, before.key) === before)) continue;
      const after = ResourceSets.get(wanted.of(type), before.key);
      for (const resource of goingWith(before, after, going)) retain(resource, { cause: before, drains: true });
    }
  }
  for (const { type, held, used, isEstablished } of types.values()) {
    const current = wanted.of(type);
    if (going.size > 0) {
      // A removed resource stays that something in use names, unless what takes the place of that names it still.
      for (const set of used) {
        for (const { before, after } of changeBetween(set, current).differences.values()) {
          // Of what itself stays while connections drain, the rest follows below.
          if (before === undefined || uses.get(before)?.drains) continue;
          for (const resource of goingWith(before, after, going)) {
            const alsoGoes = resource.type === type && going.get(type.typeUrl)?.has(before);
            if (!alsoGoes) retain(resource, { cause: before, drains: false });
            else listIn(mapIn(together, type), before.key).push(resource);
          }
        }
      }
    }
    if ((coming.size > 0 || isWarmedElsewhere) && held !== undefined && isEstablished) {
      // A new or changed resource waits that names something the client does not have yet, or, on another stream, not warm.
      for (const resource of changeBetween(held, current).upserted) {
        for (const reference of resource.references) {
          const missing =
            coming.get(reference.type)?.get(reference.name) ??
            (isWarmedElsewhere && !isNamedBy(ResourceSets.get(held, resource.key), reference)
              ? coldOf(reference, types, wanted)
              : undefined);
          if (missing === undefined || missing.type === type) continue;
          note(withheld, resource);
          awaited.add(missing.type.typeUrl);
          waits.add("make", resource, missing);
        }
      }
    }
  }
  // What is withheld stays as it was, and the client may go on to use that, or ask for it only now: what it names stays with it.
  for (const [url, resources] of withheld) {
    for (const after of resources.values()) {
      const use = types.get(url);
      const before = use && stayingAs(use, after.key);
      if (before === undefined) continue;
      for (const resource of goingWith(before, after, going)) {
        if (!uses.has(resource)) retain(resource, { cause: before, drains: false });
      }
    }
  }
  // What is retained stays with all that it names. The map grows while it is gone through.
  for (const [staying, use] of uses) {
    const others = together.get(staying.type)?.get(staying.key) ?? [];
    for (const resource of [...others, ...goingWith(staying, undefined, going)]) {
      if (!uses.has(resource)) retain(resource, use);
    }
  }
  for (const url of retained.keys()) if (types.get(url)?.held === undefined) retained.delete(url);
  if (retained.size === 0 && withheld.size === 0) return wholeStage;
  const targets = new Map<TypeUrl, ResourceSet>();
  const heldBack = new Map<TypeUrl, Set<ResourceName>>();
  for (const [url, use] of types) {
    const { type, held } = use;
    if (held === undefined) continue;
    const changes = new Map<ResourceName, Resource | undefined>(retained.get(url));
    const names = new Set<ResourceName>();
    for (const [key, resource] of withheld.get(url) ?? []) {
      changes.set(key, stayingAs(use, key));
      names.add(calledName(resource));
    }
    if (names.size > 0) heldBack.set(url, names);
    if (changes.size > 0) targets.set(url, sharedBranch(wanted.of(type), changes));
  }
  return { targets, retained, heldBack, waits: waits.list(), awaited };
}

/** What stays for now under the key of a withheld resource: what the client uses or holds there; undefined for one that is new. */
function stayingAs({ held, instead }: InUse, key: ResourceName): Resource | undefined {
  // Where `instead` says that it uses nothing, since it rejected something new, it may have taken that all the same: it is not taken away.
  return instead.get(key) ?? (held && ResourceSets.get(held, key));
}

/** Of the resources that go, those that `before` names and that its successor `after` does not: what both name goes because that is wanted. */
function goingWith(
  before: Resource,
  after: Resource | undefined,
  going: ReadonlyMap<TypeUrl, Going>,
): readonly Resource[] {
  const found: Resource[] = [];
  for (const reference of before.references) {
    const named = going.get(reference.type)?.named(reference) ?? [];
    if (named.length > 0 && !isNamedBy(after, reference)) found.push(...named);
  }
  return found;
}

/**
 * The resource that a client has yet to acknowledge so that what is referred to is warm; undefined if there is none. Where each type has a stream of its own, a cluster is
 * acknowledged before it is warm, and its load assignment on another stream.
 */
function coldOf(
  { type: url, name }: Reference,
  types: ReadonlyMap<TypeUrl, InUse>,
  wanted: Snapshot,
): Resource | undefined {
  const type = types.get(url)?.type;
  if (type === undefined || !type.acknowledgedWarm) return undefined;
  for (const { references } of wanted.of(type).named(name)) {
    for (const reference of references) {
      const warming = type.warmedBy.includes(reference.type) ? types.get(reference.type) : undefined;
      if (warming?.isTaken === undefined) continue;
      const [warmer] = wanted.of(warming.type).named(reference.name);
      if (warmer !== undefined && !warming.isTaken(reference.name)) return warmer;
    }
  }
  return undefined;
}

function note(byType: Map<TypeUrl, Map<ResourceName, Resource>>, resource: Resource): void {
  mapIn(byType, resource.type.typeUrl).set(resource.key, resource);
}

function mapIn<Key, Inner, Value>(map: Map<Key, Map<Inner, Value>>, key: Key): Map<Inner, Value> {
  const known = map.get(key) ?? new Map<Inner, Value>();
  map.set(key, known);
  return known;
}

function listIn<Key, Value>(map: Map<Key, Value[]>, key: Key): Value[] {
  const known = map.get(key) ?? [];
  map.set(key, known);
  return known;
}

/** Why a removed resource stays: something that the client may be using names it. */
interface Use {
  readonly cause: Resource;
  /** It is used only by connections that drain. */
  readonly drains: boolean;
}

/** The resources of one type that a client has and is to have no more. */
interface Going {
  has(resource: Resource): boolean;
  named(reference: Reference): readonly Resource[];
}

/** By type, what the client has and is to have no more. */
function goingOf(
  types: ReadonlyMap<TypeUrl, InUse>,
  wanted: Snapshot,
  earlier: readonly Snapshot[],
): ReadonlyMap<TypeUrl, Going> {
  const going = new Map<TypeUrl, Going>();
  let drains = false;
  for (const { draining } of types.values()) drains ||= draining.size > 0;
  for (const [url, { type, held, used, instead, isFirst }] of types) {
    // Of what goes on other streams it matters only whether that stays because connections drain.
    if (held === undefined && !drains) continue;
    // Where a content was rejected, it is the one that the client uses that stays: sent again, the rejected one would be rejected again.
    const before = held === undefined ? [...used] : isFirst ? earlier.map((snapshot) => snapshot.of(type)) : [held];
    const removed = removedFrom(before, wanted.of(type)).map((resource) => instead.get(resource.key) ?? resource);
    if (removed.length === 0) continue;
    const byName = new Map<ResourceName, Resource[]>();
    for (const resource of removed) listIn(byName, calledName(resource)).push(resource);
    const named = (reference: Reference) =>
      isCollection(reference)
        ? removed.filter((resource) => refersTo(reference, url, calledName(resource)))
        : (byName.get(reference.name) ?? []);
    const keys = new Set(removed.map(({ key }) => key));
    going.set(url, { has: ({ key }) => keys.has(key), named });
  }
  return going;
}

/** What was in one of these sets and is not in the wanted one: each key once, as it was last. */
function removedFrom(before: readonly ResourceSet[], wanted: ResourceSet): readonly Resource[] {
  const [only] = before;
  if (only !== undefined && before.length === 1) return changeBetween(only, wanted).removed;
  const removed = new Map<ResourceName, Resource>();
  for (const set of before)
    for (const resource of changeBetween(set, wanted).removed) removed.set(resource.key, resource);
  return [...removed.values()];
}

/** By type and name, what the client is to have, has not acknowledged yet, and must have acknowledged before something names it. */
function comingOf(
  types: ReadonlyMap<TypeUrl, InUse>,
  wanted: Snapshot,
): ReadonlyMap<TypeUrl, ReadonlyMap<ResourceName, Resource>> {
  const coming = new Map<TypeUrl, Map<ResourceName, Resource>>();
  for (const [url, { type, known }] of types) {
    if (known === undefined || !type.acknowledgedWarm) continue;
    const added = new Map<ResourceName, Resource>();
    for (const set of known) {
      for (const { before, after } of changeBetween(set, wanted.of(type)).differences.values()) {
        if (before === undefined && after !== undefined) added.set(calledName(after), after);
      }
    }
    if (added.size > 0) coming.set(url, added);
  }
  return coming;
}
