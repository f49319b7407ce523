import type { Resource, ResourceType, TypeUrl } from "@xdskit/api";
import { changeBetween, type Difference } from "./change.js";
import { type InUse, stageOf } from "./make-before-break.js";
import { namesLess } from "./named-by.js";
import type { ResourceSet } from "./resource-set.js";
import type { Snapshot } from "./snapshot.js";
import type { Wait } from "./wait.js";

/** The way of a client from one snapshot to another, as data. */
export interface Plan {
  /** In their order; none where nothing differs. */
  readonly stages: readonly PlanStage[];
  /** What is never sent, since it waits for itself, or for more than `mostStages` stages. Empty: the last stage ends at what is wanted. */
  readonly held: readonly Wait[];
}

/** What is sent together, and for what it waited. */
export interface PlanStage {
  /** What ended before it: of what the stage moves, which kept waiting for what (at most 100 names each). Empty for the first stage. */
  readonly after: readonly Wait[];
  /** By type, in order of delivery. */
  readonly changes: readonly TypeChange[];
}

/** What a stage does with one type. */
export interface TypeChange {
  readonly type: ResourceType;
  /** All that the client has of the type after it. */
  readonly set: ResourceSet;
  readonly added: readonly Resource[];
  /** As they were and as they are to be. */
  readonly changed: readonly (Difference & { readonly before: Resource; readonly after: Resource })[];
  /** As they were. */
  readonly removed: readonly Resource[];
}

/** More stages than that no plan has: a removal of more aggregate clusters, each within the other, is no plan to read. */
export const mostStages = 100;

/**
 * How a client is brought from one snapshot to another such that traffic never breaks (rule 120): `stageOf` again and again, for a client that asks for everything,
 * has `from`, and acknowledges each response. What a real one gets may come in more steps, since it answers type by type, and waits longer for what it still names.
 *
 * Costs what differs, in each stage, where one snapshot was derived from the other, and both snapshots where not. Neither is changed.
 */
export function planBetween(from: Snapshot, to: Snapshot): Plan {
  const clients = typesOf(from, to).map((type) => new IdealSubscriber(type, from.of(type)));
  const stages: PlanStage[] = [];
  let waited: readonly Wait[] = [];
  while (stages.length < mostStages) {
    const stage = stageOf(new Map(clients.map((one) => [one.type.typeUrl, one.use])), to);
    const changes = clients.flatMap((one) => one.bringTo(stage.targets.get(one.type.typeUrl) ?? to.of(one.type)));
    if (changes.length > 0) stages.push({ after: endedBy(changes, waited), changes });
    // Nothing to acknowledge: time goes by, until what was replaced has drained.
    else if (clients.every(({ draining }) => draining.length === 0)) return { stages, held: stage.waits };
    else for (const one of clients) one.drain();
    ({ waits: waited } = stage);
  }
  return { stages, held: waited };
}

function typesOf(from: Snapshot, to: Snapshot): readonly ResourceType[] {
  const types = new Map<TypeUrl, ResourceType>();
  for (const { sets } of [from, to]) for (const [url, { type }] of sets) types.set(url, type);
  return [...types.values()].sort((a, b) => a.deliveryOrder - b.deliveryOrder);
}

const rejectedNothing: InUse["instead"] = new Map();

/** What an ideal client has of one type: it has acknowledged all that it was sent before the next stage begins. */
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
    const known = type.emptyFirstRequest === "wildcard" ? new Set([this.#set]) : undefined;
    return {
      type,
      held: this.#set,
      used: new Set([this.#set]),
      draining: new Set(draining),
      known,
      instead: rejectedNothing,
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

  /** What takes its place is in use by then: it was sent all that it names, or none of it is to be had. */
  drain(): void {
    this.draining = [];
  }
}

function byKey(a: Difference, b: Difference): number {
  return a.key < b.key ? -1 : 1;
}

/** Of what was waited for before, that which let these changes go. */
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
