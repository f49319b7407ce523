import type { Resource, ResourceType, TypeUrl } from "@xdskit/api";
import type { Wait } from "../model/basics/wait.js";
import { changeBetween, type Difference } from "../model/sets/change.js";
import type { ResourceSet } from "../model/sets/resource-set.js";
import { namesLess } from "../model/snapshots/named-by.js";
import type { Snapshot } from "../model/snapshots/snapshot.js";
import type { InUse } from "./in-use.js";
import { computeStage } from "./make-before-break.js";

/** The way of a client from one snapshot to another, as data. */
export interface Plan {
  /** In their order; none if nothing differs. */
  readonly stages: readonly PlanStage[];
  /**
   * Changes that are never sent, because they wait for themselves, or for more than `maxStages` stages. Empty: the
   * last stage ends at the wanted snapshot.
   */
  readonly waits: readonly Wait[];
}

/** Changes that are sent together, and their waits. */
export interface PlanStage {
  /**
   * The waits that ended before this stage, for the resources that it changes (at most 100 names each). Empty for the
   * first stage.
   */
  readonly after: readonly Wait[];
  /** By type, in order of delivery. */
  readonly changes: readonly TypeChange[];
}

/** The changes of one type in a stage. */
export interface TypeChange {
  readonly type: ResourceType;
  /** All that the client has of the type after the stage. */
  readonly set: ResourceSet;
  readonly added: readonly Resource[];
  /** Before and after. */
  readonly changed: readonly (Difference & { readonly before: Resource; readonly after: Resource })[];
  /** As they were. */
  readonly removed: readonly Resource[];
}

/** A plan has no more stages than this. It takes a removal of that many nested aggregate clusters to get there. */
export const maxStages = 100;

/**
 * The way of a client from one snapshot to another without breaking traffic (rule 120): `computeStage` again and again,
 * for a client that asks for everything, has `from`, and acknowledges each response. A real client may get it in more
 * steps, since it answers type by type, and waits longer for resources that it still names.
 *
 * Each stage costs the differences if one snapshot was derived from the other, and the size of both if not. Neither is
 * changed.
 */
export function planBetween(from: Snapshot, to: Snapshot): Plan {
  const clients = typesOf(from, to).map((type) => new IdealSubscriber(type, from.of(type)));
  const stages: PlanStage[] = [];
  let waited: readonly Wait[] = [];
  while (stages.length < maxStages) {
    const stage = computeStage(new Map(clients.map((one) => [one.type.typeUrl, one.use])), to);
    const changes = clients.flatMap((one) => one.bringTo(stage.targets.get(one.type.typeUrl) ?? to.of(one.type)));
    if (changes.length > 0) stages.push({ after: endedBy(changes, waited), changes });
    // Nothing to acknowledge: time passes until the replaced listeners have drained.
    else if (clients.every(({ draining }) => draining.length === 0)) return { stages, waits: stage.waits };
    else for (const one of clients) one.drain();
    ({ waits: waited } = stage);
  }
  return { stages, waits: waited };
}

function typesOf(from: Snapshot, to: Snapshot): readonly ResourceType[] {
  const types = new Map<TypeUrl, ResourceType>();
  for (const { sets } of [from, to]) for (const [url, { type }] of sets) types.set(url, type);
  return [...types.values()].sort((a, b) => a.deliveryOrder - b.deliveryOrder);
}

const rejectedNothing: InUse["lastGood"] = new Map();

/** One type of an ideal client, which acknowledges everything that it was sent before the next stage begins. */
class IdealSubscriber {
  readonly type: ResourceType;
  #set: ResourceSet;
  draining: readonly Resource[] = [];

  constructor(type: ResourceType, set: ResourceSet) {
    this.type = type;
    this.#set = set;
  }

  get use(): InUse {
    const { type, draining } = this;
    const ackedOrInFlight = type.emptyFirstRequest === "wildcard" ? new Set([this.#set]) : undefined;
    return {
      type,
      sentSet: this.#set,
      used: new Set([this.#set]),
      draining: new Set(draining),
      ackedOrInFlight,
      lastGood: rejectedNothing,
      isFirst: false,
      isEstablished: true,
      isTaken: undefined,
    };
  }

  bringTo(set: ResourceSet): readonly TypeChange[] {
    const { differences } = changeBetween(this.#set, set);
    this.#set = set;
    if (differences.size === 0) return [];
    const added: Resource[] = [];
    const changed: TypeChange["changed"][number][] = [];
    const removed: Resource[] = [];
    const replaced: Resource[] = [];
    for (const { key, before, after } of [...differences.values()].sort(byKey)) {
      if (before !== undefined && after !== undefined) changed.push({ key, before, after });
      else if (after !== undefined) added.push(after);
      else if (before !== undefined) removed.push(before);
      if (before !== undefined && namesLess(before, after)) replaced.push(before);
    }
    if (this.type.drains) this.draining = [...this.draining, ...replaced];
    return [{ type: this.type, set, added, changed, removed }];
  }

  /** By then the replacement is in use: the client was sent everything that it names, or there is none of it. */
  drain(): void {
    this.draining = [];
  }
}

function byKey(a: Difference, b: Difference): number {
  return a.key < b.key ? -1 : 1;
}

/** The earlier waits whose end let these changes go. */
function endedBy(changes: readonly TypeChange[], waited: readonly Wait[]): readonly Wait[] {
  return waited.flatMap((wait) => {
    const change = changes.find(({ type }) => type === wait.type);
    if (change === undefined) return [];
    const moved = new Set(
      [...change.added, ...change.changed.map(({ after }) => after), ...change.removed].map(({ name }) => name),
    );
    const names = wait.names.filter((name) => moved.has(name)).sort();
    return names.length === 0
      ? []
      : [{ ...wait, names, for: wait.for && { ...wait.for, names: [...wait.for.names].sort() } }];
  });
}
