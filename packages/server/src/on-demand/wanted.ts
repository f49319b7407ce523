import type { ResourceName, ResourceType } from "@xdskit/api";
import type { Node } from "@xdskit/protocol";
import type { Lease } from "./lease.js";
import type { WaitingNames, WaitKind } from "./waits.js";

/** What an asker hears of a name. `late`: nothing was decided in time; if it comes, it is served all the same. `refused`: too many names are asked for, nobody looks for this one. */
export type Outcome = "found" | "absent" | "late" | "refused";

/** Who asked for a name and hears of the decision, once. */
export interface Asker {
  settled(type: ResourceType, name: ResourceName, outcome: Outcome): void;
}

/** What is known of a name that somebody asks for. */
export type WantedState =
  /** Nothing: the layers are not there yet. */
  | { readonly kind: "unknown" }
  /** A layer has it, under the name `bearer`; the supplier is not asked. */
  | { readonly kind: "in-layers"; readonly bearer: ResourceName }
  /** Its call waits or is under way. */
  | { readonly kind: "pending" }
  | { readonly kind: "supplied" }
  /** There is none. Once that is `stale`, whoever asks wants to know anew. */
  | { readonly kind: "absent"; readonly stale: boolean }
  /** Its call failed; the next is to come. */
  | { readonly kind: "failed" };

/** The states that say nothing of one name: all names share them. */
export const states = {
  unknown: { kind: "unknown" },
  pending: { kind: "pending" },
  supplied: { kind: "supplied" },
  absent: { kind: "absent", stale: false },
  stale: { kind: "absent", stale: true },
  failed: { kind: "failed" },
} as const satisfies Record<string, WantedState>;

/** A name of a group that clients ask for, or did so until lately. */
export class Wanted {
  readonly type: ResourceType;
  readonly name: ResourceName;
  /** How many streams are subscribed to it. */
  streams = 0;
  /** Of the client that asked last. */
  node: Node;
  state: WantedState = states.unknown;
  /** What it holds: of a call that is pending, or that supplied it or said that there is none. */
  lease: Lease<Wanted> | undefined;
  /** Who waits for the first decision; most names wait for none. */
  askers: Set<Asker> | undefined;
  /** Askers were told that the decision is late; so are those that come now. */
  overdue = false;
  /** Calls that failed since the last that did not, and how often in a row it was absent. */
  failures = 0;
  absences = 0;
  /** What it waits for. */
  #answer: WaitingNames<Wanted> | undefined;
  #linger: WaitingNames<Wanted> | undefined;
  #nextCall: WaitingNames<Wanted> | undefined;

  constructor(type: ResourceType, name: ResourceName, node: Node) {
    this.type = type;
    this.name = name;
    this.node = node;
  }

  /** What it waits in, of one kind. */
  waiting(kind: WaitKind): WaitingNames<Wanted> | undefined {
    switch (kind) {
      case "answer":
        return this.#answer;
      case "linger":
        return this.#linger;
      case "next-call":
        return this.#nextCall;
    }
  }

  /** Only `Waits` calls it. */
  waits(kind: WaitKind, names: WaitingNames<Wanted> | undefined): void {
    switch (kind) {
      case "answer":
        this.#answer = names;
        break;
      case "linger":
        this.#linger = names;
        break;
      case "next-call":
        this.#nextCall = names;
        break;
    }
  }

  /** The time is over; only `Waits` calls it. */
  ended(kind: WaitKind): void {
    this.waits(kind, undefined);
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
