import type { Clock, Finding, Registry, ResourceTypes } from "@xdskit/api";
import type { Retention, Revision, Store } from "../../contracts/stores/store.js";
import type { XdsServer } from "../../contracts/xds-server.js";
import type { LayerName } from "../../settings/group-settings.js";
import type { TimeLeft } from "../leases/lease-book.js";

/** The options of written layers. */
export interface WrittenLayersOptions {
  /** The layers, which no source fills. */
  readonly layers: readonly LayerName[];
  readonly store: Store;
  /** What the layers hold is asked here, and whether a change can be applied. */
  readonly server: Pick<XdsServer, "layerSnapshot" | "checkChange">;
  readonly registry: Registry;
  readonly types: ResourceTypes;
  /** A function says it anew after each change. */
  readonly retention: Retention | (() => Retention);
  /** A new revision is durable and served. `isOwn`: it was written here, and not by another server of the store. */
  readonly onRevision?: ((revision: Revision, isOwn: boolean) => void) | undefined;
  /** What is wrong with the store since the start, if it is not all that it should be: told to the server's status. */
  readonly trouble?: Finding | undefined;
  /** For leases. Default: the system's. */
  readonly clock?: Clock | undefined;
  /** Whether no other server has the store now. Undefined: others may have it. */
  readonly isAlone?: (() => boolean) | undefined;
  /** Asked before leases end: another server may have renewed them. Undefined: there is no other one. */
  readonly timeLeft?: TimeLeft | undefined;
  /**
   * Resolves once the other sources have applied what they have: clients that come back had it beside these layers.
   * Undefined: there are none.
   */
  readonly others?: (() => Promise<unknown>) | undefined;
  /** What of the store cannot be read any more, or cleaned up; what cannot be removed although its lease is over. */
  readonly onProblem: (findings: readonly Finding[]) => void;
  /** The store cannot be read, with the reason; undefined: it can again. What is served stays meanwhile. */
  readonly onAway?: ((finding: Finding | undefined) => void) | undefined;
}
