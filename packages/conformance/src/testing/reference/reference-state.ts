/** One resource of the reference server. */
export interface ReferenceResource {
  readonly name: string;
  readonly version: string;
  readonly body: Uint8Array;
}

/** Resources by type URL and name. */
export type ReferenceContent = ReadonlyMap<string, ReadonlyMap<string, ReferenceResource>>;

const nothing: ReadonlyMap<string, ReferenceResource> = new Map();

/** What the reference server serves, to everybody alike. */
export class ReferenceState {
  #content: ReferenceContent;
  #version = 1;
  readonly #listeners = new Set<() => void>();

  constructor(content: ReferenceContent) {
    this.#content = content;
  }

  /** Serves this from now on. Sessions hear of it. */
  set(content: ReferenceContent): void {
    this.#content = content;
    this.#version++;
    for (const listener of this.#listeners) listener();
  }

  /** Returns what ends it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  knows(type: string): boolean {
    return this.#content.has(type);
  }

  of(type: string): ReadonlyMap<string, ReferenceResource> {
    return this.#content.get(type) ?? nothing;
  }

  /** Of a SotW response. */
  get version(): string {
    return `v${this.#version}`;
  }
}
