import type { Clock, ResourceTypes, TypeUrl } from "@xdskit/api";
import type { FairQueue } from "@xdskit/grpc-server";
import type { Node, StreamOptions } from "@xdskit/protocol";
import type { Events } from "../contracts/events.js";
import type { Progress } from "../contracts/parts/progress.js";
import type { Caller } from "../identity/caller.js";
import type { Counters } from "../publication/counters.js";
import type { Publication } from "../publication/publication.js";
import type { ServerLimits } from "../settings/limits.js";
import type { RetainedMemories } from "./limits/retained-memory.js";
import type { NodeOrders } from "./node-orders.js";
import type { NodeRejections } from "./node-rejections.js";

/** The parts that all streams of a server share. */
export interface SessionContext<Session> {
  readonly types: ResourceTypes;
  readonly limits: ServerLimits;
  readonly defaultNode: Node | undefined;
  readonly publication: Publication;
  readonly orders: NodeOrders;
  readonly clock: Clock;
  /** v3 type URLs that are supplied on demand to a caller. */
  readonly onDemand: (caller: Caller) => ReadonlySet<TypeUrl> | undefined;
  /** The served authorities, and the clients that are told why resources do not exist. */
  readonly naming: Pick<StreamOptions, "authorities" | "resourceErrors" | "localityTypes">;
  readonly retainedMemory: RetainedMemories;
  readonly counters: Counters;
  readonly events: Events;
  readonly rejections: NodeRejections;
  /** See `Source.catchUp`, for all sources. Undefined: nobody else writes. */
  readonly catchUp: () => Promise<void> | undefined;
  readonly progress: Progress;
  /** Sessions that may have something to send. */
  readonly queue: FairQueue<Session>;
  /** Called once when nothing is left of a session. */
  readonly ended: (session: Session) => void;
}
