import type { ResourceName, ResourceType } from "@xdskit/api";
import type { Node } from "@xdskit/protocol";
import type { Lease } from "./lease.js";

/** What an asker hears of a name. `late`: nothing was decided in time; if it comes, it is served all the same. */
export type Outcome = "found" | "absent" | "late";

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
  | { readonly kind: "pending"; readonly lease: Lease }
  | { readonly kind: "supplied"; readonly lease: Lease }
  /** There is none. Once that is `stale`, whoever asks wants to know anew. */
  | { readonly kind: "absent"; readonly lease: Lease; readonly stale: boolean }
  /** Its call failed; the next is to come. */
  | { readonly kind: "failed" };

/** Until askers are told, until it is dropped, until it is asked for again. */
type TimerName = "answer" | "linger" | "next-call";

/** A name of a group that clients ask for, or did so until lately. */
export class Wanted {
  readonly type: ResourceType;
  readonly name: ResourceName;
  /** How many streams are subscribed to it. */
  streams = 0;
  /** Of the client that asked last. */
  node: Node;
  state: WantedState = { kind: "unknown" };
  /** Who waits for the first decision; most names wait for none. */
  askers: Set<Asker> | undefined;
  /** Askers were told that the decision is late; so are those that come now. */
  overdue = false;
  /** Calls that failed since the last that did not, and how often in a row it was absent. */
  failures = 0;
  absences = 0;
  #timers: Map<TimerName, () => void> | undefined;

  constructor(type: ResourceType, name: ResourceName, node: Node) {
    this.type = type;
    this.name = name;
    this.node = node;
  }

  /** The lease that it holds. */
  get lease(): Lease | undefined {
    return "lease" in this.state ? this.state.lease : undefined;
  }

  isTimed(timer: TimerName): boolean {
    return this.#timers?.has(timer) ?? false;
  }

  /** `start` is given what to call when the time is over, and returns what stops it. A timer of this name that runs already is stopped. */
  time(timer: TimerName, start: (ended: () => void) => () => void, action: () => void): void {
    this.stop(timer);
    let running = true;
    const stop = start(() => {
      running = false;
      this.#timers?.delete(timer);
      action();
    });
    this.#timers ??= new Map();
    if (running) this.#timers.set(timer, stop);
  }

  stop(timer: TimerName): void {
    this.#timers?.get(timer)?.();
    this.#timers?.delete(timer);
  }

  stopAll(): void {
    for (const stop of this.#timers?.values() ?? []) stop();
    this.#timers = undefined;
  }
}
