import { type Finding, type Registry, type Resource, type ResourceTypes, XdskitError } from "@xdskit/api";
import type { LayerWrite, LayerWritten } from "../contracts/layer-writer.js";
import type { LayerUpdate, Source, SourceSink } from "../contracts/source.js";
import type { LayerCommit, Retention, Revision, RevisionId, Store } from "../contracts/store.js";
import type { XdsServer } from "../contracts/xds-server.js";
import type { LayerName } from "../settings/group-settings.js";
import { Queue } from "./queue.js";
import { refuse } from "./refuse.js";
import { decodeStored, encodeStored } from "./stored-content.js";

/** What layers are written with. */
export interface WrittenLayersOptions {
  /** The layers, which no source fills. */
  readonly layers: readonly LayerName[];
  readonly store: Store;
  /** What the layers hold is asked here, and whether a change can be applied. */
  readonly server: Pick<XdsServer, "layerSnapshot" | "checkChange">;
  readonly registry: Registry;
  readonly types: ResourceTypes;
  readonly retention: Retention;
  /** A new revision is durable and served. */
  readonly onRevision?: ((revision: Revision) => void) | undefined;
  /** What of the store cannot be read any more, or cleaned up. */
  readonly onProblem: (findings: readonly Finding[]) => void;
}

/** Another process may move a head in between so many times: then a change is given up. */
const mostConflicts = 10;

/** So many writers may wait. */
const mostWaiting = 1_000;

/**
 * Layers that programs and people write while the server runs. The store is the truth: a change is durable before it is
 * served, and before its writer hears of it. After a restart the layers have what they had.
 *
 * `load` reads the heads. Call it before the sources are started, so that all of them have their content at once.
 */
export class WrittenLayers implements Source {
  readonly name = "written layers";
  readonly layers: readonly LayerName[];
  readonly store: Store;
  readonly #options: WrittenLayersOptions;
  readonly #queue = new Queue(mostWaiting);
  readonly #heads = new Map<LayerName, Revision>();
  #loaded: readonly LayerUpdate[] = [];
  #sink: SourceSink | undefined;

  constructor(options: WrittenLayersOptions) {
    this.#options = options;
    this.layers = options.layers;
    this.store = options.store;
  }

  /** Reads what the layers held last. Rejects if the store cannot be read. */
  async load(): Promise<void> {
    const heads = (await this.#options.store.heads()).filter(({ layer }) => this.layers.includes(layer));
    const updates: LayerUpdate[] = [];
    for (const head of heads) {
      this.#heads.set(head.layer, head);
      const upsert = await this.#contents(head.id);
      // A layer without resources must not cost anything.
      if (upsert.length > 0) updates.push({ layer: head.layer, kind: "replace", upsert });
    }
    this.#loaded = updates;
  }

  async start(sink: SourceSink): Promise<void> {
    this.#sink = sink;
    const updates = this.#loaded;
    this.#loaded = [];
    if (updates.length > 0) sink.apply(updates);
  }

  /** Waits for changes that are under way. */
  close(): Promise<void> {
    return this.#queue.close();
  }

  /** The newest revision of a layer; undefined: there is none. */
  head(layer: LayerName): Revision | undefined {
    return this.#heads.get(layer);
  }

  /**
   * Makes a change, whole or not at all. Rejects with an XdskitError: what the server refuses, what the condition
   * throws, and XDSKIT_STORE if it cannot be kept.
   */
  write(write: LayerWrite): Promise<LayerWritten> {
    return this.#queue.run(() => this.#write(write));
  }

  /**
   * Makes a layer what it was at a revision; empty where that is undefined. Rejects as `write` does, and with
   * XDSKIT_REVISION_UNKNOWN.
   */
  async rollBack(
    layer: LayerName,
    to: RevisionId | undefined,
    rest: Pick<LayerWrite, "expected" | "info">,
  ): Promise<LayerWritten> {
    const upsert = to === undefined ? [] : await this.#contents(to);
    return await this.write({ layer, upsert, remove: [], replace: true, ...rest });
  }

  async #write(write: LayerWrite): Promise<LayerWritten> {
    const { layer, expected, condition } = write;
    for (let tries = 0; tries < mostConflicts; tries += 1) {
      const head = this.#heads.get(layer);
      if (expected !== undefined && (head?.id ?? null) !== expected) return { kind: "conflict", head };
      condition?.();
      const update = this.#update(write);
      refuse(this.#options.server.checkChange([update]));
      if (head === undefined && update.upsert.length === 0) return { kind: "written", head, isNew: false };
      const result = await this.#options.store.commit([commitOf(update, head)], write.info);
      if (result.kind === "conflict") await this.#follow(layer, result.head);
      else return this.#serve(update, head, result.heads[0]);
    }
    throw XdskitError.of("XDSKIT_STORE", `another writer was faster ${mostConflicts} times: nothing was changed`);
  }

  /** With the keys of what is removed, as a store needs them. */
  #update({ layer, upsert, remove, replace }: LayerWrite): LayerUpdate {
    if (replace) return { layer, kind: "replace", upsert };
    const now = this.#options.server.layerSnapshot(layer);
    const keys = remove.flatMap(
      ({ type, name }) =>
        now
          ?.of(type)
          .named(name)
          .map(({ key }) => ({ type, name: key })) ?? [],
    );
    return { layer, kind: "patch", upsert, remove: keys };
  }

