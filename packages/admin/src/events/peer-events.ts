import { setTimeout as delay } from "node:timers/promises";
import type { Peer } from "../contract/peers.js";
import type { ApiEvent, EventRing } from "./event-ring.js";

/** Which events somebody has already; undefined: those from now on. */
export interface EventsAsked {
  readonly after: string | undefined;
}

/** What came after them. */
export interface EventsAnswer {
  /** To be asked with next. */
  readonly last: string;
  readonly events: readonly ApiEvent[];
}

/** An answer waits so long for an event, in milliseconds. */
const holdMs = 10_000;
/** Events that follow each other go together. */
const gatherMs = 50;
/** Who does not answer is asked again after so long. */
const retryMs = 2_000;
/** Peers come and go: it is looked for new ones as often. */
const lookMs = 1_000;

/** Waits for what happens after an event, and answers with all of it. */
export async function eventsAfter(ring: EventRing, { after = ring.last }: EventsAsked): Promise<EventsAnswer> {
  if (ring.after(after)?.length === 0) {
    await nextEvent(ring);
    await delay(gatherMs, undefined, { ref: false });
  }
  // What is forgotten by now is lost: the one who asks has been away for too long.
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

/** Puts what happens to the nodes of other servers into a ring, while somebody reads it. */
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

/** Revisions, rollouts and refused changes are told by every server itself. */
function isOfNodes({ kind, data }: Pick<ApiEvent, "kind" | "data">): boolean {
  if (kind === "node") return true;
  const about = (data as { readonly kind?: string }).kind;
  return kind === "problem" && (about === "rejected" || about === "refused");
}
