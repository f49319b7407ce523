import { randomBytes } from "node:crypto";
import { maxKept } from "@xdskit/api";

/** The subject of an event. `reset`: events are missing here, and a reader must look at everything again. */
export type EventKind = "revision" | "node" | "rollout" | "problem" | "reset";

/** Something that happened, as it is sent. */
export interface ApiEvent {
  /** Unique over restarts, and in order within the life of a server. */
  readonly id: string;
  readonly kind: EventKind;
  readonly data: object;
}

/** The data of `reset`. */
export const resetData = { reason: "events were missed: read everything again" } as const;

/** Remembers the last events for readers that come back, and tells its listeners. */
export class EventRing {
  /** Different at each start: nobody knows the events of an earlier one any more. */
  readonly #life = randomBytes(6).toString("base64url");
  readonly #kept: ApiEvent[] = [];
  readonly #listeners = new Set<(event: ApiEvent) => void>();
  #count = 0;

  /** The id of the newest event, or of none. */
  get last(): string {
    return this.#idOf(this.#count);
  }

  add(kind: EventKind, data: object): void {
    this.#count += 1;
    const event = { id: this.last, kind, data };
    this.#kept.push(event);
    if (this.#kept.length > maxKept) this.#kept.shift();
    for (const listener of this.#listeners) listener(event);
  }

  /** Others than these happened, and nobody knows them. */
  miss(): void {
    this.add("reset", resetData);
  }

  /** The events after one; undefined: some of them are forgotten, or there never was such an event. */
  after(id: string): readonly ApiEvent[] | undefined {
    const [, life, text = ""] = /^(.+)\.(\d{1,15})$/.exec(id) ?? [];
    const number = Number(text);
    if (life !== this.#life || number > this.#count) return undefined;
    const missed = this.#count - number;
    return missed > this.#kept.length ? undefined : this.#kept.slice(this.#kept.length - missed);
  }

  /** Calls a function at each event; returns a function that ends it. */
  listen(listener: (event: ApiEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #idOf(count: number): string {
    return `${this.#life}.${count}`;
  }
}
