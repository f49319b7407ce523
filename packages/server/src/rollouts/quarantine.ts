import type { Resource, Version } from "@xdskit/api";
import type { Snapshot } from "@xdskit/protocol";
import type { QuarantineCause } from "../contracts/quarantined.js";
import { idOf, type Keyed, type Overrides, resourceIn } from "./overrides.js";

/** A content of one resource that is kept from the streams of a group. */
export interface QuarantineEntry extends Keyed {
  /** Of the content that is kept from them; undefined: that the resource is gone. */
  readonly version: Version | undefined;
  /** What they have in its place; undefined: nothing. */
  readonly instead: Resource | undefined;
  readonly cause: QuarantineCause;
  /**
   * Entries that share it are in quarantine because one of them is at fault, and it is not known which: when one ends,
   * all do.
   */
  readonly suspicion: object | undefined;
  /** It is kept from members of a higher order, which came later. -1: from all. */
  readonly after: number;
  readonly since: Date;
  /** The node that rejected it, and its message; empty if none did. */
  readonly node: string;
  readonly message: string;
}

/** The contents that are kept from some or all streams of a group, each until the resource has another content. */
export interface Quarantine {
  readonly entries: Iterable<QuarantineEntry>;
  readonly size: number;
  has(keyed: Keyed, version: Version | undefined): boolean;
  find(keyed: Keyed, version: Version | undefined): QuarantineEntry | undefined;
  /** Ignores contents that are there already. */
  add(entries: Iterable<QuarantineEntry>): readonly QuarantineEntry[];
  delete(entries: Iterable<QuarantineEntry>): readonly QuarantineEntry[];
  /** Ends it for contents that are no longer anyone's target; `undo` holds what some get instead of the newest. */
  settle(newest: Snapshot, undo: Overrides | undefined): readonly QuarantineEntry[];
  /** Lays it over the snapshot of a member of that order: the newest, except for `overrides`. */
  lay(overrides: Overrides, newest: Snapshot, order: number): void;
  /** Whether any of these resources, as the newest has it, is kept from a member of that order. */
  keeps(resources: Overrides, newest: Snapshot, order: number): boolean;
  /** Equal for orders that it makes no difference between. */
  classOf(order: number): number;
  /** An order of each class but that of those for whom nothing is in quarantine. */
  readonly orders: readonly number[];
}

export function createQuarantine(): Quarantine {
  /** With the id of each: all are looked at with each change, and to make an id costs more than to look. */
  const entries = new Map<QuarantineEntry, string>();
  const byId = new Map<string, Map<Version | undefined, QuarantineEntry>>();
  const find = (id: string, version: Version | undefined) => byId.get(id)?.get(version);
  let steps: readonly number[] | undefined;
  /** Each `after` that there is, ascending; there are few. Found anew when it is asked for. */
  function stepsNow(): readonly number[] {
    steps ??= [...new Set(Array.from(entries.keys(), ({ after }) => after))].sort((a, b) => a - b);
    return steps;
  }
  function remove(which: Iterable<QuarantineEntry>): readonly QuarantineEntry[] {
    const removed = [...which].filter(take);
    if (removed.length > 0) steps = undefined;
    return removed;
  }
  /** Whichever there is of that content; false if there is none. */
  function take(entry: QuarantineEntry): boolean {
    const id = idOf(entry);
    const known = find(id, entry.version);
    if (known === undefined) return false;
    entries.delete(known);
    const others = byId.get(id);
    others?.delete(known.version);
    if (others?.size === 0) byId.delete(id);
    return true;
  }
  function put(id: string, entry: QuarantineEntry): void {
    entries.set(entry, id);
    const others = byId.get(id);
    if (others === undefined) byId.set(id, new Map([[entry.version, entry]]));
    else others.set(entry.version, entry);
  }
  return {
    get entries() {
      return entries.keys();
    },
    get size() {
      return entries.size;
    },
    has: (keyed, version) => find(idOf(keyed), version) !== undefined,
    find: (keyed, version) => find(idOf(keyed), version),
    add(more) {
      const added: QuarantineEntry[] = [];
      for (const entry of more) {
        const id = idOf(entry);
        const known = find(id, entry.version);
        // An entry for all applies to later members, too.
        if (known !== undefined && known.after <= entry.after) continue;
        if (known !== undefined) take(known);
        put(id, entry);
        added.push(entry);
      }
      if (added.length > 0) steps = undefined;
      return added;
    },
    delete: remove,
    settle(newest, undo) {
      const served = new Set<QuarantineEntry>();
      const keep = (id: string, version: Version | undefined) => {
        const entry = find(id, version);
        if (entry === undefined || served.has(entry)) return;
        served.add(entry);
        // The replacement may itself be in quarantine for others.
        keep(id, entry.instead?.version);
      };
      for (const [entry, id] of entries) {
        const held = undo?.get(id);
        keep(id, resourceIn(newest, entry)?.version);
        if (held !== undefined) keep(id, held.resource?.version);
      }
      if (served.size === entries.size) return [];
      const over = [...entries.keys()].filter((entry) => !served.has(entry));
      const suspicions = new Set(over.map(({ suspicion }) => suspicion));
      suspicions.delete(undefined);
      return remove([...entries.keys()].filter((entry) => !served.has(entry) || suspicions.has(entry.suspicion)));
    },
    lay(overrides, newest, order) {
      for (const [keyed, id] of entries) {
        const held = overrides.get(id);
        let resource = held === undefined ? resourceIn(newest, keyed) : held.resource;
        // The replacement may itself be in quarantine; each content is visited once, since two may replace each other.
        const seen = new Set<QuarantineEntry>();
        for (;;) {
          const entry = find(id, resource?.version);
          if (entry === undefined || entry.after >= order || seen.has(entry)) break;
          seen.add(entry);
          resource = entry.instead;
        }
        if (seen.size > 0) overrides.set(id, { type: keyed.type, key: keyed.key, resource });
      }
    },
    keeps(resources, newest, order) {
      for (const [entry, id] of entries) {
        if (entry.after >= order || !resources.has(id)) continue;
        if (resourceIn(newest, entry)?.version === entry.version) return true;
      }
      return false;
    },
    classOf: (order) => stepsNow().findLast((after) => after < order) ?? Number.NEGATIVE_INFINITY,
    get orders() {
      return stepsNow().map((after) => after + 1);
    },
  };
}
