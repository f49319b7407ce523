import type { Clock, ResourceType, TypeUrl } from "@xdskit/api";
import { type ClaimedSnapshot, mayBeWarming, mayName, type Snapshot, type Stream } from "@xdskit/protocol";
import type { MemberStanding } from "../../contracts/parts/target-policy.js";

/** A client that has asked for no further type for this many milliseconds has asked for everything that it had. */
const quietMs = 100;
/**
 * A client may have content that another server has heard of a moment earlier. The server waits at least this many
 * milliseconds to hear of it as well.
 */
const newsMs = 1_000;
/** The server waits for at most this many milliseconds while it cannot learn what others have written. */
const maxNewsMs = 10_000;
/**
 * This many milliseconds after a client's own snapshot became its target it gets the newest one, even if it does not
 * use its own.
 */
const maxMs = 5_000;
/**
 * The same where its clusters are warming: by default an Envoy waits 15 seconds for their endpoints before it says
 * which clusters it has.
 */
export const maxWarmingMs = 20_000;
/** After this many milliseconds it is looked at again: most of them end because the client asks for its clusters. */
const lookMs = 1_000;

/** The part of a stream that a resumption needs. */
export interface ResumingStream {
  /** See `Stream.has`. */
  has(snapshot: Snapshot): ReadonlyMap<ResourceType, boolean | undefined>;
  /** See `Stream.claimed`. */
  claimed(known: readonly [Snapshot, ...Snapshot[]], before?: ClaimedSnapshot): ClaimedSnapshot;
  /** See `Stream.asked`. */
  readonly asked: Stream["asked"];
  /** See `Stream.newest`. */
  readonly newest: Snapshot | undefined;
  readonly isInSync: boolean;
}

/** The options of a resumption. */
export interface ResumptionOptions {
  readonly clock: Clock;
  readonly stream: ResumingStream;
  /** Where its client stands. */
  readonly standing: () => MemberStanding;
  /** The snapshots that clients may have besides the newest, newest first. */
  readonly known: () => readonly Snapshot[];
  /** Called when time changes the target. */
  readonly targetChanged: () => void;
  /** Called for a fault while time changes it. */
  readonly failed: (error: unknown) => void;
  /** See `Source.catchUp`. Undefined: nobody else writes what is served. */
  readonly catchUp: () => Promise<void> | undefined;
  /**
   * Every client may have something of an earlier snapshot, after a restart or while listeners drain, so the resumption
   * waits until it has asked for all its types. Otherwise most clients come back with the newest one, and a client that
   * has its content of the first type gets it at once.
   */
  readonly maySayMore: boolean;
  /** The client may ask for all types on this stream. */
  readonly isAggregated: boolean;
  /** Its clusters may be warming, as far as is known: it has asked for clusters before, or nobody knows. */
  readonly mayWarm: boolean;
  /** A client is told of names that do not exist: it waits for none of them. */
  readonly tellsAbsence: boolean;
}

/** Whether a client asks for what warms clusters, and has not asked for clusters. */
export function lacksClusters(asked: Stream["asked"], newest: Snapshot | undefined): boolean {
  for (const { type } of newest?.sets.values() ?? []) if (mayBeWarming(type, asked)) return true;
  return false;
}

/** Whether it asks for other names than when that was put together. */
function asksForOthers(asked: Stream["asked"], claimed: Pick<ClaimedSnapshot, "asked">): boolean {
  for (const [url, { names }] of claimed.asked) if (asked.get(url)?.subscription.names !== names) return true;
  return false;
}

/** Whether this server has learned what others had written when the client came. */
type News = "unasked" | "asked" | "heard";

/** The client's resources are not known yet; its target is its own resources; its target is the newest snapshot. */
type ResumptionPhase =
  | { readonly kind: "asking"; readonly known: () => readonly Snapshot[] }
  | {
      readonly kind: "holding";
      readonly claimed: ClaimedSnapshot;
      /** The newest snapshot when that was put together. */
      readonly newest: Snapshot;
      readonly known: () => readonly Snapshot[];
    }
  | { readonly kind: "over" };

/**
 * Brings a client that was served before a restart, or by another server, from there to the newest snapshot in the
 * order of make before break.
 *
 * The client makes its claims, one type after the other, and gets nothing for the moment. Once it has asked for no
 * further type, its content is composed from the snapshots that this server, or another one, served earlier: one of
 * them, or parts of two successive ones if the client was cut off in the middle of a change. That is its first target:
 * the client has all of it, so nothing is sent. Then the newest snapshot is a change like any other: its stages are
 * planned from what the client uses.
 *
 * An Envoy whose clusters are warming asks for them only once they are warm. Until then its own resources stay its
 * target, for at most 20 seconds, and are composed again when it asks. If they can wait for nothing but endpoints, it
 * asks as soon as it has acknowledged these, or it has none.
 */
