import { type Stage, wholeStage } from "../make-before-break.js";
import type { Snapshot } from "../snapshot.js";
import { answerTo, type Leg, type LegStep, mostCounted, mostLegs, type Shift, type Way } from "./leg.js";
import { newDeparture } from "./order-standpoint.js";
import { rememberMove } from "./remembered-moves.js";
import type { RestingPlace } from "./resting-place.js";
import type { SharedResponse } from "./shared-responses.js";
import type { Subscriber } from "./subscriber.js";

/** Those fields of a subscriber that become different on the way. */
type Shifting = Pick<Shift, "held" | "acked" | "owed">;

/** Where a leg begins: at rest, or with the answers that came at the end of another leg (a sum of `answerTo`). */
export type LegStart =
  | { readonly kind: "rest"; readonly place: RestingPlace }
  | { readonly kind: "answers"; readonly after: Leg; readonly answers: number };

/**
 * What the first stream does that goes a leg, noted while it goes it by itself (`Delivery`), so that others can repeat it. That is possible where all that decided it is in the place
 * where the leg begins, and in the answers since; where something else did, there is no leg (`end`).
 */
export class Recording {
  readonly to: Snapshot;
  readonly #start: LegStart;
  readonly #subscribers: readonly Subscriber[];
  /** Of each subscriber, as of the last step. */
  readonly #before: Shifting[];
  readonly #steps: LegStep[] = [];
  #stage: Stage = wholeStage;
  #isFree: boolean;
  /** It depends on something that is not the same for all streams at the place: TTLs, or whether something was ever sent of a type that is empty. */
  #isOwn = false;

  constructor(start: LegStart, to: Snapshot, subscribers: readonly Subscriber[]) {
    this.to = to;
    this.#start = start;
    this.#subscribers = subscribers;
    this.#before = subscribers.map(({ held, acked, owed }) => ({ held, acked, owed }));
    this.#isFree = start.kind === "rest";
  }

  /** The snapshot from which the stream set out; undefined where the leg begins with answers. */
  get from(): Snapshot | undefined {
    return this.#start.kind === "rest" ? this.#start.place.snapshot : undefined;
  }

  /** Notes the stage from here on. */
  noteStage(stage: Stage): void {
    this.#stage = stage;
    // What only stays for a while waits for no answer.
    if (stage.awaited.size > 0) this.#isFree = false;
  }

  /** Notes a step: the response, and what became different since the one before. */
  sent(subscriber: Subscriber, response: SharedResponse): void {
    const index = this.#subscribers.indexOf(subscriber);
    this.#steps.push({ index, response, shifts: this.#shifts(index), stage: this.#stage, sendings: [] });
    this.#isOwn ||= response.perishable.size > 0;
  }

  /** The leg, once there is nothing more to send, remembered for others; `to`: where it leads, if nothing is held back. Undefined where others cannot repeat it. */
  end(to: RestingPlace | undefined): Leg | undefined {
    const way = this.#way();
    const open = [...this.#unanswered(), ...this.#steps];
    const shifts = this.#shifts(undefined);
    if (this.#isOwn) return undefined;
    // Two unanswered responses of a type, or one from before the way: then an answer does not mean that the client uses all that it holds.
    const isKnown = ({ outstanding }: Subscriber, at: number) =>
      outstanding.length === open.filter(({ index }) => index === at).length && outstanding.length <= 1;
    if (!this.#subscribers.every(isKnown)) return undefined;
    // Where nothing is unanswered, only time lets the stream go on.
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
    return this.#start.kind === "answers" ? this.#start.after.way : { legs: 0, departure: newDeparture() };
  }

  #unanswered(): readonly LegStep[] {
    if (this.#start.kind === "rest") return [];
    const { after, answers } = this.#start;
    return after.open.filter((step) => (answerTo(step) & answers) === 0);
  }

  /** What became different since the last call; `sent`: the index of the type of which a response is sent. */
  #shifts(sent: number | undefined): readonly Shift[] {
    const shifts: Shift[] = [];
    for (const [index, { held, acked, owed }] of this.#subscribers.entries()) {
      const before = this.#before[index] as Shifting;
      if (before.held === held && before.acked === acked && before.owed === owed) continue;
      this.#before[index] = { held, acked, owed };
      shifts.push({ index, held, acked, owed });
      // Of a type that became empty it matters whether anything was ever sent (`isFirst`).
      this.#isOwn ||= held.size === 0 && index !== sent;
    }
    return shifts;
  }
}
