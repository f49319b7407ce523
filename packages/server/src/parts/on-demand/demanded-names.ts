import type { ResourceName, ResourceType } from "@xdskit/api";
import type { Node } from "@xdskit/protocol";
import type { DemandContext } from "./demand-context.js";
import type { SupplierLease } from "./lease.js";
import { NameSets, NameTable } from "./name-table.js";
import type { SuppliedSet } from "./supplied/supplied-set.js";
import { decisionIn, WantedName, type WantedState } from "./wanted.js";

/** Why the answer of a supplier is not wanted any more, by the state that came after it. */
const whyOver: Record<WantedState["kind"], string> = {
  unknown: "its resource does not have the name any more",
  "in-layers": "a layer has it now",
  pending: "it is asked for anew",
  supplied: "it was supplied with another name",
  absent: "it does not exist",
  failed: "the call failed",
};

/**
 * The names that the nodes of one group ask for, and what they hold. After each call: each name is counted in its
 * state; each name that a layer has is found by its bearer; and each lease that no name holds has ended, and nothing is
 * supplied by it any more.
 */
export class DemandedNames {
  readonly #context: Pick<DemandContext, "calls" | "count" | "lingering">;
  readonly #supplied: SuppliedSet;
  readonly #names = new NameTable<WantedName>();
  /** Those that the layers have, by the name of the resource that has them. */
  readonly #borne = new NameSets<WantedName>();

  constructor(supplied: SuppliedSet, context: Pick<DemandContext, "calls" | "count" | "lingering">) {
    this.#supplied = supplied;
    this.#context = context;
  }

  get size(): number {
    return this.#names.size;
  }

  get(type: ResourceType, name: ResourceName): WantedName | undefined {
    return this.#names.get(type, name);
  }

  /** A copy: names come and go while each is looked at. */
  all(): readonly WantedName[] {
    return [...this.#names.values()];
  }

  /** Those whose state depends on the resource of this name in the layers. */
  *touchedBy(type: ResourceType, name: ResourceName): Iterable<WantedName> {
    const wanted = this.get(type, name);
    if (wanted !== undefined) yield wanted;
    yield* this.#borne.of(type, name);
    // A layer has another resource of that name now.
    for (const lease of this.#supplied.named(type, name)) yield* lease.holders;
  }

  add(type: ResourceType, name: ResourceName, node: Node): WantedName {
    const wanted = new WantedName(type, name, node);
    this.#names.set(type, name, wanted);
    this.#context.count(wanted.state.kind, 1);
    return wanted;
  }

  /** Changes the state of a name, releases what the old state had, and tells the clients that wait. */
  become(wanted: WantedName, state: WantedState, lease: SupplierLease<WantedName> | undefined): void {
    const { state: before, lease: previous } = wanted;
    wanted.enter(state, lease);
    this.#context.count(before.kind, -1);
    this.#context.count(state.kind, 1);
    if (before.kind === "in-layers") this.#borne.delete(wanted.type, before.bearer, wanted);
    if (state.kind === "in-layers") this.#borne.add(wanted.type, state.bearer, wanted);
    lease?.hold(wanted);
    if (previous !== undefined && previous !== lease) this.#letGo(wanted, previous, whyOver[state.kind]);
    const decision = decisionIn(state);
    if (decision !== undefined) wanted.decided(decision);
  }

  /** False if it is not there any more. */
  delete(wanted: WantedName, why: string): boolean {
    const { type, name, state, lease } = wanted;
    if (!this.#names.delete(type, name)) return false;
    this.#context.lingering.delete(wanted);
    wanted.stopAll();
    if (state.kind === "in-layers") this.#borne.delete(type, state.bearer, wanted);
    this.#context.count(state.kind, -1);
    if (lease !== undefined) this.#letGo(wanted, lease, why);
    return true;
  }

  #letGo(wanted: WantedName, lease: SupplierLease<WantedName>, why: string): void {
    lease.letGo(wanted);
    if (lease.isInUse || lease.isOver) return;
    this.#supplied.put(lease, undefined);
    // This comes before the supplier is told, so that its reaction finds a consistent state.
    lease.end(why);
    this.#context.calls.finish(lease);
  }
}