export class Resumption {
  /** Snapshots are not kept longer than needed, since a stream may live for a long time. */
  #phase: ResumptionPhase;
  readonly #clock: Clock;
  readonly #stream: ResumingStream;
  readonly #standing: ResumptionOptions["standing"];
  readonly #targetChanged: () => void;
  readonly #failed: ResumptionOptions["failed"];
  readonly #catchUp: ResumptionOptions["catchUp"];
  readonly #maySayMore: boolean;
  readonly #isAggregated: boolean;
  readonly #couldWarm: boolean;
  readonly #tellsAbsence: boolean;
  /** When the phase began, in milliseconds. */
  #since: number;
  #news: News = "unasked";
  #newest: Snapshot | undefined;
  /** The number of requested types at the last look. */
  #asked = 0;
  #cancel: (() => void) | undefined;

  constructor(options: ResumptionOptions) {
    const {
      known,
      clock,
      stream,
      standing,
      targetChanged,
      failed,
      catchUp,
      maySayMore,
      isAggregated,
      mayWarm,
      tellsAbsence,
    } = options;
    this.#phase = { kind: "asking", known };
    this.#clock = clock;
    this.#stream = stream;
    this.#standing = standing;
    this.#targetChanged = targetChanged;
    this.#failed = failed;
    this.#catchUp = catchUp;
    this.#maySayMore = maySayMore;
    this.#isAggregated = isAggregated;
    this.#couldWarm = mayWarm;
    this.#tellsAbsence = tellsAbsence;
    this.#since = clock.now();
  }

