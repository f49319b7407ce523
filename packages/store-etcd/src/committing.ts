import { XdskitError } from "@xdskit/api";
import type { CommitInfo, CommitResult, LayerCommit, Revision, StoredChange, StoredResource } from "@xdskit/server";
import { causedBy, leasesAfter, revisionId, timeAfter } from "@xdskit/server/tables";
import { AheadWriter, markValue } from "./ahead-writer.js";
import type { EtcdClient } from "./client/etcd-client.js";
import type { Operation } from "./client/messages.js";
import type { ContentName } from "./contents.js";
import { type Keys, resourceId } from "./keys.js";
import type { Manifest, Manifests } from "./manifests.js";
import { maxTries, onceMade } from "./once-made.js";

/** etcd takes 128 operations in one transaction; a layer needs two. */
const maxLayers = 60;
/** A checkpoint follows this many changes, or as many as the layer has resources: it costs no more than they did. */
const maxSinceCheckpoint = 1_000;

/** What a commit makes of one layer. */
interface Planned {
  readonly commit: LayerCommit;
  readonly before: Revision | undefined;
  readonly changes: readonly StoredChange[];
  readonly upserted: readonly StoredResource[];
  /** Undefined: nothing differs. */
  readonly revision: Revision | undefined;
  /** All that the layer holds afterwards, where that is written down. */
  readonly checkpoint: readonly ContentName[] | undefined;
}

/** Makes commits. */
export class Committing {
  readonly #client: EtcdClient;
  readonly #keys: Keys;
  readonly #manifests: Manifests;
  readonly #running = new Set<Promise<unknown>>();

  constructor(client: EtcdClient, keys: Keys, manifests: Manifests) {
    this.#client = client;
    this.#keys = keys;
    this.#manifests = manifests;
  }

