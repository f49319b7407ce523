import type { Resource, Version } from "@xdskit/api";
import { idOf } from "../../basics/id-of.js";
import { mergedUpdates } from "../../configuration/merged-updates.js";
import type { LayerUpdate, RolledBack } from "../../contracts/source.js";
import type { LayerCommit, Revision, RevisionId, Store, StoredResource } from "../../contracts/stores/store.js";
import type { LayerName } from "../../settings/group-settings.js";

/** A rollback from before the first change of the source: it goes on if the source has what it had then. */
interface Remembered {
  readonly rolledBack: RolledBack;
  /** The content of the source before the rollback. */
  readonly own: readonly Resource[];
  /** The content that is served. */
  readonly served: readonly Resource[];
}

/** Follows which layers of a source serve an older revision, and what the source itself has of them meanwhile. */
export class Rollbacks {
  readonly #remembered = new Map<LayerName, Remembered>();
  readonly #active = new Map<LayerName, { readonly rolledBack: RolledBack; readonly own: readonly Resource[] }>();

  /** Those that ended while the store's head is still the rollback. */
  readonly #ended = new Set<LayerName>();

  #changes = 0;

  /** Counts the changes of the source that were applied. */
  get changes(): number {
    return this.#changes;
  }

  /** Those that hold now. */
  get active(): readonly RolledBack[] {
    return Array.from(this.#active.values(), ({ rolledBack }) => rolledBack);
  }

  /** Whether this revision is served, or was until the source changed. */
  knows(layer: LayerName, revision: RevisionId): boolean {
    const { rolledBack } = this.#active.get(layer) ?? this.#remembered.get(layer) ?? {};
    return rolledBack?.revision === revision || this.#ended.has(layer);
  }

  /** The source's content of a layer that is rolled back. */
  ownOf(layer: LayerName): readonly Resource[] | undefined {
    return this.#active.get(layer)?.own;
  }

  /** The same of a layer that was rolled back before the source brought its first content. */
  ownBeforeStart(layer: LayerName): readonly Resource[] | undefined {
    return this.#remembered.get(layer)?.own;
  }

  /** Layers whose next commit must make a revision, even of the same content: else a restart finds the rollback. */
  get ended(): ReadonlySet<LayerName> {
    return new Set(this.#ended);
  }

  /** The head of a layer is a rollback that does not hold. */
  end(layer: LayerName): void {
    this.#ended.add(layer);
  }

  /** The ends of these are in the store. */
  endsKept(layers: Iterable<LayerName>): void {
    for (const layer of layers) this.#ended.delete(layer);
  }

  /** `own`: what the source has. A layer that is brought back to that is not rolled back any more. */
  begin(rolledBack: RolledBack, own: readonly Resource[], served: readonly Resource[]): void {
    const { layer } = rolledBack;
    const isBeforeStart = this.#remembered.delete(layer) || this.#changes === 0;
    if (isSame({ kind: "replace", upsert: served }, own)) {
      this.#active.delete(layer);
      this.end(layer);
      return;
    }
    this.#ended.delete(layer);
    if (isBeforeStart) this.#remembered.set(layer, { rolledBack, own, served });
    this.#active.set(layer, { rolledBack, own });
  }

  /** Finds the rollbacks that were in force when the server stopped. */
  async remember(
    store: Store,
    heads: readonly Revision[],
    decode: (stored: StoredResource) => Resource,
  ): Promise<void> {
    for (const head of heads) {
      const rolledBack = rolledBackBy(head);
      const before = rolledBack && (await ownBefore(store, head));
      if (rolledBack === undefined || before === undefined) continue;
      const own = before.map(decode);
      const served = (await store.read(head.id)).map(decode);
      // What was rolled back was brought back.
      if (isSame({ kind: "replace", upsert: served }, own)) continue;
      this.#remembered.set(head.layer, { rolledBack, own, served });
    }
  }

  /**
   * The updates to serve for these of the source: its own content of the layers that it changes, but the older content
   * of a layer if the source starts with the content that was rolled back.
   */
  served(updates: readonly LayerUpdate[]): readonly LayerUpdate[] {
    return updates.map((update) => {
      const remembered = this.#remembered.get(update.layer);
      if (remembered !== undefined && isSame(update, remembered.own))
        return { layer: update.layer, kind: "replace", upsert: remembered.served };
      const own = this.ownOf(update.layer);
      if (own !== undefined && changesNothing(update, own)) return { ...update, upsert: [], remove: [] };
      if (own === undefined || update.kind === "replace") return update;
      return mergedUpdates([{ layer: update.layer, kind: "replace", upsert: own }], [update])[0] ?? update;
    });
  }

  /** Applies what is served for these updates, and returns it; `isOther`: other layers are rolled back now. */
  apply(
    updates: readonly LayerUpdate[],
    serve: (served: readonly LayerUpdate[]) => void,
  ): { readonly served: readonly LayerUpdate[]; readonly isOther: boolean } {
    const served = this.served(updates);
    serve(served);
    this.#changes += 1;
    let isOther = false;
    for (const update of updates) {
      const { layer } = update;
      const active = this.ownOf(layer);
      if (active !== undefined && changesNothing(update, active)) continue;
      const remembered = this.#remembered.get(layer);
      this.#remembered.delete(layer);
      if (remembered !== undefined && isSame(update, remembered.own)) {
        this.begin(remembered.rolledBack, update.upsert, remembered.served);
        isOther = true;
      } else {
        const wasActive = this.#active.delete(layer);
        if (wasActive || remembered !== undefined) this.end(layer);
        isOther ||= wasActive;
      }
    }
    return { served, isOther };
  }

  /** Whether a layer is rolled back at the other servers, and the source has what it had then: it has not changed. */
  async isFromBefore(
    store: Store,
    head: Revision,
    { kind, upsert }: Pick<LayerCommit, "kind" | "upsert">,
  ): Promise<boolean> {
    if (kind !== "replace" || rolledBackBy(head) === undefined || this.knows(head.layer, head.id)) return false;
    const own = await ownBefore(store, head);
    const idsOf = (stored: readonly StoredResource[]) =>
      stored.map(({ type, key, version }) => JSON.stringify([type, key, version])).sort();
    return own !== undefined && idsOf(own).join() === idsOf(upsert).join();
  }
}

/** Undefined: it is no rollback. */
export function rolledBackBy({ id, layer, cause, time }: Revision): RolledBack | undefined {
  return cause.kind === "rollback" ? { layer, revision: id, to: cause.to, time } : undefined;
}

/**
 * The content of the source when a layer was rolled back. Undefined: history does not go back so far, and the source
 * counts as changed.
 */
export async function ownBefore(store: Store, head: Revision): Promise<readonly StoredResource[] | undefined> {
  let before: Revision | undefined = head;
  while (before?.cause.kind === "rollback")
    before = before.parent === undefined ? undefined : await store.revision(before.parent);
  return before && (await store.read(before.id));
}

/** A source may say again what it said: it has not changed then. */
function changesNothing({ kind, upsert, remove = [] }: LayerUpdate, own: readonly Resource[]): boolean {
  if (kind === "replace") return false;
  const versions = versionsOf(own);
  const names = new Set(own.map(({ type, name }) => idOf({ type, key: name })));
  return (
    upsert.every((one) => versions.get(idOf(one)) === one.version) &&
    remove.map(({ type, name }) => idOf({ type, key: name })).every((id) => !versions.has(id) && !names.has(id))
  );
}

function versionsOf(resources: readonly Resource[]): ReadonlyMap<string, Version> {
  return new Map(resources.map((one) => [idOf(one), one.version]));
}

function isSame({ kind, upsert }: Pick<LayerUpdate, "kind" | "upsert">, own: readonly Resource[]): boolean {
  const versions = versionsOf(own);
  return (
    kind === "replace" && upsert.length === own.length && upsert.every((one) => versions.get(idOf(one)) === one.version)
  );
}
