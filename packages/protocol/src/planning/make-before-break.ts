import {
  isCollection,
  type Reference,
  type Resource,
  type ResourceName,
  type ResourceType,
  refersTo,
  type TypeUrl,
} from "@xdskit/api";
import { createWaits, type Wait } from "../model/basics/wait.js";
import { changeBetween } from "../model/sets/change.js";
import { type ResourceSet, ResourceSets } from "../model/sets/resource-set.js";
import { sharedBranch } from "../model/sets/shared-branch.js";
import { calledName } from "../model/sets/variant-index.js";
import type { Snapshot } from "../model/snapshots/snapshot.js";
import { isNamedBy } from "./named-by.js";

/*
 * Make before break (rule 120) as a function. From what one client may be using and the snapshot that it must get, it
 * says which changes may be sent now and which wait. A change waits until the client acknowledged everything that the
 * change names. A removal waits until nothing that the client may be using names the removed resource. For example,
 * route `r` moves from cluster `a` to `b`, and `a` goes: first `b` is sent; once that is acknowledged, `r`; and once
 * that is, the removal of `a`. The caller asks again after each answer; there is no state here.
 */

/** A client's use of one type, as far as the server knows. */
export interface InUse {
  readonly type: ResourceType;
  /**
   * The set that the stream in question last sent. Undefined for a type of the client's other streams: nothing is
   * decided about those here.
   */
  readonly sentSet: ResourceSet | undefined;
  /** By key, the last good content of rejected resources; the value undefined means that the client uses none. */
  readonly lastGood: ReadonlyMap<ResourceName, Resource | undefined>;
  /**
   * Every set that the client may be using now: the acknowledged one, those in flight, and those that it rejected and
   * may have taken in part.
   */
  readonly used: ReadonlySet<ResourceSet>;
  /**
   * Listeners that were replaced or removed, as they were, and still serve connections. For a client that came back,
   * also resources of other types that they led to.
   */
  readonly draining: ReadonlySet<Resource>;
  /**
   * For a client with a wildcard: the sets that it acknowledged or will, on every stream with a wildcard. A resource
   * that is not in all of them is new to the client, which must acknowledge it before something names it. Undefined for
   * a client that asks by name, since it learns the names from the resources that refer to them, and for one that has
   * acknowledged nothing yet.
   */
  readonly ackedOrInFlight: ReadonlySet<ResourceSet> | undefined;
  /**
   * Nothing of the type was sent on this stream yet: the client may ask for names that it knows from an earlier
   * snapshot.
   */
  readonly isFirst: boolean;
  /**
   * The client has or was sent something of the type. Its first response never waits: the client would wait for
   * it, and has no traffic yet that could break.
   */
  readonly isEstablished: boolean;
  /**
   * For a type that other streams carry: tells whether every stream that asks for a name has acknowledged it and at
   * least one asks, or the wait took too long. Undefined if the type is on the same stream or on none, if it has a
   * wildcard, and if the change waits for nothing any longer.
   */
  readonly isTaken: ((name: ResourceName) => boolean) | undefined;
}

/** The stage to which a client may be brought now on its way to a snapshot. */
export interface Stage {
  /** The set that each type may be brought to. Types that are not listed may be brought to the snapshot's set. */
  readonly targets: ReadonlyMap<TypeUrl, ResourceSet>;
  /** By type, the removed resources that stay for now, by key. */
  readonly retained: ReadonlyMap<TypeUrl, ReadonlyMap<ResourceName, Resource>>;
  /**
   * By type, the names of new or changed resources that wait: for now they stay as they were, or out. A client that
   * starts to ask for one of these gets no answer until then: the old content may name something that the client never
   * had, and an answer that there is none would not be true. It does get a retained resource, since it uses something
   * that names it.
   */
  readonly waiting: ReadonlyMap<TypeUrl, ReadonlySet<ResourceName>>;
  /** The resources that wait, and why. */
  readonly waits: readonly Wait[];
  /** The types whose acknowledgements the client's changes wait for. */
  readonly awaited: ReadonlySet<TypeUrl>;
}

/** The stage at which nothing waits. */
export const wholeStage: Stage = {
  targets: new Map(),
  retained: new Map(),
  waiting: new Map(),
  waits: [],
  awaited: new Set(),
};

/**
 * The stage to which a client may go now from its used sets (`types`) toward the wanted snapshot without breaking
 * traffic (rule 120). Every new or changed resource goes out, except one that names something which the client must
 * warm first: that waits. Every removal goes out, except of a resource that something in use still names: that is
 * retained. Called again after each acknowledgement, it gives the later stages; `planBetween` lists them. `earlier` are
 * the snapshots before, for types that are sent for the first time. `away`: types whose stream is about to come back;
 * what they warm is new to the client, as far as nobody knows.
 *
 * A resource that is removed although the wanted snapshot still names it is not retained for that: the configuration
 * says so. Costs the differences between the sets, not the sets.
 */
