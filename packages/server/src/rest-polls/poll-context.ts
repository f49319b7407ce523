import type { StreamInfo } from "../contracts/nodes/stream-info.js";
import type { PollCall, PollRefusal } from "../contracts/poll-transport.js";
import type { OpenCalls } from "../gate/open-calls.js";
import type { Shares } from "../gate/shares.js";
import type { Gate } from "../identity/caller.js";
import type { SessionContext } from "../streams/session-context.js";
import type { SharedBodies } from "./shared-bodies.js";

/** The parts that all polls of a server share. */
export interface PollContext
  extends Pick<
    SessionContext<never>,
    "limits" | "defaultNode" | "publication" | "onDemand" | "retainedMemory" | "counters" | "events" | "rejections"
  > {
  readonly gate: Gate;
  readonly openCalls: OpenCalls;
  readonly shares: Shares;
  readonly bodies: SharedBodies;
  /** The time for which an up-to-date poll is parked, in milliseconds; 0 means not at all. */
  readonly holdMs: number;
  /** Makes a number that identifies a call in events. */
  readonly nextId: () => number;
}

/** A poll as events show it. */
export function pollInfo(
  { nextId }: Pick<PollContext, "nextId">,
  { api, type, connection }: Pick<PollCall, "api" | "type" | "connection">,
): StreamInfo {
  return { id: nextId(), method: { variant: "sotw", api, only: type, unary: true }, peer: connection.peer };
}

/** Reports a fault of the server's own, which ends only this poll. */
export function pollFault(
  context: Pick<PollContext, "nextId" | "events">,
  call: Pick<PollCall, "api" | "type" | "connection">,
  error: unknown,
): PollRefusal {
  const stream = pollInfo(context, call);
  context.events.emit("fault", () => ({ stream, error }));
  return { kind: "refused", status: 500, message: "internal error" };
}
