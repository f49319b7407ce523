import type { Reference, Resource, ResourceName, ResourceType, TypeUrl } from "@xdskit/api";
import { createMergedWaits, isForAnswer, type Wait } from "../model/basics/wait.js";
import { changeBetween } from "../model/sets/change.js";
import { type ResourceSet, ResourceSets } from "../model/sets/resource-set.js";
import { sharedBranch } from "../model/sets/shared-branch.js";
import { calledName } from "../model/sets/variant-index.js";
import { isNamedBy } from "../model/snapshots/named-by.js";
import type { Snapshot } from "../model/snapshots/snapshot.js";
import { type Coming, comingOf, type Going, goingOf, listIn } from "./going-and-coming.js";
import type { InUse } from "./in-use.js";

/*
 * Make before break (rule 120) as a function. From what one client may be using and the snapshot that it must get, it
 * says which changes may be sent now and which wait. A change waits until the client acknowledged everything that the
 * change names. A removal waits until nothing that the client may be using names the removed resource. For example,
 * route `r` moves from cluster `a` to `b`, and `a` goes: first `b` is sent; once that is acknowledged, `r`; and once
 * that is, the removal of `a`. The caller asks again after each answer; there is no state here.
 */

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
  /** The resources that wait, and why: of the types on this stream. */
  readonly waits: readonly Wait[];
  /** The types whose acknowledgements these wait for. */
  readonly awaited: ReadonlySet<TypeUrl>;
  /**
   * The resources that wait on all streams of the client, and why. When one of these waits ends, the stage may be
   * another one.
   */
  readonly clientWaits: readonly Wait[];
}