export function computeStage(
  types: ReadonlyMap<TypeUrl, InUse>,
  wanted: Snapshot,
  earlier: readonly Snapshot[] = [],
  away: readonly ResourceType[] = [],
): Stage {
  const going = goingOf(types, wanted, earlier);
  const coming = comingOf(types, wanted);
  const isWarmedElsewhere = away.length > 0 || [...types.values()].some(({ isTaken }) => isTaken !== undefined);
  if (going.size === 0 && coming.size === 0 && !isWarmedElsewhere) return wholeStage;
  const draft = new StageDraft(types, wanted, going, away);
  if (going.size > 0) for (const use of types.values()) draft.retainForDraining(use);
  for (const use of types.values()) {
    if (going.size > 0) draft.retainForUse(use);
    if (coming.size > 0 || isWarmedElsewhere) draft.makeWait(use, coming, isWarmedElsewhere);
  }
  draft.retainForWaiting();
  draft.retainForRetained();
  return draft.finish();
}

/** A stage while it is being worked out: the retained and the waiting resources, and why. */
class StageDraft {
  readonly #types: ReadonlyMap<TypeUrl, InUse>;
  readonly #wanted: Snapshot;
  readonly #going: ReadonlyMap<TypeUrl, Going>;
  readonly #away: readonly ResourceType[];
  readonly #retained = new Map<TypeUrl, Map<ResourceName, Resource>>();
  readonly #waiting = new Map<TypeUrl, Map<ResourceName, Resource>>();
  readonly #awaited = new Set<TypeUrl>();
  readonly #waits = createWaits();
  /** The retained resources, and the use that each is retained for. */
  readonly #uses = new Map<Resource, Use>();
  /**
   * By type and key, resources that stay if another of their type stays. An aggregate cluster and the clusters that it
   * names may be removed in one response. But while it stays, so must they.
   */
  readonly #together = new Map<ResourceType, Map<ResourceName, Resource[]>>();

  constructor(
    types: ReadonlyMap<TypeUrl, InUse>,
    wanted: Snapshot,
    going: ReadonlyMap<TypeUrl, Going>,
    away: readonly ResourceType[],
  ) {
    this.#types = types;
    this.#wanted = wanted;
    this.#going = going;
    this.#away = away;
  }

  #retain(resource: Resource, use: Use): void {
    const { cause, drains } = use;
    note(this.#retained, resource);
    this.#uses.set(resource, use);
    // `linger` waits until connections have drained, `break` for an acknowledgement.
    if (!drains) this.#awaited.add(cause.type.typeUrl);
    this.#waits.add(drains ? "linger" : "break", resource, cause);
  }

