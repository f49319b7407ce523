import type { ResourceType, Version } from "@xdskit/api";
import type { Rejection } from "@xdskit/protocol";
import { idOf } from "../../../basics/id-of.js";
import { shownAtMost } from "../../../contracts/rollouts/rollout-status.js";
import type { KeyChange, Override } from "../members/overrides.js";
import type { RecordedChange } from "../records/record.js";

/**
 * A resource of the change: its content before, and the version that the change gives it. Undefined: the change removes
 * it.
 */
interface UndoneChange extends Override {
  readonly wanted: Version | undefined;
}

/** The part of a change that a rejection may be about: the wanted versions by resource. */
export type Concern = ReadonlyMap<string, Version | undefined>;

/** The change of a rollout: one change, or several that came one on top of the other. */
export class RolloutChange {
  /** The contents that members that are not reached have in place of the newest. */
  readonly undo = new Map<string, UndoneChange>();

  add(changes: Iterable<KeyChange>): void {
    for (const { type, key, before, after } of changes) {
      const id = idOf({ type, key });
      const known = this.undo.get(id);
      const resource = known === undefined ? before : known.resource;
      if (resource?.version === after?.version) this.undo.delete(id);
      else this.undo.set(id, { type, key, resource, wanted: after?.version });
    }
  }

  /** Whether these changes take back all of it, and do nothing else. */
  isUndoneBy(changes: Iterable<KeyChange>): boolean {
    let undone = 0;
    for (const change of changes) {
      const known = this.undo.get(idOf(change));
      if (known === undefined || known.resource?.version !== change.after?.version) return false;
      undone += 1;
    }
    return undone === this.undo.size;
  }

  /** These resources changed for all nodes at once. */
  pass(changes: Iterable<KeyChange>): void {
    for (const change of changes) this.undo.delete(idOf(change));
  }

  /** Members that are not reached have this of some resources, and not what was known before. True: that differs. */
  rebase(known: ReadonlyMap<string, Pick<Override, "resource">>): boolean {
    let isOther = false;
    for (const [id, changed] of this.undo) {
      const now = known.get(id);
      if (now === undefined || now.resource?.version === changed.resource?.version) continue;
      isOther = true;
      if (now.resource?.version === changed.wanted) this.undo.delete(id);
      else this.undo.set(id, { ...changed, resource: now.resource });
    }
    return isOther;
  }

  /** The effect of the change, without contents. */
  *list(): Iterable<RecordedChange> {
    for (const { type, key, resource, wanted } of this.undo.values())
      yield { type: type.typeUrl, key, from: resource?.version, wanted };
  }

  /**
   * At most 100 of the resources that the rejection may be about: a change may be large, and many clients may reject
   * it.
   */
  concernOf(type: ResourceType, rejection: Rejection): Concern {
    const about = new Map<string, Version | undefined>();
    for (const [id, wanted] of this.#concerned(type, rejection)) {
      about.set(id, wanted);
      if (about.size === shownAtMost) break;
    }
    return about;
  }

  *#concerned(type: ResourceType, { blamed, carried, before, after }: Rejection): Iterable<[string, Version?]> {
    const faulty = blamed && new Set(blamed);
    let isCarried = false;
    for (const resource of carried) {
      const id = idOf(resource);
      if (this.undo.get(id)?.wanted !== resource.version || faulty?.has(resource.name) === false) continue;
      isCarried = true;
      yield [id, resource.version];
    }
    if (faulty !== undefined || isCarried) return;
    for (const [id, { type: of, key, wanted }] of this.undo) {
      const isGone = of === type && wanted === undefined;
      if (isGone && before?.get(key) !== undefined && after.get(key) === undefined) yield [id];
    }
  }

  /** Whether any of it is still wanted. */
  wants(about: Concern): boolean {
    for (const [id, version] of about) if (this.undo.has(id) && this.undo.get(id)?.wanted === version) return true;
    return false;
  }
}
