import type { ResourceTypes, TypeUrl } from "@xdskit/api";
import type { Node, StreamOptions } from "@xdskit/protocol";
import type { Clock } from "./clock.js";
import type { Counters } from "./counters.js";
import type { Events } from "./events.js";
import type { FairQueue } from "./fair-queue.js";
import type { HeldMemories } from "./held-memory.js";
import type { Arrivals } from "./ledger/arrivals.js";
import type { ServerLimits } from "./limits.js";
import type { NodeOrders } from "./node-orders.js";
import type { Publication } from "./publication.js";
import type { Rejections } from "./rejections.js";

/** What all streams of a server share. */
export interface SessionContext<Session> {
  readonly types: ResourceTypes;
  readonly limits: ServerLimits;
  readonly defaultNode: Node | undefined;
  readonly publication: Publication;
  /** Undefined where changes go out at once. */
  readonly orders: NodeOrders | undefined;
  readonly clock: Clock;
  /** v3 type URLs of what is supplied on demand. */
  readonly onDemand: ReadonlySet<TypeUrl> | undefined;
  /** Which authorities are served, and who is told why resources are not there. */
  readonly naming: Pick<StreamOptions, "authorities" | "resourceErrors">;
  readonly heldMemory: HeldMemories;
  readonly counters: Counters;
  readonly events: Events;
  readonly rejections: Rejections;
  readonly arrivals: Pick<Arrivals, "progressed" | "left">;
  /** Sessions that may have something to send. */
  readonly queue: FairQueue<Session>;
  /** Called once when nothing is left of a session. */
  readonly ended: (session: Session) => void;
}
