import { type ResourceName, type TypeUrl, type Version, XdskitError } from "@xdskit/api";
import type {
  CommitInfo,
  CommitResult,
  HeadsListener,
  LayerCommit,
  LayerName,
  Retention,
  Revision,
  RevisionId,
  Store,
  StoredChange,
  StoredResource,
  StoredVersion,
  StoreWatch,
} from "@xdskit/server";
import type { EtcdClient } from "./client/etcd-client.js";
import { Committing } from "./committing.js";
import { missingContent, readContents } from "./contents.js";
import { EtcdShared } from "./etcd-shared.js";
import { HeadsFollower } from "./heads-follower.js";
import { eachAtOnce } from "./in-parts.js";
import { endOf, Keys } from "./keys.js";
import { applyChanges, Manifests, missingRevision } from "./manifests.js";
import { collect } from "./retention.js";
import { Watching } from "./watching.js";

const text = new TextDecoder();

/**
 * A `Store` in etcd. What a revision changed and its contents are written ahead, in requests of etcd's size; then one
 * transaction moves the heads, if they still are what the writer knows. So a change of any size is atomic.
 */
export class EtcdStore implements Store {
  readonly name: string;
  readonly #client: EtcdClient;
  readonly #keys: Keys;
  readonly #manifests: Manifests;
  readonly #committing: Committing;
  readonly #watching: Watching;
  readonly shared: EtcdShared;

  constructor(name: string, client: EtcdClient, prefix: string) {
    this.name = name;
    this.#client = client;
    this.#keys = new Keys(prefix);
    this.#manifests = new Manifests(client, this.#keys);
    this.#committing = new Committing(client, this.#keys, this.#manifests);
    this.#watching = new Watching(client, this.#keys);
    this.shared = new EtcdShared(client, this.#keys, this.#watching);
  }

  async heads(): Promise<readonly Revision[]> {
    const key = this.#keys.heads();
    const { found } = await this.#client.range({ key, end: endOf(key) });
    return sorted(await eachAtOnce(found, ({ value }) => this.#revision(text.decode(value))));
  }

  async head(layer: LayerName): Promise<Revision | undefined> {
    const [head] = (await this.#client.range({ key: this.#keys.heads(layer) })).found;
    return head && (await this.#revision(text.decode(head.value)));
  }

  revision(id: RevisionId): Promise<Revision | undefined> {
    return this.#manifests.revision(id);
  }

  async history(
    layer: LayerName,
    { limit, before }: { readonly limit: number; readonly before?: number },
  ): Promise<readonly Revision[]> {
    if (limit <= 0) return [];
    const key = this.#keys.history(layer);
    const end = before === undefined ? endOf(key) : this.#keys.history(layer, Math.max(0, before));
    const { found } = await this.#client.range({ key, end, limit, descending: true });
    return await eachAtOnce(found, ({ value }) => this.#revision(text.decode(value)));
  }

  async read(id: RevisionId): Promise<readonly StoredResource[]> {
    const entries = await this.versions(id);
    const contents = await readContents(this.#client, this.#keys, entries);
    return entries.map((entry, index) => {
      const bytes = contents[index];
      if (bytes === undefined) throw missingContent(entry);
      return { ...entry, bytes };
    });
  }

  async versions(id: RevisionId): Promise<readonly StoredVersion[]> {
    const { layer, number } = await this.#known(id);
    const head = await this.head(layer);
    if (head === undefined) throw unknownRevision(id);
    const manifest = await this.#manifests.copyOf(head);
    for (let at = head; at.number > number; ) {
      applyChanges(manifest, await this.#manifests.changes(at.id), "from");
      at = await this.#revision(at.parent ?? "");
    }
    return [...manifest.values()];
  }

  async changes(id: RevisionId): Promise<readonly StoredChange[]> {
    await this.#known(id);
    return await this.#manifests.changes(id);
  }

  async content(type: TypeUrl, key: ResourceName, version: Version): Promise<Uint8Array | undefined> {
    const [bytes] = await readContents(this.#client, this.#keys, [{ type, key, version }]);
    return bytes;
  }

  async commit(layers: readonly LayerCommit[], info: CommitInfo): Promise<CommitResult> {
    const result = await this.#committing.commit(layers, info);
    this.#watching.look();
    return result;
  }

  retain(retention: Retention): Promise<number> {
    return collect(this.#client, this.#keys, this.#manifests, retention);
  }

  watch(listener: HeadsListener): StoreWatch {
    const following = new HeadsFollower((id) => this.#revision(id), listener);
    const { close } = this.#watching.add({ of: "heads", prefix: "" }, following);
    return {
      close() {
        following.close();
        close();
      },
    };
  }

  async close(): Promise<void> {
    await this.#committing.finished();
    this.#watching.close();
    await this.shared.close();
    this.#client.close();
  }

  /** A revision that a key names. */
  async #revision(id: RevisionId): Promise<Revision> {
    const revision = await this.revision(id);
    if (revision === undefined) throw missingRevision(id);
    return revision;
  }

  /** A revision that a caller names. */
  async #known(id: RevisionId): Promise<Revision> {
    const revision = await this.revision(id);
    if (revision === undefined) throw unknownRevision(id);
    return revision;
  }
}

function sorted(heads: readonly Revision[]): readonly Revision[] {
  return heads.toSorted((a, b) => (a.layer < b.layer ? -1 : 1));
}

function unknownRevision(id: RevisionId): XdskitError {
  return XdskitError.of("XDSKIT_REVISION_UNKNOWN", `there is no revision ${id.slice(0, 100)}`);
}