  async #serve(update: LayerUpdate, before: Revision | undefined, head: Revision | undefined): Promise<LayerWritten> {
    const isNew = head !== undefined && head.id !== before?.id;
    if (!isNew) return { kind: "written", head: before, isNew };
    this.#heads.set(update.layer, head);
    try {
      this.#sink?.apply([update]);
    } catch (error) {
      // Another layer has changed since it was checked. What is not served must not stand in the store.
      await this.#takeBack(update.layer, head);
      throw error;
    }
    this.#options.onRevision?.(head);
    await this.#options.store.retain(this.#options.retention).catch((error) => this.#problem(error));
    return { kind: "written", head, isNew };
  }

  async #takeBack(layer: LayerName, head: Revision): Promise<void> {
    const held = [...(this.#options.server.layerSnapshot(layer)?.sets.values() ?? [])].flatMap((set) => [...set]);
    const cause = { kind: "rollback", to: head.parent ?? "" } as const;
    const info = { author: head.author, cause, message: "the server refused the change", time: Date.now() };
    const result = await this.#options.store.commit([commitOf({ layer, kind: "replace", upsert: held }, head)], info);
    if (result.kind === "committed" && result.heads[0] !== undefined) this.#heads.set(layer, result.heads[0]);
  }

  /** Another process has changed the layer in the same store: that is served first. */
  async #follow(layer: LayerName, head: Revision | undefined): Promise<void> {
    if (head === undefined) return void this.#heads.delete(layer);
    this.#sink?.apply([{ layer, kind: "replace", upsert: await this.#contents(head.id) }]);
    this.#heads.set(layer, head);
  }

  /** A resource whose type the server does not know any more is left out, and told. */
  async #contents(id: RevisionId): Promise<readonly Resource[]> {
    const found: Resource[] = [];
    for (const stored of await this.#options.store.read(id)) {
      try {
        found.push(decodeStored(stored, this.#options));
      } catch (error) {
        this.#problem(error);
      }
    }
    return found;
  }

  #problem(error: unknown): void {
    const unknown = { code: "XDSKIT_STORE", severity: "error", message: (error as Error).message } as const;
    this.#options.onProblem(error instanceof XdskitError ? error.findings : [unknown]);
  }
}

function commitOf({ layer, kind, upsert, remove }: LayerUpdate, head: Revision | undefined): LayerCommit {
  return {
    ...{ layer, kind, parent: head?.id, upsert: upsert.map(encodeStored) },
    remove: remove?.map(({ type, name }) => ({ type: type.typeUrl, key: name })),
  };
}
