import {
  type Few,
  fewMembers,
  fewSize,
  fewWith,
  fewWithout,
  type Resource,
  type ResourceName,
  type ResourceType,
} from "@xdskit/api";
import type { ResourceKey } from "../../contracts/layer-change.js";
import type { EndListener, Supplied, SupplyLease } from "../../settings/on-demand-options.js";

/** Gets a supplier's later updates. */
export interface LeaseOwner<Holder extends ResourceKey> {
  updated(lease: SupplierLease<Holder>, supplied: Supplied): void;
}

/**
 * One call of the supplier and its result: while a name holds it, the supplier may update the resource. Several names
 * hold one lease if the resource has them all.
 */
export class SupplierLease<Holder extends ResourceKey = ResourceKey> implements SupplyLease {
  readonly type: ResourceType;
  /** The requested name. */
  readonly name: ResourceName;
  #holders: Few<Holder>;
  /** The supplied resource; undefined before, and if there is none. */
  resource: Resource | undefined;
  #controller: AbortController | undefined;
  readonly #owner: LeaseOwner<Holder>;
  #listener: EndListener | undefined;
  /** The reason for its end. */
  #over: Error | undefined;

  constructor(holder: Holder, owner: LeaseOwner<Holder>) {
    this.#owner = owner;
    this.type = holder.type;
    this.name = holder.name;
    this.#holders = holder;
  }

  /** The current holders. */
  get holders(): readonly Holder[] {
    return fewMembers(this.#holders);
  }

  get isInUse(): boolean {
    return fewSize(this.#holders) > 0;
  }

  /** A name holds it from now on. */
  hold(holder: Holder): void {
    this.#holders = fewWith(this.#holders, holder);
  }

  letGo(holder: Holder): void {
    this.#holders = fewWithout(this.#holders, holder);
  }

  /** Made only on request: each costs some kilobytes. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#over !== undefined) this.#controller.abort(this.#over);
    }
    return this.#controller.signal;
  }

  get isOver(): boolean {
    return this.#over !== undefined;
  }

  /** Calls a listener when it ends; at once if it has ended. */
  onEnd(listener: EndListener): void {
    if (this.isOver) {
      tell(listener);
      return;
    }
    const before = this.#listener;
    this.#listener =
      before === undefined
        ? listener
        : () => {
            tell(before);
            tell(listener);
          };
  }

  /** The supplier updates its answer. */
  update(supplied: Supplied): void {
    this.#owner.updated(this, supplied);
  }

  /** Tells the supplier that its answer is no longer wanted. */
  end(why: string): void {
    this.#over = reasonOf(why);
    this.#controller?.abort(this.#over);
    const listener = this.#listener;
    this.#listener = undefined;
    if (listener !== undefined) tell(listener);
  }
}

function tell(listener: EndListener): void {
  if (typeof listener === "function") listener();
  else listener.ended();
}

/** One error each, since thousands of names end at once. */
const reasons = new Map<string, Error>();

function reasonOf(why: string): Error {
  const reason = reasons.get(why) ?? new Error(why);
  reasons.set(why, reason);
  return reason;
}
