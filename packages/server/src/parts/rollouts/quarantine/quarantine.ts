import type { Resource, Version } from "@xdskit/api";
import type { Snapshot } from "@xdskit/protocol";
import { idOf } from "../../../basics/id-of.js";
import type { QuarantineCause } from "../../../contracts/rollouts/quarantined.js";
import { type Keyed, type Overrides, resourceIn } from "../members/overrides.js";

/** A content of one resource that is kept from the streams of a group. */
export interface QuarantineEntry extends Keyed {
  /** The version of the content that is kept from them. Undefined: the removal of the resource is. */
  readonly version: Version | undefined;
  /** The content that they have in its place; undefined: none. */
  readonly instead: Resource | undefined;
  readonly cause: QuarantineCause;
  /** Shared by entries of which one is at fault, and it is not known which. When one of them ends, all do. */
  readonly suspicion: object | undefined;
  /** The content is kept from members of a higher order, which came later. -1: from all. */
  readonly after: number;
  readonly since: Date;
  /** A client of another server rejected it: that server says when it ends. */
  readonly isElsewhere?: boolean | undefined;
  /** The node that rejected it, and its message; empty if none did. */
  readonly node: string;
  readonly message: string;
}

/** The contents that are kept from some or all streams of a group, each until the resource has another content. */
export class Quarantine {
  readonly #byId = new Map<string, Map<Version | undefined, QuarantineEntry>>();
  #steps: readonly number[] | undefined;

  get isEmpty(): boolean {
    return this.#byId.size === 0;
  }

  *entries(): Iterable<QuarantineEntry> {
    for (const entries of this.#byId.values()) yield* entries.values();
  }

  find(keyed: Keyed, version: Version | undefined): QuarantineEntry | undefined {
    return this.#byId.get(idOf(keyed))?.get(version);
  }

  /** Ignores contents that are there already. */
  add(entries: Iterable<QuarantineEntry>): readonly QuarantineEntry[] {
    const added: QuarantineEntry[] = [];
    for (const entry of entries) {
      const id = idOf(entry);
      const others = this.#byId.get(id) ?? new Map<Version | undefined, QuarantineEntry>();
      const known = others.get(entry.version);
      // An entry for all applies to later members, too.
      if (known !== undefined && known.after <= entry.after) continue;
      this.#byId.set(id, others.set(entry.version, entry));
      added.push(entry);
    }
    this.#steps = undefined;
    return added;
  }

  /** Returns those that were there. */
  delete(entries: Iterable<QuarantineEntry>): readonly QuarantineEntry[] {
    this.#steps = undefined;
    return [...entries].filter((entry) => {
      const id = idOf(entry);
      const others = this.#byId.get(id);
      const isThere = others?.delete(entry.version) === true;
      if (others?.size === 0) this.#byId.delete(id);
      return isThere;
    });
  }

  /** Ends it for contents that are no longer anyone's target; `undo` holds what some get instead of the newest. */
  review(newest: Snapshot, undo: Overrides | undefined): readonly QuarantineEntry[] {
    const served = new Set<QuarantineEntry>();
    for (const [id, entries, keyed] of this.#resources()) {
      const held = undo?.get(id);
      const targets = [resourceIn(newest, keyed), ...(held === undefined ? [] : [held.resource])];
      for (const target of targets) for (const entry of chain(entries, target)) served.add(entry);
    }
    const over = [...this.entries()].filter((entry) => !served.has(entry));
    if (over.length === 0) return over;
    const suspicions = new Set(over.map(({ suspicion }) => suspicion));
    suspicions.delete(undefined);
    return this.delete([...this.entries()].filter((each) => !served.has(each) || suspicions.has(each.suspicion)));
  }

  /** Lays the quarantine over the snapshot of a member of that order, which is the newest with `overrides`. */
  lay(overrides: Overrides, newest: Snapshot, order: number): void {
    for (const [id, entries, { type, key }] of this.#resources()) {
      const held = overrides.get(id);
      const target = held === undefined ? resourceIn(newest, { type, key }) : held.resource;
      const last = [...chain(entries, target, order)].at(-1);
      if (last !== undefined) overrides.set(id, { type, key, resource: last.instead });
    }
  }

  /** Whether the newest content of any of these resources is kept from a member of that order. */
  keeps(resources: Overrides, newest: Snapshot, order: number): boolean {
    for (const [id, entries, keyed] of this.#resources()) {
      const entry = resources.has(id) ? entries.get(resourceIn(newest, keyed)?.version) : undefined;
      if (entry !== undefined && entry.after < order) return true;
    }
    return false;
  }

  /** Equal for orders that get the same contents. */
  classOf(order: number): number {
    return this.#stepsNow().findLast((after) => after < order) ?? Number.NEGATIVE_INFINITY;
  }

  /** One order of each class, except the class for which nothing is in quarantine. */
  get orders(): readonly number[] {
    return this.#stepsNow().map((after) => after + 1);
  }

  /** All values of `after`, ascending. There are few. Computed anew at each call. */
  #stepsNow(): readonly number[] {
    this.#steps ??= [...new Set(Array.from(this.entries(), ({ after }) => after))].sort((a, b) => a - b);
    return this.#steps;
  }

  /** The id of each is kept: all are looked at with each change, and to make an id costs more than to look. */
  *#resources(): Iterable<[id: string, entries: ReadonlyMap<Version | undefined, QuarantineEntry>, keyed: Keyed]> {
    for (const [id, entries] of this.#byId)
      for (const keyed of entries.values()) {
        yield [id, entries, keyed];
        break;
      }
  }
}

/**
 * The entries that apply to a target for a member of that order. A replacement may itself be in quarantine, and two may
 * replace each other.
 */
function chain(
  entries: ReadonlyMap<Version | undefined, QuarantineEntry>,
  target: Resource | undefined,
  order = Number.POSITIVE_INFINITY,
): Iterable<QuarantineEntry> {
  const found = new Set<QuarantineEntry>();
  let entry = entries.get(target?.version);
  while (entry !== undefined && entry.after < order && !found.has(entry)) {
    found.add(entry);
    entry = entries.get(entry.instead?.version);
  }
  return found;
}