  /** Retains resources named by listeners that still drain. */
  retainForDraining({ draining }: InUse): void {
    for (const before of draining) {
      const used = this.#types.get(before.type.typeUrl)?.used ?? [];
      // If a stream still uses it, its acknowledgement counts: two processes may share one node id.
      if ([...used].some((set) => ResourceSets.get(set, before.key) === before)) continue;
      const after = ResourceSets.get(this.#wanted.of(before.type), before.key);
      for (const resource of goingWith(before, after, this.#going))
        this.#retain(resource, { cause: before, drains: true });
    }
  }

  /**
   * Retains resources that something in use names, unless its replacement still names them: then the configuration says
   * so.
   */
  retainForUse({ type, used }: InUse): void {
    for (const set of used) {
      for (const { before, after } of changeBetween(set, this.#wanted.of(type)).differences.values()) {
        // If this one stays because connections drain, `retainForRetained` handles the resources that it names.
        if (before === undefined || this.#uses.get(before)?.drains) continue;
        for (const resource of goingWith(before, after, this.#going)) {
          const alsoGoes = resource.type === type && this.#going.get(type.typeUrl)?.has(before);
          if (!alsoGoes) this.#retain(resource, { cause: before, drains: false });
          else listIn(mapIn(this.#together, type), before.key).push(resource);
        }
      }
    }
  }

  /**
   * Lets resources wait that name something which the client does not have yet, or has not warmed on another stream.
   */
  makeWait({ type, sentSet, isEstablished }: InUse, coming: Coming, isWarmedElsewhere: boolean): void {
    if (sentSet === undefined || !isEstablished) return;
    for (const resource of changeBetween(sentSet, this.#wanted.of(type)).upserted) {
      for (const reference of resource.references) {
        const missing =
          coming.get(reference.type)?.get(reference.name) ??
          (isWarmedElsewhere && !isNamedBy(ResourceSets.get(sentSet, resource.key), reference)
            ? (coldOf(reference, this.#types, this.#wanted) ?? this.#awayOf(reference))
            : undefined);
        // A new cluster of new clusters comes with them, since nothing uses it before the client has them all.
        if (missing === undefined || (missing.type === type && !ResourceSets.get(sentSet, resource.key))) continue;
        note(this.#waiting, resource);
        this.#awaited.add(missing.type.typeUrl);
        this.#waits.add("make", resource, missing);
      }
    }
  }

  #awayOf({ type: url, name }: Reference): Resource | undefined {
    const type = this.#away.find(({ typeUrl }) => typeUrl === url);
    return type && this.#wanted.of(type).named(name)[0];
  }

  /**
   * A waiting resource stays as it was. The client goes on to use that, or starts to: the resources that it names stay
   * with it.
   */
  retainForWaiting(): void {
    for (const [url, resources] of this.#waiting) {
      for (const after of resources.values()) {
        const use = this.#types.get(url);
        const before = use && stayingAs(use, after.key);
        if (before === undefined) continue;
        for (const resource of goingWith(before, after, this.#going)) {
          if (!this.#uses.has(resource)) this.#retain(resource, { cause: before, drains: false });
        }
      }
    }
  }

  /** A retained resource stays with everything that it names. The map grows during the loop. */
  retainForRetained(): void {
    for (const [staying, use] of this.#uses) {
      const others = this.#together.get(staying.type)?.get(staying.key) ?? [];
      for (const resource of [...others, ...goingWith(staying, undefined, this.#going)]) {
        if (!this.#uses.has(resource)) this.#retain(resource, use);
      }
    }
  }

  finish(): Stage {
    const retained = this.#retained;
    for (const url of retained.keys()) if (this.#types.get(url)?.sentSet === undefined) retained.delete(url);
    if (retained.size === 0 && this.#waiting.size === 0) return wholeStage;
    const targets = new Map<TypeUrl, ResourceSet>();
    const waiting = new Map<TypeUrl, Set<ResourceName>>();
    for (const [url, use] of this.#types) {
      if (use.sentSet === undefined) continue;
      const changes = new Map<ResourceName, Resource | undefined>(retained.get(url));
      const names = new Set<ResourceName>();
      for (const [key, resource] of this.#waiting.get(url) ?? []) {
        changes.set(key, stayingAs(use, key));
        names.add(calledName(resource));
      }
      if (names.size > 0) waiting.set(url, names);
      if (changes.size > 0) targets.set(url, sharedBranch(this.#wanted.of(use.type), changes));
    }
    return { targets, retained, waiting, waits: this.#waits.list(), awaited: this.#awaited };
  }
}

/**
 * The content that stays for now under the key of a waiting resource: the one that the client uses or was sent;
 * undefined for a new resource.
 */
function stayingAs({ sentSet, lastGood }: InUse, key: ResourceName): Resource | undefined {
  // A client that rejected something new has no last good content of it. It may have taken the new one in part, so that
  // stays.
  return lastGood.get(key) ?? (sentSet && ResourceSets.get(sentSet, key));
}

/**
 * The removed resources that `before` names and its successor `after` does not. A resource that both name is removed
 * because the configuration says so.
 */
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
 * The resource that a client must still acknowledge before the target of a reference is warm; undefined if there is
 * none. With one stream for each type, a client acknowledges a cluster before it is warm, and the load assignment on
 * another stream.
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

/** The resources of one type that a client has and must lose. */
interface Going {
  has(resource: Resource): boolean;
  named(reference: Reference): readonly Resource[];
}

/** By type, the resources that the client has and must lose. */
function goingOf(
  types: ReadonlyMap<TypeUrl, InUse>,
  wanted: Snapshot,
  earlier: readonly Snapshot[],
): ReadonlyMap<TypeUrl, Going> {
  const going = new Map<TypeUrl, Going>();
  let drains = false;
  for (const { draining } of types.values()) drains ||= draining.size > 0;
  for (const [url, { type, sentSet, used, lastGood, isFirst }] of types) {
    // Of types on other streams, only those matter that stay because connections drain.
    if (sentSet === undefined && !drains) continue;
    // If the client rejected a content, the one that it uses stays: it would reject the other one again.
    const before =
      sentSet === undefined ? [...used] : isFirst ? earlier.map((snapshot) => snapshot.of(type)) : [sentSet];
    const removed = removedFrom(before, wanted.of(type)).map((resource) => lastGood.get(resource.key) ?? resource);
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

/** The resources of these sets that the wanted set lacks: each key once, with its last content. */
function removedFrom(before: readonly ResourceSet[], wanted: ResourceSet): readonly Resource[] {
  const [only] = before;
  if (only !== undefined && before.length === 1) return changeBetween(only, wanted).removed;
  const removed = new Map<ResourceName, Resource>();
  for (const set of before)
    for (const resource of changeBetween(set, wanted).removed) removed.set(resource.key, resource);
  return [...removed.values()];
}

type Coming = ReadonlyMap<TypeUrl, ReadonlyMap<ResourceName, Resource>>;

/** By type and name, the resources that the client must get and acknowledge before something names them. */
function comingOf(types: ReadonlyMap<TypeUrl, InUse>, wanted: Snapshot): Coming {
  const coming = new Map<TypeUrl, Map<ResourceName, Resource>>();
  for (const [url, { type, ackedOrInFlight }] of types) {
    if (ackedOrInFlight === undefined || !type.acknowledgedWarm) continue;
    const added = new Map<ResourceName, Resource>();
    for (const set of ackedOrInFlight) {
      for (const { before, after } of changeBetween(set, wanted.of(type)).differences.values()) {
        if (before === undefined && after !== undefined) added.set(calledName(after), after);
      }
    }
    if (added.size > 0) coming.set(url, added);
  }
  return coming;
}
