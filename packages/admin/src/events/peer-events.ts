import { setTimeout as delay } from "node:timers/promises";
import type { Peer } from "../contract/peers.js";
import type { ApiEvent, EventRing } from "./event-ring.js";

/** Asks for the events after one that the reader has. Undefined: for those from now on. */
export interface EventsAsked {
  readonly after: string | undefined;
}

/** The events after it. */
export interface EventsAnswer {
  /** The id for the next question. */
  readonly last: string;
  readonly events: readonly ApiEvent[];
}

/** How long an answer waits for an event, in milliseconds. */
const holdMs = 10_000;
/** Events that follow each other within this time, in milliseconds, go together. */
const gatherMs = 50;
/** A peer that does not answer is asked again after so many milliseconds. */
const retryMs = 2_000;
/** New peers are looked for so often, in milliseconds. */
const lookMs = 1_000;

/** Waits for events after one, and answers with all of them. */
export async function eventsAfter(ring: EventRing, { after = ring.last }: EventsAsked): Promise<EventsAnswer> {
  if (ring.after(after)?.length === 0) {
    await nextEvent(ring);
    await delay(gatherMs, undefined, { ref: false });
  }
  // Forgotten events are lost: the peer has been away for too long.
  return { last: ring.last, events: ring.after(after) ?? [] };
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

/** Puts the events of other servers' nodes into a ring, while the ring has readers. */
export class PeerEvents {
  readonly #peers: () => readonly Peer[];
  readonly #ring: EventRing;
  readonly #isRead: () => boolean;
  readonly #followed = new Set<string>();
  readonly #timer: NodeJS.Timeout;
  #isClosed = false;

  constructor(peers: () => readonly Peer[], ring: EventRing, isRead: () => boolean) {
    this.#peers = peers;
    this.#ring = ring;
    this.#isRead = isRead;
    this.#timer = setInterval(() => this.#look(), lookMs).unref();
    this.#look();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
  }

  #look(): void {
    for (const peer of this.#peers()) if (!this.#followed.has(peer.name)) void this.#follow(peer);
  }

  async #follow(peer: Peer): Promise<void> {
    const { name } = peer;
    this.#followed.add(name);
    let after: string | undefined;
    while (!this.#isClosed && this.#peers().some((one) => one.name === name)) {
      try {
        if (!this.#isRead()) await delay(lookMs, undefined, { ref: false });
        else {
          const { last, events } = (await peer.ask("events", { after }, 2 * holdMs)) as EventsAnswer;
          after = last;
          for (const { kind, data } of events)
            if (isOfNodes({ kind, data })) this.#ring.add(kind, { ...data, replica: name });
        }
      } catch {
        await delay(retryMs, undefined, { ref: false });
      }
    }
    this.#followed.delete(name);
  }
}

/** Every server reports revisions, rollouts and refused changes itself. */
function isOfNodes({ kind, data }: Pick<ApiEvent, "kind" | "data">): boolean {
  if (kind === "node") return true;
  const about = (data as { readonly kind?: string }).kind;
  return kind === "problem" && (about === "rejected" || about === "refused");
}
