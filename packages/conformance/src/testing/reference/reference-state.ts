import type { Mistake } from "./mistakes.js";

/** One resource of the reference server. */
export interface ReferenceResource {
  readonly name: string;
  readonly version: string;
  readonly body: Uint8Array;
  readonly aliases: readonly string[];
  readonly ttlMs: number | undefined;
}

/** Resources by type URL and name. */
export type ReferenceContent = ReadonlyMap<string, ReadonlyMap<string, ReferenceResource>>;

/** What the state must know of a stream. */
export interface Follower {
  contentChanged(): void;
  /** Whether the client has answered everything. */
  readonly isInSync: boolean;
}

const nothing: ReadonlyMap<string, ReferenceResource> = new Map();
/** A client that answers nothing does not keep the others waiting for longer. */
const longestStageMs = 500;

/**
 * What the reference server serves, to everybody alike. A change comes make before break, in three stages: what is new
 * below the routes, then listeners and routes, then without what is not needed any more. The next stage begins once all
 * clients have answered.
 */
export class ReferenceState {
  #content: ReferenceContent;
  #version = 1;
  #stages: readonly ReferenceContent[] = [];
  #timer: NodeJS.Timeout | undefined;
  readonly #followers = new Set<Follower>();
  readonly #mistakes: ReadonlySet<Mistake>;

  constructor(content: ReferenceContent, mistakes: ReadonlySet<Mistake>) {
    this.#content = content;
    this.#mistakes = mistakes;
  }

  /** Serves this from now on. Sessions hear of it. */
  set(content: ReferenceContent): void {
    if (this.#stages.length > 0 && this.#mistakes.has("second-change-lost")) return;
    const old = this.#stages.at(-1) ?? this.#content;
    const below = new Map(
      [...content].map(([type, resources]) => [type, new Map([...(old.get(type) ?? []), ...resources])]),
    );
    const isBelow = (type: string) => type.endsWith("Cluster") || type.endsWith("ClusterLoadAssignment");
    const first = [...content.keys()].map(
      (type) => [type, (isBelow(type) ? below : old).get(type) ?? nothing] as const,
    );
    const second = [...content].map(
      ([type, resources]) => [type, isBelow(type) ? below.get(type)! : resources] as const,
    );
    const isAtOnce = this.#mistakes.has("breaks-before-make");
    this.#stages = isAtOnce ? [content] : [new Map(first), new Map(second), content];
    this.#next();
  }

  #next(): void {
    clearTimeout(this.#timer);
    const [stage, ...rest] = this.#stages;
    if (stage === undefined) return;
    this.#stages = rest;
    this.#content = stage;
    this.#version++;
    const told = this.#mistakes.has("one-client") ? [...this.#followers].slice(0, 1) : this.#followers;
    for (const follower of told) follower.contentChanged();
    this.#timer = setTimeout(() => this.#next(), longestStageMs).unref();
    this.answered();
  }

  /** A client has answered: the next stage may begin. */
  answered(): void {
    if (this.#stages.length > 0 && [...this.#followers].every(({ isInSync }) => isInSync)) this.#next();
  }

  /** Returns what ends it. */
  join(follower: Follower): () => void {
    this.#followers.add(follower);
    return () => {
      this.#followers.delete(follower);
      this.answered();
    };
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
