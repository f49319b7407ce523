import { type Finding, type Version, XdskitError } from "@xdskit/api";
import type { LayerName, LayerUpdate, SourceSink } from "@xdskit/server";

/** What an origin's content is brought into a server with. */
export interface UpstreamSourceOptions {
  readonly layer: LayerName;
  /** Told of resources that could not be served. */
  report(findings: readonly Finding[]): void;
}

/** A change of what an origin gives. */
export type UpstreamChange = Pick<LayerUpdate, "upsert" | "remove">;

/**
 * Brings what an origin gives a group into the server. The first answers come as one change: what a client had
 * before a restart of the relay can be compared only with all of it.
 */
export class UpstreamSource {
  readonly #options: UpstreamSourceOptions;
  #sink: SourceSink | undefined;
  /** Undefined: what comes is applied at once. */
  #first: LayerUpdate[] | undefined = [];
  /** What it began with, by `keyOf`, while the start brings it once more. */
  readonly #begun = new Map<string, Version>();
  #isClosed = false;

  constructor(options: UpstreamSourceOptions) {
    this.#options = options;
  }

  /**
   * `begin` resolves once the first answers, from the origin or the cache, have come to `update`; `known` once the
   * content of every type that is asked for as a whole is known.
   */
  async start(sink: SourceSink, begin: () => Promise<void>, known: Promise<void>): Promise<void> {
    this.#sink = sink;
    await begin();
    if (this.#first !== undefined) this.#applyFirst(sink, contentAfter(this.#first));
    this.#begun.clear();
    // Only what is complete is a good configuration.
    void known.then(() => !this.#isClosed && sink.report([]));
  }

  /**
   * Begins with this content, before the start brings anything: what the origin says during the start is a change of
   * it.
   */
  beginWith(content: LayerUpdate["upsert"]): void {
    if (this.#sink === undefined || this.#isClosed) return;
    for (const one of content) this.#begun.set(keyOf(one.type.typeUrl, one.key), one.version);
    this.#applyFirst(this.#sink, content);
  }

  /**
   * Brings a change; what cannot be served of it is reported. Returns the rest; undefined: all of it was refused.
   * Nothing is refused before the first answers are all there.
   */
  update({ upsert, remove = [] }: UpstreamChange): UpstreamChange | undefined {
    const update: LayerUpdate = { layer: this.#options.layer, kind: "patch", upsert, remove };
    if (this.#isClosed || this.#sink === undefined) return update;
    if (this.#first === undefined) return this.#isSame(update) ? update : this.#apply(this.#sink, update);
    this.#first.push(update);
    return update;
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Whether it only says again what it began with. */
  #isSame({ upsert, remove = [] }: UpstreamChange): boolean {
    if (this.#begun.size === 0) return false;
    const isSame = upsert.every((one) => this.#begun.get(keyOf(one.type.typeUrl, one.key)) === one.version);
    for (const { type, name } of remove) this.#begun.delete(keyOf(type.typeUrl, name));
    if (!isSame) for (const { type, key } of upsert) this.#begun.delete(keyOf(type.typeUrl, key));
    return isSame && remove.length === 0;
  }

  #applyFirst(sink: SourceSink, upsert: LayerUpdate["upsert"]): void {
    this.#first = undefined;
    const all: LayerUpdate = { layer: this.#options.layer, kind: "replace", upsert };
    if (this.#apply(sink, all) === undefined) sink.apply([{ ...all, upsert: [] }]);
  }

  /** The resources that a change is refused for must not cost the others: the origin does not send those again. */
  #apply(sink: SourceSink, update: LayerUpdate): LayerUpdate | undefined {
    try {
      sink.apply([update]);
      return update;
    } catch (error) {
      if (!(error instanceof XdskitError)) throw error;
      this.#options.report(error.findings);
      const refused = new Set(error.findings.map(({ type, resource }) => `${type} ${resource}`));
      const upsert = update.upsert.filter(({ type, name }) => !refused.has(`${type.name} ${name}`));
      return upsert.length === update.upsert.length ? undefined : this.#apply(sink, { ...update, upsert });
    }
  }
}

function keyOf(typeUrl: string, name: string): string {
  return `${typeUrl} ${name}`;
}

function contentAfter(updates: readonly LayerUpdate[]): LayerUpdate["upsert"] {
  const found = new Map<string, LayerUpdate["upsert"][number]>();
  for (const { upsert, remove = [] } of updates) {
    for (const { type, name } of remove) found.delete(keyOf(type.typeUrl, name));
    for (const resource of upsert) found.set(keyOf(resource.type.typeUrl, resource.key), resource);
  }
  return [...found.values()];
}
