import { type Few, fewMembers, type ResourceName, type ResourceType } from "@xdskit/api";
import type { Node } from "@xdskit/protocol";
import type { Asker, NameDecision } from "../../contracts/parts/supply.js";
import type { OnDemandLimits } from "../../settings/on-demand-options.js";
import type { SupplierLease } from "./lease.js";
import type { WaitingNames, WaitKind } from "./name-waits.js";

/** The state of a name that clients ask for. */
export type WantedState =
  /** Nothing: the layers are not there yet. */
  | { readonly kind: "unknown" }
  /** A layer has it, under the name `bearer`; the supplier is not asked. */
  | { readonly kind: "in-layers"; readonly bearer: ResourceName }
  /** Its call waits or is under way. */
  | { readonly kind: "pending" }
  | { readonly kind: "supplied" }
  /** It does not exist. Once that is `stale`, the next request checks again. */
  | { readonly kind: "absent"; readonly stale: boolean }
  /** Its call failed and will be repeated. */
  | { readonly kind: "failed" };

/** The states without data of a name: all names share them. */
export const states = {
  unknown: { kind: "unknown" },
  pending: { kind: "pending" },
  supplied: { kind: "supplied" },
  absent: { kind: "absent", stale: false },
  stale: { kind: "absent", stale: true },
  failed: { kind: "failed" },
} as const satisfies Record<string, WantedState>;

/** What clients are told in a state; undefined: nothing yet. */
export function decisionIn(state: WantedState): NameDecision | undefined {
  if (state.kind === "absent") return state.stale ? undefined : "absent";
  return state.kind === "in-layers" || state.kind === "supplied" ? "found" : undefined;
}

/**
 * Milliseconds until a name is dropped that no client asks for any more; undefined: it goes at once. `isCalled`: the
 * supplier is just asked for it.
 */
export function lingerAfter(
  kind: WantedState["kind"],
  isCalled: boolean,
  { lingerMs, negativeMs }: OnDemandLimits,
): number | undefined {
  if (kind === "in-layers" || kind === "unknown" || (kind === "pending" && !isCalled)) return undefined;
  // A missing name is remembered while its absence is believed: clients ask, are told, unsubscribe, and ask again.
  return kind === "absent" || kind === "failed" ? Math.max(lingerMs, negativeMs) : lingerMs;
}

/** A name of a group that clients ask for, or did so until lately. */
export class WantedName {
  readonly type: ResourceType;
  readonly name: ResourceName;
  /** The number of streams that are subscribed to it. */
  streams = 0;
  /** Of the client that asked last. */
  node: Node;
  state: WantedState = states.unknown;
  /** The lease that it holds: of a pending call, or of the call that supplied it or found none. */
  lease: SupplierLease<WantedName> | undefined;
  /** Clients that wait for the first decision; most names have none. */
  askers: Few<Asker>;
  /** Clients were told that the decision is late; clients that ask now are told the same. */
  isLate = false;
  /** The number of failed calls in a row, and of absences in a row. */
  failures = 0;
  absences = 0;
  readonly #waits: Record<WaitKind, WaitingNames<WantedName> | undefined> = {
    answer: undefined,
    linger: undefined,
    "next-call": undefined,
  };

  constructor(type: ResourceType, name: ResourceName, node: Node) {
    this.type = type;
    this.name = name;
    this.node = node;
  }

  /** The list in which it waits, by kind. */
  waiting(kind: WaitKind): WaitingNames<WantedName> | undefined {
    return this.#waits[kind];
  }

  /** Only `NameWaits` calls it. */
  waits(kind: WaitKind, names: WaitingNames<WantedName> | undefined): void {
    this.#waits[kind] = names;
  }

  /** Enters another state. Calls in between do not end a row of failures or absences. */
  enter(state: WantedState, lease: SupplierLease<WantedName> | undefined): void {
    this.stop("next-call");
    this.state = state;
    this.lease = lease;
    if (state.kind === "failed") this.failures += 1;
    if (state.kind === "absent" || state.kind === "supplied") this.failures = 0;
    if (state.kind === "absent") this.absences += 1;
    if (state.kind === "supplied") this.absences = 0;
  }

  /** Tells the clients that wait. */
  decided(decision: NameDecision): void {
    this.stop("answer");
    this.isLate = decision === "late";
    const askers = fewMembers(this.askers);
    this.askers = undefined;
    for (const asker of askers) asker.nameDecided(this.type, this.name, decision);
  }

  stop(kind: WaitKind): void {
    this.waiting(kind)?.delete(this);
    this.waits(kind, undefined);
  }

  stopAll(): void {
    this.stop("answer");
    this.stop("linger");
    this.stop("next-call");
  }
}
