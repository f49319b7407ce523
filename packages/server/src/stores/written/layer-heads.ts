import type { Resource } from "@xdskit/api";
import type { LayerUpdate, SourceSink } from "../../contracts/source.js";
import type { Revision, RevisionId, StoredResource } from "../../contracts/stores/store.js";
import type { LayerName } from "../../settings/group-settings.js";
import { followedSince } from "../history/following.js";
import { decodeStored, resourcesNamed } from "../history/stored-content.js";
import { wentBackFinding, whatWentBack } from "../history/went-back.js";
import type { LeaseBook } from "../leases/lease-book.js";
import type { WrittenLayersOptions } from "./written-layers-options.js";

interface LayerHeadsOptions
  extends Pick<WrittenLayersOptions, "layers" | "store" | "types" | "registry" | "onRevision" | "onProblem"> {
  readonly leases: LeaseBook;
  readonly problem: (error: unknown) => void;
}

/** The heads of written layers and of their leases that are served here, and how they follow those of the store. */
export class LayerHeads {
  readonly #options: LayerHeadsOptions;
  readonly #heads = new Map<LayerName, Revision>();
  /** Layers whose changes by others could not be served. They are read as a whole next time. */
  readonly #torn = new Set<LayerName>();
  /** Undefined before the start. */
  sink: SourceSink | undefined;

  constructor(options: LayerHeadsOptions) {
    this.#options = options;
  }

  /** Those that have a head. */
  get layers(): readonly LayerName[] {
    return [...this.#heads.keys()];
  }

  of(layer: LayerName): Revision | undefined {
    return this.#heads.get(layer);
  }

  /** This is what the store has of a layer, or of its leases. */
  set(layer: LayerName, head: Revision | undefined): void {
    const leases = this.#options.leases.keptIn(layer);
    if (leases !== undefined) leases.head = head;
    else if (head === undefined) this.#heads.delete(layer);
    else this.#heads.set(layer, head);
  }

  /** Reads what the layers had last. Rejects if the store cannot be read. */
  async load(): Promise<readonly LayerUpdate[]> {
    const { store, layers, leases: book } = this.#options;
    const updates: LayerUpdate[] = [];
    for (const head of await store.heads()) {
      const leases = book.keptIn(head.layer);
      // Their time begins once what they hold is served.
      if (leases !== undefined) leases.load(head, await store.read(head.id));
      if (!layers.includes(head.layer)) continue;
      this.#heads.set(head.layer, head);
      const upsert = await this.contents(head.id);
      // A layer without resources must not cost anything.
      if (upsert.length > 0) updates.push({ layer: head.layer, kind: "replace", upsert });
    }
    return updates;
  }

  async contents(id: RevisionId): Promise<readonly Resource[]> {
    return this.#decoded(await this.#options.store.read(id));
  }

  /** Serves what another server has changed in layers, or their leases: what is newer than what is known. */
  async followNewer(heads: readonly Revision[]): Promise<void> {
    // The watch may tell of a head from before the last write here.
    await this.#follow(heads, (head, known) => head.number > (known?.number ?? 0));
  }

  /** A store that was restored from a backup has older heads. What it has now is served. */
  async goBack(moved: readonly Revision[]): Promise<void> {
    const { store, layers, leases, onProblem } = this.#options;
    const ofLeases = layers.flatMap((layer) => leases.of(layer).head ?? []);
    for (const one of await whatWentBack(store, [...this.#heads.values(), ...ofLeases], moved)) {
      if (layers.includes(one.layer)) onProblem([wentBackFinding(one)]);
      await this.adopt(one.layer, one.head);
    }
  }

  /** The store was asked and has this head, whatever was known of it: also where it is none, or an older one. */
  async adopt(layer: LayerName, head: Revision | undefined): Promise<void> {
    if (head !== undefined) return this.#follow([head], (found, known) => found.id !== known?.id);
    const leases = this.#options.leases.keptIn(layer);
    if (leases === undefined) this.#heads.delete(layer);
    else this.#options.leases.load(leases, undefined, []);
  }

  async #follow(
    heads: readonly Revision[],
    isNew: (head: Revision, known: Revision | undefined) => boolean,
  ): Promise<void> {
    const { store, layers, leases: book, onRevision, problem } = this.#options;
    const updates: LayerUpdate[] = [];
    const followed: Revision[] = [];
    for (const head of heads) {
      const leases = book.keptIn(head.layer);
      if (leases !== undefined && isNew(head, leases.head)) book.load(leases, head, await store.read(head.id));
      const known = this.#heads.get(head.layer);
      if (!layers.includes(head.layer) || !isNew(head, known)) continue;
      const from = this.#torn.has(head.layer) ? undefined : known;
      const { layer, kind, upsert, remove, revisions } = await followedSince(store, from, head);
      updates.push({ layer, kind, upsert: this.#decoded(upsert), remove: resourcesNamed(remove, this.#options.types) });
      followed.push(...revisions);
    }
    for (const { layer } of updates) {
      const head = heads.find((one) => one.layer === layer);
      if (head !== undefined) this.#heads.set(layer, head);
    }
    if (updates.length === 0) return;
    try {
      // It was judged where it was written. If it were refused here, nobody could change the layer any more.
      this.sink?.apply(updates, { isJudged: false });
      for (const { layer } of updates) this.#torn.delete(layer);
    } catch (error) {
      for (const { layer } of updates) this.#torn.add(layer);
      problem(error);
    }
    for (const revision of followed) onRevision?.(revision, false);
  }

  /** A resource whose type the server does not know any more is left out, and told. */
  #decoded(stored: readonly StoredResource[]): readonly Resource[] {
    return stored.flatMap((one) => {
      try {
        return [decodeStored(one, this.#options)];
      } catch (error) {
        this.#options.problem(error);
        return [];
      }
    });
  }
}