  /**
   * The client's target instead of the newest; undefined while it is unknown. Called before each time that the stream
   * is given a snapshot.
   */
  target(newest: Snapshot): Snapshot | undefined {
    if (this.#phase.kind === "over") return newest;
    this.#newest = newest;
    if (this.#phase.kind === "holding") return this.#claimedNow(this.#phase, newest);
    const claims = this.#stream.has(newest);
    const mayWarm = this.#mayWarm(newest, claims) || this.#mayWaitForGone(this.#phase, newest);
    let isReported = false;
    let isOther = false;
    for (const [type, has] of claims) {
      const isOlder = has === false || (has === undefined && this.#mayNameAway(type, newest));
      isReported ||= has !== undefined || isOlder;
      isOther ||= isOlder;
    }
    // Its first request says that it has nothing, or asks by a name whose version tells nothing.
    const isMute = !isReported && this.#cancel === undefined;
    const hasNewest = isReported && !isOther;
    if (!mayWarm && (isMute || (hasNewest && !this.#maySayMore))) {
      this.end();
      return newest;
    }
    if (this.#cancel === undefined || claims.size > this.#asked) this.#wait();
    this.#asked = claims.size;
    return undefined;
  }

  /**
   * The client's own resources, put together again if it has asked for another type since: Envoy asks for clusters only
   * once those are warm that it had been sent before, and what only the client knows may name them. While it waits for
   * endpoints, new ones reach it.
   */
  #claimedNow(phase: Extract<ResumptionPhase, { readonly kind: "holding" }>, newest: Snapshot): Snapshot {
    const { claimed, known } = phase;
    const asksForMore = this.#stream.asked.size > claimed.asked.size;
    // Claims are still open where the type's content was not known yet. What it asks for since may be newer.
    const isOpen =
      claimed.warming === "certain" || this.#stream.has(newest).size > 0 || asksForOthers(this.#stream.asked, claimed);
    if (!asksForMore && (!isOpen || phase.newest === newest)) return claimed.snapshot;
    const anew = this.#stream.claimed([newest, ...known()], claimed);
    this.#phase = { kind: "holding", claimed: anew, newest, known };
    // It has what it waited for, and may still have to warm, or else it asks for the rest now.
    if (asksForMore || anew.warming !== claimed.warming) {
      this.#since = this.#clock.now();
      this.#wait();
    }
    return anew.snapshot;
  }

  /** The client's target is the newest snapshot from now on. */
  get isOver(): boolean {
    return this.#phase.kind === "over";
  }

  end(): void {
    this.#phase = { kind: "over" };
    this.#newest = undefined;
    this.#cancel?.();
  }

  /**
   * The stream has given its client all that is due, or the client has answered: where it uses its own resources, the
   * newest need not wait. A stream of one type says nothing of the others, which may still be about to come.
   */
  progressed(): void {
    const phase = this.#phase;
    if (phase.kind !== "holding" || !this.#isAggregated) return;
    if (this.#stream.newest !== phase.claimed.snapshot || !this.#stream.isInSync) return;
    const warming = this.#warming(phase.claimed);
    if (warming === "until answered") this.#wait();
    if (warming !== "no") return;
    this.end();
    this.#targetChanged();
  }

  #wait(): void {
    this.#cancel?.();
    const warming = this.#phase.kind === "holding" ? this.#warming(this.#phase.claimed) : "no";
    const isQuietEnough = warming === "no" || (warming === "until answered" && this.#stream.isInSync);
    this.#cancel = this.#clock.after(isQuietEnough ? quietMs : lookMs, () => this.#goOn());
  }

  #warming({ warming }: ClaimedSnapshot): ClaimedSnapshot["warming"] {
    return this.#couldWarm ? warming : "no";
  }

  /** The clusters of this type's routes are asked for on another stream, which may not be back yet. */
  #mayNameAway(type: ResourceType, { sets }: Snapshot): boolean {
    if (this.#isAggregated) return false;
    for (const { type: named, size } of sets.values())
      if (size > 0 && named.acknowledgedWarm && mayName(type, named)) return true;
    return false;
  }

  /** Until the client asks for clusters nobody knows which ones it has, and none may go. */
  #mayWarm({ sets }: Snapshot, claims: ReadonlyMap<ResourceType, unknown>): boolean {
    if (!this.#couldWarm || claims.size === 0) return false;
    // Loops, since each client of a fleet that comes back gets here for each type.
    const claimed = new Set<TypeUrl>();
    for (const { typeUrl } of claims.keys()) claimed.add(typeUrl);
    for (const { type, size } of sets.values())
      if (size > 0 && mayBeWarming(type, this.#stream.asked, claimed)) return true;
    return false;
  }

  /**
   * It says of nothing that it has it, and asks first for what warms clusters. If some of that is gone, only the last
   * content of it ends its wait.
   */
  #mayWaitForGone({ known }: Extract<ResumptionPhase, { readonly kind: "asking" }>, newest: Snapshot): boolean {
    const { asked } = this.#stream;
    if (this.#tellsAbsence || !this.#couldWarm || !lacksClusters(asked, newest)) return false;
    const { snapshot } = this.#stream.claimed([newest, ...known()]);
    return [...snapshot.sets].some(([url, set]) => asked.has(url) && set !== newest.sets.get(url));
  }

  /** The client has asked for no further type for some time. */
  #goOn(): void {
    try {
      const before = this.#phase;
      this.#phase = this.#next(before);
      if (this.#phase.kind === "over") this.end();
      else this.#wait();
      if (this.#phase !== before) this.#targetChanged();
    } catch (error) {
      this.#failed(error);
    }
  }

  #next(phase: ResumptionPhase): ResumptionPhase {
    const newest = this.#newest;
    const waited = this.#clock.now() - this.#since;
    if (phase.kind === "asking" && newest !== undefined) {
      const claimed = this.#stream.claimed([newest, ...phase.known()]);
      // Layers may have come, and what decides about them not yet.
      const wantsNews = this.#news === "asked" || (!claimed.isKnown && !claimed.isForeign);
      if (wantsNews && this.#waitsForNews(waited)) return phase;
      this.#since = this.#clock.now();
      return { kind: "holding", claimed, newest, known: phase.known };
    }
    if (phase.kind !== "holding") return phase;
    const warming = this.#warming(phase.claimed);
    // What it has rejected of its own resources is not sent again: nothing more will come.
    const isDone =
      warming === "no" ? this.#standing() !== "pending" : warming === "until answered" && this.#stream.isInSync;
    return isDone || waited >= (warming === "certain" ? maxWarmingMs : maxMs) ? { kind: "over" } : phase;
  }

  /**
   * The client has content that this server does not know. To bring it to older content would take away what it uses:
   * a client on SotW cannot say what that is. So what others have written is learned first.
   */
  #waitsForNews(waited: number): boolean {
    if (this.#news === "unasked") {
      const caughtUp = this.#catchUp();
      if (caughtUp === undefined) return false;
      this.#news = "asked";
      caughtUp.then(
        () => {
          this.#news = "heard";
        },
        () => {
          this.#news = "unasked";
        },
      );
    }
    return waited < (this.#news === "heard" ? newsMs : maxNewsMs);
  }
}
