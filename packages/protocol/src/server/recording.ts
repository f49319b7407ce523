import { type Stage, wholeStage } from "../make-before-break.js";
import type { Snapshot } from "../snapshot.js";
import { answerTo, type Leg, type LegStep, mostCounted, mostLegs, type Shift, type Way } from "./leg.js";
import { newPassMemory } from "./ordering.js";
import { type RestingPlace, rememberMove } from "./resting-place.js";
import type { SharedResponse } from "./shared-responses.js";
import type { Subscriber } from "./subscriber.js";

/** What of a type becomes different on the way. */
type Stand = Pick<Shift, "held" | "acked" | "owed">;

/** Where a leg begins: at rest, or with answers that came at the end of another. */
export type LegStart =
  | { readonly kind: "rest"; readonly place: RestingPlace }
  | { readonly kind: "answers"; readonly after: Leg; readonly answers: number };

/** A leg that a stream goes by itself, and that others may go. */
export class Recording {
  readonly to: Snapshot;
  readonly #start: LegStart;
  readonly #subscribers: readonly Subscriber[];
  readonly #stands: Stand[];
  readonly #steps: LegStep[] = [];
  #stage: Stage = wholeStage;
  #isFree: boolean;
  /** Others may be known less of than the one that goes it. */
  #isOwn = false;

  constructor(start: LegStart, to: Snapshot, subscribers: readonly Subscriber[]) {
    this.to = to;
    this.#start = start;
    this.#subscribers = subscribers;
    this.#stands = subscribers.map(({ held, acked, owed }) => ({ held, acked, owed }));
    this.#isFree = start.kind === "rest";
  }

  /** Where it begins, if that is at rest. */
  get from(): Snapshot | undefined {
    return this.#start.kind === "rest" ? this.#start.place.snapshot : undefined;
  }

  /** How far the stream may be brought now. */
  stands(stage: Stage): void {
    this.#stage = stage;
    if (stage !== wholeStage) this.#isFree = false;
  }

  sent(subscriber: Subscriber, response: SharedResponse): void {
    const index = this.#subscribers.indexOf(subscriber);
    this.#steps.push({ index, response, shifts: this.#shifts(index), stage: this.#stage, sendings: [] });
    this.#isOwn ||= response.perishable.size > 0;
  }

  /** The leg, for others, once all is sent; `to`: where it leads, if nothing waits for an answer. Undefined where others cannot go it. */
  end(to: RestingPlace | undefined): Leg | undefined {
    const way = this.#way();
    const open = [...this.#unanswered(), ...this.#steps];
    const shifts = this.#shifts(undefined);
    if (this.#isOwn) return undefined;
    // More than one of a type, or another than those that are known: what the client uses once it answers is not only for them to say.
    const isKnown = ({ outstanding }: Subscriber, at: number) =>
      outstanding.length === open.filter(({ index }) => index === at).length && outstanding.length <= 1;
    if (!this.#subscribers.every(isKnown)) return undefined;
    // Without an answer only time lets it go on.
    if (to === undefined && (open.length === 0 || this.#subscribers.length > mostCounted)) return undefined;
    if (way.legs >= mostLegs) return undefined;
    way.legs += 1;
    const leg: Leg = {
      steps: this.#steps,
      shifts,
      stage: this.#stage,
      open,
      isFree: this.#isFree,
      to,
      next: new Map(),
      way,
    };
    if (this.#start.kind === "answers") this.#start.after.next.set(this.#start.answers, leg);
    else rememberMove(this.#start.place, this.to, leg);
    return leg;
  }

  #way(): Way {
    return this.#start.kind === "answers" ? this.#start.after.way : { legs: 0, memory: newPassMemory() };
  }

  #unanswered(): readonly LegStep[] {
    if (this.#start.kind === "rest") return [];
    const { after, answers } = this.#start;
    return after.open.filter((step) => (answerTo(step) & answers) === 0);
  }

  /** What became different since it was asked last; `sent`: of what a response is sent. */
  #shifts(sent: number | undefined): readonly Shift[] {
    const shifts: Shift[] = [];
    for (const [index, { held, acked, owed }] of this.#subscribers.entries()) {
      const before = this.#stands[index] as Stand;
      if (before.held === held && before.acked === acked && before.owed === owed) continue;
      this.#stands[index] = { held, acked, owed };
      shifts.push({ index, held, acked, owed });
      // Of a type that is empty it matters whether anything was sent of it before.
      this.#isOwn ||= held.size === 0 && index !== sent;
    }
    return shifts;
  }
}