  async commit(layers: readonly LayerCommit[], info: CommitInfo): Promise<CommitResult> {
    const running = this.#tried(layers, info);
    this.#running.add(running);
    return await running.finally(() => this.#running.delete(running));
  }

  /** Waits for commits that run. */
  async finished(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  async #tried(layers: readonly LayerCommit[], info: CommitInfo): Promise<CommitResult> {
    for (let tries = 0; tries < maxTries; tries += 1) {
      const result = await this.#commit(layers, info);
      if (result !== undefined) return result;
    }
    throw XdskitError.of("XDSKIT_STORE", `what was written for a change was collected ${maxTries} times`);
  }

  /** Undefined: it took so long that its writer was taken for dead, and nothing of it may be there. */
  async #commit(layers: readonly LayerCommit[], info: CommitInfo): Promise<CommitResult | undefined> {
    if (layers.length > maxLayers)
      throw XdskitError.of("XDSKIT_STORE", `a change of ${layers.length} layers: etcd takes ${maxLayers} at once`);
    const befores: (Revision | undefined)[] = [];
    for (const { layer, parent } of layers) {
      const before = await this.#head(layer);
      if (before?.id !== parent) return { kind: "conflict", layer, head: before };
      befores.push(before);
    }
    const said = { ...info, time: timeAfter(befores, info.time) };
    const planned: Planned[] = [];
    for (const [index, commit] of layers.entries())
      planned.push(await this.#plan(commit, befores[index], causedBy(commit, said)));
    if (planned.every(({ revision }) => revision === undefined))
      return { kind: "committed", heads: planned.map(({ before }) => before) };
    const writer = new AheadWriter(this.#client, this.#keys);
    await writer.begin();
    try {
      for (const one of planned) await writeAhead(writer, one);
      const moved = await this.#moveHeads(planned, writer.mark);
      if (moved !== "moved") {
        if (moved !== undefined) await writer.lost();
        return moved;
      }
      for (const { revision, changes, checkpoint } of planned)
        if (revision !== undefined) this.#manifests.committed(revision, changes, checkpoint !== undefined);
      return { kind: "committed", heads: planned.map(({ revision, before }) => revision ?? before) };
    } finally {
      await writer.end();
    }
  }

  async #plan(commit: LayerCommit, before: Revision | undefined, info: CommitInfo): Promise<Planned> {
    const manifest: Manifest = before === undefined ? new Map() : await this.#manifests.of(before);
    const { changes, upserted } = differencesOf(manifest, commit);
    const nothing = { commit, before, changes, upserted, revision: undefined, checkpoint: undefined };
    if (changes.length === 0 && before !== undefined && commit.always !== true) return nothing;
    const { layer, parent } = commit;
    const removed = changes.filter(({ to }) => to === undefined).length;
    const number = (before?.number ?? 0) + 1;
    const counts = { upserted: changes.length - removed, removed, ...leasesAfter(before, info.cause) };
    const said = { layer, parent, number, ...info, ...counts };
    const revision: Revision = { id: revisionId(JSON.stringify([said, changes])), ...said };
    const after = manifest.size + changes.length;
    const since = changes.length + (before === undefined ? 0 : this.#manifests.since(layer));
    const isDue = since > Math.max(maxSinceCheckpoint, after);
    return { ...nothing, revision, checkpoint: isDue ? namesAfter(manifest, changes) : undefined };
  }

  /** Undefined: the mark is gone. */
  async #moveHeads(planned: readonly Planned[], mark: string): Promise<CommitResult | "moved" | undefined> {
    const heads = planned.map(({ commit }) => ({ key: this.#keys.heads(commit.layer), value: commit.parent }));
    const compare = [...heads, { key: mark, value: markValue }];
    const operations = [...planned.flatMap((one) => this.#movesOf(one)), { kind: "delete", key: mark } as const];
    const moved = await onceMade(this.#client, { compare, operations }, "a change", () => this.#whenMoved(planned));
    return moved === undefined ? await this.#conflict(planned) : "moved";
  }

  #movesOf({ commit: { layer }, revision }: Planned): readonly Operation[] {
    if (revision === undefined) return [];
    return [
      { kind: "put", key: this.#keys.heads(layer), value: revision.id },
      { kind: "put", key: this.#keys.history(layer, revision.number), value: revision.id },
    ];
  }

  /** The store's revision that wrote the history: an earlier try was carried out, and others may have followed. */
  async #whenMoved(planned: readonly Planned[]): Promise<number | undefined> {
    const [moved] = planned.flatMap(({ revision }) => revision ?? []);
    if (moved === undefined) return undefined;
    const [found] = (await this.#client.range({ key: this.#keys.history(moved.layer, moved.number) })).found;
    return text.decode(found?.value) === moved.id ? found?.writtenAt : undefined;
  }

  async #conflict(planned: readonly Planned[]): Promise<CommitResult | undefined> {
    for (const { commit } of planned) {
      const head = await this.#head(commit.layer);
      if (head?.id !== commit.parent) return { kind: "conflict", layer: commit.layer, head };
    }
    return undefined;
  }

  async #head(layer: string): Promise<Revision | undefined> {
    const [head] = (await this.#client.range({ key: this.#keys.heads(layer) })).found;
    return head && (await this.#manifests.revision(text.decode(head.value)));
  }
}

const text = new TextDecoder();

async function writeAhead(writer: AheadWriter, { revision, changes, upserted, checkpoint }: Planned): Promise<void> {
  if (revision === undefined) return;
  await writer.contents(upserted);
  await writer.revision(revision, changes);
  if (checkpoint !== undefined) await writer.checkpoint(revision.id, checkpoint);
}

/**
 * What a commit changes. Everything that the head does not hold is written, also where an older revision has it: that
 * may be collected meanwhile.
 */
function differencesOf(manifest: Manifest, commit: LayerCommit): Pick<Planned, "changes" | "upserted"> {
  const changes = new Map<string, StoredChange>();
  const upserted = new Map<string, StoredResource>();
  const note = (type: string, key: string, to?: StoredResource) => {
    const id = resourceId({ type, key });
    const from = manifest.get(id)?.version;
    upserted.delete(id);
    if (from === to?.version) return void changes.delete(id);
    changes.set(id, { type, key, from, to: to?.version });
    if (to !== undefined) upserted.set(id, to);
  };
  for (const { type, key } of commit.remove ?? []) note(type, key);
  // What one commit both removes and puts in is there afterwards.
  for (const one of commit.upsert) note(one.type, one.key, one);
  if (commit.kind === "replace") {
    const put = new Set(commit.upsert.map(resourceId));
    for (const [id, { type, key }] of manifest) if (!put.has(id)) note(type, key);
  }
  return { changes: [...changes.values()], upserted: [...upserted.values()] };
}

function namesAfter(manifest: Manifest, changes: readonly StoredChange[]): readonly ContentName[] {
  const after = new Map(manifest);
  for (const { type, key, to } of changes) {
    if (to === undefined) after.delete(resourceId({ type, key }));
    else after.set(resourceId({ type, key }), { type, key, version: to });
  }
  return [...after.values()];
}
