import { type Clock, printable, type Resource } from "@xdskit/api";
import type { Progress, ReportedStream } from "@xdskit/server";

/** A content that a client rejects, and its words. */
interface Rejected {
  readonly resource: Resource;
  readonly words: string;
}

/** Most of what clients are sent they accept within this time, so that nothing is asked of their streams. */
const lookMs = 100;
/** A client that comes back within this time is not gone. */
const goneMs = 5_000;

/**
 * Knows which contents of one type clients reject (NACK) now. A rejection is over once the client uses the content all
 * the same, asks for it no more, or is gone.
 */
export class ClientRejections implements Progress {
  readonly #type: Resource["type"]["name"];
  readonly #clock: Clock;
  readonly #onChanged: () => void;
  /** By stream, the longest known first, and by name. */
  readonly #rejected = new Map<ReportedStream, ReadonlyMap<string, Rejected>>();
  /** Streams that may stand elsewhere than when they were looked at. */
  #due = new Set<ReportedStream>();

  /** `onChanged`: other contents are rejected now. */
  constructor(type: Resource["type"]["name"], clock: Clock, onChanged: () => void) {
    this.#type = type;
    this.#clock = clock;
    this.#onChanged = onChanged;
  }

  progressed(stream: ReportedStream): void {
    if (stream.isInSync && !this.#rejected.has(stream)) return;
    if (this.#due.size === 0) this.#clock.after(lookMs, () => this.#look());
    this.#due.add(stream);
  }

  left(stream: ReportedStream): void {
    if (!this.#rejected.has(stream)) return;
    this.#clock.after(goneMs, () => {
      this.#rejected.delete(stream);
      this.#onChanged();
    });
  }

  /** All of them, those of the first client first. */
  *[Symbol.iterator](): Iterator<Rejected> {
    for (const names of this.#rejected.values()) yield* names.values();
  }

  #look(): void {
    const due = this.#due;
    this.#due = new Set();
    let isOther = false;
    for (const stream of due) isOther = this.#lookAt(stream) || isOther;
    if (isOther) this.#onChanged();
  }

  /** Whether it may reject others than before. */
  #lookAt(stream: ReportedStream): boolean {
    const before = this.#rejected.get(stream);
    const { opened } = stream;
    if (opened === undefined || (before === undefined && stream.isInSync)) return false;
    const status = stream.status().find(({ type }) => type.name === this.#type);
    const now = new Map<string, Rejected>();
    for (const [name, one] of before ?? []) {
      const isAsked = status?.subscription.wildcard === true || status?.subscription.names.has(name) === true;
      if (isAsked && status?.acknowledged?.set.get(name)?.version !== one.resource.version) now.set(name, one);
    }
    const { blamed = [], after, message = "" } = status?.rejected ?? {};
    const words = `the client ${printable(opened.node.id)} rejected what was made of it: ${printable(message)}`;
    for (const name of blamed) {
      const resource = after?.get(name);
      if (resource !== undefined) now.set(name, { resource, words });
    }
    if (now.size > 0) this.#rejected.set(stream, now);
    else this.#rejected.delete(stream);
    return now.size > 0 || before !== undefined;
  }
}
