import type { TypeUrl } from "@xdskit/api";
import type { Node } from "@xdskit/protocol";
import type { Counters } from "../counters.js";
import type { Events } from "../events.js";
import type { HeldMemories } from "../held-memory.js";
import type { ServerLimits } from "../limits.js";
import type { PollCall, PollRefusal } from "../poll-transport.js";
import type { Publication } from "../publication.js";
import type { Rejections } from "../rejections.js";
import type { StreamInfo } from "../stream-info.js";
import type { SharedBodies } from "./shared-bodies.js";

/** What all polls of a server share. */
export interface PollContext {
  readonly limits: ServerLimits;
  readonly defaultNode: Node | undefined;
  readonly publication: Publication;
  /** v3 type URLs of what is supplied on demand. */
  readonly onDemand: ReadonlySet<TypeUrl> | undefined;
  readonly heldMemory: HeldMemories;
  readonly counters: Counters;
  readonly events: Events;
  readonly rejections: Rejections;
  readonly bodies: SharedBodies;
  /** How long a poll is held that is up to date, in milliseconds; 0: not at all. */
  readonly holdMs: number;
  /** A number for what is to be told apart in events. */
  readonly nextId: () => number;
}

/** What came in, for events. */
export function pollInfo(
  { nextId }: Pick<PollContext, "nextId">,
  { api, type, connection }: Pick<PollCall, "api" | "type" | "connection">,
): StreamInfo {
  return { id: nextId(), method: { variant: "sotw", api, only: type, unary: true }, peer: connection.peer };
}

/** Tells of a fault of the server's own, which ends one poll and nothing else. */
export function pollFault(
  context: Pick<PollContext, "nextId" | "events">,
  call: Pick<PollCall, "api" | "type" | "connection">,
  error: unknown,
): PollRefusal {
  const stream = pollInfo(context, call);
  context.events.emit(() => ({ kind: "fault", stream, error }));
  return { kind: "refused", status: 500, message: "internal error" };
}
