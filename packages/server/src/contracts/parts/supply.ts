import type { ResourceName, ResourceType, TypeUrl } from "@xdskit/api";
import type { Node, StreamEffect } from "@xdskit/protocol";
import type { Group } from "../group.js";
import type { LayerChange } from "../layer-change.js";

/**
 * Says what becomes of a name that a client asks for and no layer has.
 *
 * Of its types such a name is undecided: neither there nor absent. The server tells a client nothing of the name until
 * its asker hears a decision, and of each undecided name it must hear one, within a bounded time. What is supplied goes
 * to the layer below the group's own (`Kernel.bring`), before the asker hears `found`. Nothing else of a stream waits.
 */
export interface Supply {
  /** v3 type URLs. They never change. */
  readonly types: ReadonlySet<TypeUrl>;
  /** A stream, a call or a poll begins to ask for names, until it closes its interest. */
  join(group: Group, node: Node, asker: Asker): Interest;
  /** Nodes may be told the configuration from now on. */
  opened(): void;
  /** The layers have changed, and their streams have a new target. */
  layersChanged(changes: readonly LayerChange[]): void;
}

/** The names that one stream asks for. */
export interface Interest {
  /** Takes over the requested names, and returns what is known of them. */
  demand(demanded: Demanded): Answered;
  /** The stream has ended. May be called again. */
  close(): void;
}

/** The effect of a stream's machine about the names that its client asks for. */
export type Demanded = Extract<StreamEffect, { readonly kind: "demanded" }>;

/** The immediate answer for names; names in no list exist. */
export interface Answered {
  readonly absent: readonly ResourceName[];
  /** Not decided in time. */
  readonly late: readonly ResourceName[];
  /** Beyond the limit. */
  readonly refused: readonly ResourceName[];
  /** The asker is told of each, once. */
  readonly undecided: readonly ResourceName[];
}

/**
 * The decision on a name, as a client is told. `late`: none in time; a resource that comes later is served all the
 * same. `refused`: too many names are asked for, and this one is not looked up.
 */
export type NameDecision = "found" | "absent" | "late" | "refused";

/** A client that asked for a name and is told the decision, once. */
export interface Asker {
  nameDecided(type: ResourceType, name: ResourceName, outcome: NameDecision): void;
}