/** The stage at which nothing waits. */
export const wholeStage: Stage = {
  targets: new Map(),
  retained: new Map(),
  waiting: new Map(),
  waits: [],
  awaited: new Set(),
  clientWaits: [],
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
  // What connections that drain lead to waits for them alone: no answer of the client is due for that.
  draft.retainForRetained();
  for (const use of types.values()) {
    if (going.size > 0) draft.retainForUse(use);
    if (coming.size > 0 || isWarmedElsewhere) draft.makeWait(use, coming, isWarmedElsewhere);
  }
  draft.retainForWaiting();
  draft.releaseCircles();
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
  /** What waits, and for what. Some of that may be released again. */
  readonly #waits: WaitingResource[] = [];
  /** The retained resources, and the use that each is retained for. */
  readonly #uses = new Map<Resource, StayReason>();
  /** They go, although something that stays for now names them (`releaseCircles`). */
  readonly #released = new Set<Resource>();
  /**
   * By type and key, resources that stay if another of their type stays. An aggregate cluster and the clusters that it
   * names may be removed in one response. But while it stays, so must they.
   */
  readonly #together = new Map<ResourceType, Map<ResourceName, Resource[]>>();
  /** The results of `#awayBehind`: many listeners may share routes. */
  readonly #behindAll = new Map<Resource, Resource | undefined>();

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

  #retain(resource: Resource, use: StayReason): void {
    const { cause, drains } = use;
    note(this.#retained, resource);
    this.#uses.set(resource, use);
    // `linger` waits until connections have drained, `break` for an acknowledgement.
    this.#waits.push({ kind: drains ? "linger" : "break", waiting: resource, cause });
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
    const listeners = [...coming].find(([url]) => this.#types.get(url)?.type.drains)?.[1];
    for (const resource of changeBetween(sentSet, this.#wanted.of(type)).upserted) {
      const before = ResourceSets.get(sentSet, resource.key);
      for (const reference of resource.references) {
        const missing =
          coming.get(reference.type)?.get(reference.name) ??
          (isNamedBy(before, reference) ? undefined : this.#behind(reference, listeners, isWarmedElsewhere));
        if (missing === undefined) continue;
        // A new cluster of new clusters comes with them, and before the internal listeners that it leads to: nothing
        // uses it before the client has them all.
        if (before === undefined && type.deliveryOrder <= missing.type.deliveryOrder) continue;
        note(this.#waiting, resource);
        this.#waits.push({ kind: "make", waiting: resource, cause: missing });
      }
    }
  }

  /** What the client lacks of all that something which it has needs to serve. */
  #behind(reference: Reference, listeners: ByName | undefined, isWarmedElsewhere: boolean): Resource | undefined {
    const cold = isWarmedElsewhere
      ? (coldOf(reference, this.#types, this.#wanted) ?? this.#awayOf(reference))
      : undefined;
    return cold ?? (listeners && this.#listenerBehind(reference, listeners));
  }

  /** The new internal listener to which a resource leads by way of others: clusters, and their endpoints. */
  #listenerBehind({ type: url, name }: Reference, listeners: ByName, seen = new Set<Resource>()): Resource | undefined {
    const type = this.#types.get(url)?.type;
    if (type?.drains) return listeners.get(name);
    for (const resource of type === undefined ? [] : this.#wanted.of(type).named(name)) {
      if (seen.has(resource)) continue;
      seen.add(resource);
      for (const next of resource.references) {
        const found = this.#listenerBehind(next, listeners, seen);
        if (found !== undefined) return found;
      }
    }
    return undefined;
  }

  /**
   * The cluster to which a reference leads while the stream of clusters is away. A new listener counts with its routes:
   * it would take over before they may come.
   */
  #awayOf({ type: url, name }: Reference): Resource | undefined {
    const isAway = this.#away.some(({ typeUrl }) => typeUrl === url);
    for (const resource of this.#wanted.sets.get(url)?.named(name) ?? []) {
      const found = isAway ? resource : this.#awayBehind(resource);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #awayBehind(resource: Resource): Resource | undefined {
    if (this.#behindAll.has(resource)) return this.#behindAll.get(resource);
    // What leads to itself does so by way of a cluster, which ends the search.
    this.#behindAll.set(resource, undefined);
    for (const next of resource.references) {
      const found = this.#awayOf(next);
      if (found === undefined) continue;
      this.#behindAll.set(resource, found);
      return found;
    }
    return undefined;
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

  /**
   * Resources that are removed together, and that only each other name, would wait for each other for ever, such as an
   * internal listener and the cluster through which it leads to itself. The listeners of them go first: what they name
   * stays while they drain.
   */
  releaseCircles(): void {
    for (;;) {
      const circles = this.#retainedByEachOther();
      if (circles.length === 0) return;
      const listeners = circles.filter(({ type }) => type.drains);
      for (const resource of listeners.length > 0 ? listeners : circles) {
        this.#released.add(resource);
        this.#uses.delete(resource);
        this.#retained.get(resource.type.typeUrl)?.delete(resource.key);
      }
    }
  }

  /** The retained resources that no use outside of them retains. */
  #retainedByEachOther(): readonly Resource[] {
    const retained = new Set(this.#uses.keys());
    let before: number;
    do {
      before = retained.size;
      for (const { kind, waiting, cause } of this.#waits)
        if (kind === "linger" || (kind === "break" && !retained.has(cause))) retained.delete(waiting);
    } while (retained.size < before);
    return [...retained];
  }

  /** A retained resource stays with everything that it names. The map grows during the loop. */
  retainForRetained(): void {
    for (const [staying, use] of this.#uses) {
      const others = this.#together.get(staying.type)?.get(staying.key) ?? [];
      for (const resource of [...others, ...goingWith(staying, undefined, this.#going)]) {
        if (!this.#uses.has(resource) && !this.#released.has(resource)) this.#retain(resource, use);
      }
    }
  }

  finish(): Stage {
    const retained = this.#retained;
    for (const [url, { size }] of retained)
      if (size === 0 || this.#types.get(url)?.sentSet === undefined) retained.delete(url);
    if (retained.size === 0 && this.#waiting.size === 0) return wholeStage;
    const merged = createMergedWaits();
    for (const { kind, waiting, cause } of this.#waits)
      if (kind === "make" || this.#uses.has(waiting)) merged.add(kind, waiting, cause);
    const clientWaits = merged.list();
    const waits = clientWaits.filter(({ type }) => this.#types.get(type.typeUrl)?.sentSet !== undefined);
    const awaited = new Set<TypeUrl>();
    for (const wait of waits) if (isForAnswer(wait) && wait.for !== undefined) awaited.add(wait.for.type.typeUrl);
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
    return { targets, retained, waiting, waits, awaited, clientWaits };
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

type ByName = ReadonlyMap<ResourceName, Resource>;

/** A resource that waits, or stays, and what for. */
interface WaitingResource {
  readonly kind: Wait["kind"];
  readonly waiting: Resource;
  readonly cause: Resource;
}

/** Why a removed resource stays: something that the client may be using names it. */
interface StayReason {
  readonly cause: Resource;
  /** It is used only by connections that drain. */
  readonly drains: boolean;
}
