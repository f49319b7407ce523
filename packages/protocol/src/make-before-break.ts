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

/** What is known of a client's use of one type. */
export interface InUse {
  readonly type: ResourceType;
  /** What it was last sent: what is not in there has nothing to wait for. Undefined for a type of another stream of it, of which nothing is decided here. */
  readonly held: ResourceSet | undefined;
  /** What it uses, by key, instead of what it rejected of that; nothing under a key: nothing. */
  readonly instead: ReadonlyMap<ResourceName, Resource | undefined>;
  /** Every set that it may be using now: what it acknowledged, what is on its way, what it rejected and may have taken in part. */
  readonly used: ReadonlySet<ResourceSet>;
  /** Sets of which the connections still drain that came by them. */
  readonly draining: ReadonlySet<ResourceSet>;
  /**
   * The sets that it acknowledged or will, where it takes whatever there is of the type: what is not in all of them is new to it, and must be acknowledged before
   * it is named. Undefined for a client that asks by name, since it learns the names from what refers to them, and for one that acknowledged nothing yet.
   */
  readonly known: readonly ResourceSet[] | undefined;
  /** Nothing was sent of the type yet: the client may ask for what it uses by an earlier snapshot. */
  readonly isFirst: boolean;
  /** It has something of the type, or soon will. What it is sent first is never held back: it serves nothing by it yet, and would wait. */
  readonly isEstablished: boolean;
  /**
   * Whether all other streams of the client that ask for this name have acknowledged it, and, unless that was waited for long enough, at least one asks. Undefined where the
   * type is on the same stream, on none, or was waited for long enough.
   */
  readonly isTaken: ((name: ResourceName) => boolean) | undefined;
}

/** How far a client may be brought now. */
export interface Stage {
  /** What each type is to be; types that are not listed may be brought to what the snapshot has. */
  readonly targets: ReadonlyMap<TypeUrl, ResourceSet>;
  /** By type, the removed resources that stay for now, by key. */
  readonly retained: ReadonlyMap<TypeUrl, ReadonlyMap<ResourceName, Resource>>;
  /**
   * By type, the names of what is new or changed and stays as it was, or out, for now. That is for those who have it: a client that asks for one of them anew is to
   * wait. What was there before may name what it never had, and that there is nothing is not true yet. What is retained it gets: it uses what names that, perhaps for long.
   */
  readonly heldBack: ReadonlyMap<TypeUrl, ReadonlySet<ResourceName>>;
  /** What is held back and why. */
  readonly waits: readonly Wait[];
  /** The types whose acknowledgements it waits for. */
  readonly awaited: ReadonlySet<TypeUrl>;
}

/** Nothing is held back. */
export const wholeStage: Stage = {
  targets: new Map(),
  retained: new Map(),
  heldBack: new Map(),
  waits: [],
  awaited: new Set(),
};

/**
 * The first stage of the way from what a client uses to what it is to have, such that traffic never breaks (rule 120): all that is new, but for what names something that
 * the client has to warm first; and the removal of what nothing names that the client may still be using. Asked again after
 * each acknowledgement, it gives the stages after; `planBetween` lists them.
 *
 * A removed resource whose name the wanted snapshot still uses goes at once: that is what is wanted. Costs the differences between the sets, not the sets.
 */
export function stageOf(
  types: ReadonlyMap<TypeUrl, InUse>,
  wanted: Snapshot,
  earlier: readonly Snapshot[] = [],
): Stage {
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
    // Only drained, or for an acknowledgement, too: that one is what is told.
    const kind = drains ? "linger" : "break";
    if (kind === "break") awaited.add(cause.type.typeUrl);
    waits.add(kind, resource, cause);
  };
  // One response takes away an aggregate cluster and those that it names, which may name it, too; but while it stays, so do they. By type and key of what names them.
  const together = new Map<ResourceType, Map<ResourceName, Resource[]>>();

  for (const { type, held, used, draining, isEstablished } of types.values()) {
    const current = wanted.of(type);
    if (going.size > 0) {
      for (const set of [...used, ...draining]) {
        for (const { before, after } of changeBetween(set, current).differences.values()) {
          if (before === undefined) continue;
          const use: Use = { cause: before, drains: draining.has(set) };
          for (const resource of goingWith(before, after, going)) {
            const alsoGoes = resource.type === type && going.get(type.typeUrl)?.has(before);
            if (!alsoGoes) retain(resource, use);
            else listIn(mapIn(together, type), before.key).push(resource);
          }
        }
      }
    }
    if ((coming.size > 0 || isWarmedElsewhere) && held !== undefined && isEstablished) {
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
  // What stays for now a client may first ask for now, whatever it was using before: it stays with all that it names.
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
  // Grows while it is gone through.
  for (const [staying, use] of uses) {
    const others = together.get(staying.type)?.get(staying.key) ?? [];
    for (const resource of [...others, ...goingWith(staying, undefined, going)]) {
      if (!uses.has(resource)) retain(resource, use);
    }
  }
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

/** What stays of a type for now under this key, in the place of what is withheld. */
function stayingAs({ held, instead }: InUse, key: ResourceName): Resource | undefined {
  // What it may have taken all the same is not taken from it.
  return instead.get(key) ?? (held && ResourceSets.get(held, key));
}

/** What goes of what a resource names, but for what that which takes its place still names: that is what is wanted. */
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
 * What a client has yet to take so that what is referred to is warm. On a stream of its own a type is acknowledged while it warms, and what warms it is acknowledged
 * elsewhere.
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

/** What names something that goes, and may be in use. */
interface Use {
  readonly cause: Resource;
  /** Only by connections that drain. */
  readonly drains: boolean;
}

/** The resources of one type that a client has and is to have no more. */
interface Going {
  has(resource: Resource): boolean;
  named(reference: Reference): readonly Resource[];
}

function goingOf(
  types: ReadonlyMap<TypeUrl, InUse>,
  wanted: Snapshot,
  earlier: readonly Snapshot[],
): ReadonlyMap<TypeUrl, Going> {
  const going = new Map<TypeUrl, Going>();
  for (const [url, { type, held, instead, isFirst }] of types) {
    if (held === undefined) continue;
    // Of what was rejected that stays which is in use: sent again, it is not what the client rejects.
    const before = isFirst ? earlier.map((snapshot) => snapshot.of(type)) : [held];
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

/** Each once, the newest that there was. */
function removedFrom(before: readonly ResourceSet[], wanted: ResourceSet): readonly Resource[] {
  const [only] = before;
  if (only !== undefined && before.length === 1) return changeBetween(only, wanted).removed;
  const removed = new Map<ResourceName, Resource>();
  for (const set of before)
    for (const resource of changeBetween(set, wanted).removed) removed.set(resource.key, resource);
  return [...removed.values()];
}

/** What a client is to have, has not acknowledged, and must have before something names it. */
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
