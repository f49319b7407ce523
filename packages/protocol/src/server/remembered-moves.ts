import type { Snapshot } from "../snapshot.js";
import type { Leg } from "./leg.js";
import type { RestingPlace } from "./resting-place.js";

/** The first leg of the way from a place to a snapshot. */
interface RememberedMove {
  readonly leg: Leg;
  /** Keeps the bytes of its responses (`SharedBody`) for the streams that are still to send them. A leg does not: streams hold on to it as long as they are on their way. */
  readonly bytes: readonly Uint8Array[];
}

/** The first leg of the way from a place to a snapshot; undefined where no stream went it. */
export function knownMove(from: RestingPlace, to: Snapshot): Leg | undefined {
  const leg = (from.moves?.get(to) as RememberedMove | undefined)?.leg;
  return leg !== undefined && leadsTo(leg, to) ? leg : undefined;
}

/** Whether a leg that leads to rest does so at this very snapshot: its place may have gone along with the line since. */
export function leadsTo(leg: Leg, to: Snapshot): boolean {
  return leg.to === undefined || leg.to.snapshot === to;
}

/** Remembers a first leg for the others that rest there, as long as both place and snapshot are there. */
export function rememberMove(from: RestingPlace, to: Snapshot, leg: Leg): void {
  const move: RememberedMove = { leg, bytes: leg.steps.map(({ response }) => response.body.bytes) };
  from.moves ??= new WeakMap();
  from.moves.set(to, move);
}
