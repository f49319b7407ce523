import type { XdskitError } from "@xdskit/api";
import type { LayerName, Revision, RevisionId, StoredChange } from "@xdskit/server";
import { damaged } from "@xdskit/server/tables";
import type { EtcdClient } from "./client/etcd-client.js";
import type { KeyValue } from "./client/messages.js";
import type { ContentName } from "./contents.js";
import { endOf, type Keys, resourceId } from "./keys.js";

/** What a layer holds at a revision, by resource. */
export type Manifest = Map<string, ContentName>;

interface NewestManifest {
  readonly id: RevisionId;
  readonly manifest: Manifest;
  /** How many changes there are since the newest checkpoint. */
  readonly since: number;
}

const text = new TextDecoder();

/** Reads revisions, and what layers hold: the manifests of the newest heads are kept. */
export class Manifests {
  readonly #client: EtcdClient;
  readonly #keys: Keys;
  readonly #newest = new Map<LayerName, NewestManifest>();

  constructor(client: EtcdClient, keys: Keys) {
    this.#client = client;
    this.#keys = keys;
  }

  async revision(id: RevisionId): Promise<Revision | undefined> {
    const [found] = (await this.#client.range({ key: this.#keys.revision(id) })).found;
    if (found === undefined) return undefined;
    const revision = JSON.parse(text.decode(found.value)) as Revision;
    // JSON knows no undefined.
    return { ...revision, parent: revision.parent };
  }

  async changes(id: RevisionId): Promise<readonly StoredChange[]> {
    const changes = listOf<StoredChange>(await this.#parts(this.#keys.changes(id)));
    return changes.map(({ type, key, from, to }) => ({ type, key, from, to }));
  }

  /** What a layer holds at its head. It must not be changed, but the next commit of this process changes it. */
  of(head: Revision): Promise<Manifest> {
    return this.#manifestOf(head, (manifest) => manifest);
  }

  /** The same for a caller whose work commits may overtake. */
  copyOf(head: Revision): Promise<Manifest> {
    return this.#manifestOf(head, (manifest) => new Map(manifest));
  }

  /** `take` is called in the same turn in which the manifest is that of the head. */
  async #manifestOf({ layer, id, parent }: Revision, take: (manifest: Manifest) => Manifest): Promise<Manifest> {
    const known = this.#newest.get(layer);
    if (known?.id === id) return take(known.manifest);
    if (known !== undefined && known.id === parent) {
      const changes = await this.changes(id);
      if (this.#newest.get(layer) === known) return take(this.#advance(layer, known, id, changes));
    }
    const newest = { id, ...(await this.#read(layer, id)) };
    this.#newest.set(layer, newest);
    return take(newest.manifest);
  }

  /** Takes over a commit of this process. */
  committed({ layer, id, parent }: Revision, changes: readonly StoredChange[], hasCheckpoint: boolean): void {
    const known = this.#newest.get(layer);
    const before = parent === undefined ? { id, manifest: new Map(), since: 0 } : known;
    if (before === undefined || (parent !== undefined && before.id !== parent)) return;
    this.#advance(layer, before, id, changes);
    if (hasCheckpoint) this.#newest.set(layer, { id, manifest: before.manifest, since: 0 });
  }

  /** How many changes are read from the newest checkpoint to the head that `of` was asked for last. */
  since(layer: LayerName): number {
    return this.#newest.get(layer)?.since ?? 0;
  }

  #advance(
    layer: LayerName,
    { manifest, since }: NewestManifest,
    id: RevisionId,
    changes: readonly StoredChange[],
  ): Manifest {
    applyChanges(manifest, changes, "to");
    this.#newest.set(layer, { id, manifest, since: since + changes.length });
    return manifest;
  }

  /** From the newest checkpoint on. */
  async #read(layer: LayerName, head: RevisionId): Promise<Omit<NewestManifest, "id">> {
    const later: (readonly StoredChange[])[] = [];
    for (let id: RevisionId | undefined = head; id !== undefined; ) {
      const checkpoint = await this.#checkpoint(id);
      if (checkpoint !== undefined) return redoAll(checkpoint, later);
      later.push(await this.changes(id));
      const revision = await this.revision(id);
      if (revision === undefined) break;
      id = revision.parent;
      if (id === undefined) return redoAll([], later);
    }
    throw damaged(`the layer ${JSON.stringify(layer)} cannot be read`);
  }

  /** Undefined where there is none, or only a part of one: its first part is written last. */
  async #checkpoint(id: RevisionId): Promise<readonly ContentName[] | undefined> {
    const found = await this.#parts(this.#keys.checkpoint(id));
    return found[0]?.key === this.#keys.checkpoint(id, 0) ? listOf<ContentName>(found) : undefined;
  }

  async #parts(prefix: string): Promise<readonly KeyValue[]> {
    return (await this.#client.range({ key: prefix, end: endOf(prefix) })).found;
  }
}

/** An error for a revision that a key names. */
export function missingRevision(id: RevisionId): XdskitError {
  return damaged(`there is no revision ${id}`);
}

function listOf<T>(parts: readonly KeyValue[]): readonly T[] {
  return parts.flatMap(({ value }) => JSON.parse(text.decode(value)) as readonly T[]);
}

function redoAll(
  checkpoint: readonly ContentName[],
  later: readonly (readonly StoredChange[])[],
): Omit<NewestManifest, "id"> {
  const manifest: Manifest = new Map(checkpoint.map((entry) => [resourceId(entry), entry]));
  for (const changes of later.toReversed()) applyChanges(manifest, changes, "to");
  return { manifest, since: later.reduce((sum, { length }) => sum + length, 0) };
}

/** Makes changes, or takes them back: `from`. */
export function applyChanges(manifest: Manifest, changes: readonly StoredChange[], end: "from" | "to"): void {
  for (const { type, key, [end]: version } of changes) {
    if (version === undefined) manifest.delete(resourceId({ type, key }));
    else manifest.set(resourceId({ type, key }), { type, key, version });
  }
}
