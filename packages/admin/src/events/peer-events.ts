import { setTimeout as delay } from "node:timers/promises";
import type { PeerServer } from "../contract/peers.js";
import type { ApiEvent, EventRing } from "./event-ring.js";

/** Asks for the events after one that the reader has. Undefined: for where they are now. */
export interface EventsAsked {
  readonly after?: string | undefined;
}

/** The events after it. */
export interface EventsAnswer {
  /** The id for the next question. */
  readonly last: string;
  readonly events: readonly ApiEvent[];
  /** Some of the events are forgotten, or the server was started since. */
  readonly isCut?: boolean;
}

/** How long an answer waits for an event, in milliseconds. */
const holdMs = 10_000;
/** Events that follow each other within this time, in milliseconds, go together. */
const gatherMs = 50;
/** A peer that does not answer is asked again after this many milliseconds. */
const retryMs = 2_000;
/** New peers are looked for this often, in milliseconds. */
const lookMs = 1_000;

/** Waits for events after one, and answers with all of them. */
export async function eventsAfter(ring: EventRing, { after }: EventsAsked): Promise<EventsAnswer> {
  if (after === undefined) return { last: ring.last, events: [] };
  if (ring.after(after)?.length === 0) {
    await nextEvent(ring);
    await delay(gatherMs, undefined, { ref: false });
  }
  const events = ring.after(after);
  return { last: ring.last, events: events ?? [], ...(events === undefined ? { isCut: true } : {}) };
}

async function nextEvent(ring: EventRing): Promise<void> {
  let stop = () => {};
  const happened = new Promise<void>((resolve) => {
    stop = ring.listen(() => resolve());
  });
  const late = new AbortController();
  await Promise.race([happened, delay(holdMs, undefined, { ref: false, signal: late.signal }).catch(() => {})]);
  late.abort();
  stop();
}

/**
 * Puts the events of other servers' nodes into a ring, while the ring has readers. Where a server begins to be heard,
 * was started again, or is gone, readers are told that events are missing: it had nodes, and has others now.
 */
export class PeerEvents {
  readonly #peers: () => readonly PeerServer[];
  readonly #ring: EventRing;
  readonly #isRead: () => boolean;
  /** By name; an object for each time that a server is followed. */
  readonly #followed = new Map<string, object>();
  readonly #timer: NodeJS.Timeout;

  constructor(peers: () => readonly PeerServer[], ring: EventRing, isRead: () => boolean) {
    this.#peers = peers;
    this.#ring = ring;
    this.#isRead = isRead;
    this.#timer = setInterval(() => this.#look(), lookMs).unref();
    this.#look();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#followed.clear();
  }

  #look(): void {
    const names = new Set(this.#peers().map(({ name }) => name));
    for (const name of [...this.#followed.keys()]) {
      if (names.has(name)) continue;
      this.#followed.delete(name);
      if (this.#isRead()) this.#ring.miss();
    }
    for (const name of names) if (!this.#followed.has(name)) void this.#follow(name);
  }

  async #follow(name: string): Promise<void> {
    const following = {};
    this.#followed.set(name, following);
    const isFollowed = () => this.#followed.get(name) === following;
    let after: string | undefined;
    while (isFollowed()) {
      // Under the same name it may be at another address by now.
      const peer = this.#isRead() ? this.#peers().find((one) => one.name === name) : undefined;
      if (peer === undefined) {
        // Nobody is told of what happens meanwhile.
        after = undefined;
        await delay(lookMs, undefined, { ref: false });
        continue;
      }
      try {
        const answer = (await peer.ask("events", { after }, 2 * holdMs)) as EventsAnswer;
        if (!isFollowed()) continue;
        if (after === undefined || answer.isCut === true) this.#ring.miss();
        after = answer.last;
        for (const { kind, data } of answer.events)
          if (isOfNodes({ kind, data })) this.#ring.add(kind, { ...data, replica: name });
      } catch {
        await delay(retryMs, undefined, { ref: false });
      }
    }
  }
}

/** Every server reports revisions, rollouts and refused changes itself. */
function isOfNodes({ kind, data }: Pick<ApiEvent, "kind" | "data">): boolean {
  if (kind === "node") return true;
  const about = (data as { readonly kind?: string }).kind;
  return kind === "problem" && (about === "rejected" || about === "refused");
}
