import {
  canonicalName,
  fewSize,
  fewWith,
  fewWithout,
  type Resource,
  type ResourceName,
  type ResourceType,
} from "@xdskit/api";
import type { Node } from "@xdskit/protocol";
import type { Group } from "../../contracts/group.js";
import type { LayerChange } from "../../contracts/layer-change.js";
import type { Asker, NameDecision } from "../../contracts/parts/supply.js";
import type { Supplied } from "../../settings/on-demand-options.js";
import type { SupplierResult } from "./calls.js";
import type { DemandContext } from "./demand-context.js";
import { DemandedNames } from "./demanded-names.js";
import { recheckAfter, retryAfter } from "./intervals.js";
import { type LeaseOwner, SupplierLease } from "./lease.js";
import { NameWaits, type WaitKind } from "./name-waits.js";
import type { OwnLayers } from "./supplied/own-layers.js";
import { hiddenFindings, supplyFindings } from "./supplied/supplied-resource.js";
import { type SuppliedSet, suppliedNames } from "./supplied/supplied-set.js";
import { supplyRequestOf } from "./supply-request.js";
import { decisionIn, lingerAfter, states, type WantedName } from "./wanted.js";

/** A client that asks for names. */
interface AskingClient {
  readonly node: Node;
  readonly asker: Asker;
}

/** Decides about the names that the nodes of one group ask for: from the layers, or by the supplier. */
export class GroupDemand implements LeaseOwner<WantedName> {
  readonly group: Group;
  /** Streams of the group. */
  streams = 0;
  readonly #context: DemandContext;
  readonly #own: OwnLayers;
  readonly #supplied: SuppliedSet;
  readonly #names: DemandedNames;
  readonly #waits: NameWaits<WantedName>;
  #known = false;

  readonly #dropUnwanted = (wanted: WantedName) => this.#drop(wanted, unwanted);

  constructor(group: Group, own: OwnLayers, supplied: SuppliedSet, context: DemandContext) {
    this.group = group;
    this.#own = own;
    this.#supplied = supplied;
    this.#context = context;
    this.#names = new DemandedNames(supplied, context);
    this.#waits = new NameWaits<WantedName>(context.clock, (kind, wanted) => this.#waited(kind, wanted));
    this.#known = context.isOpen() && own.isKnown;
  }

  /** Whether nothing of it is left. */
  get isIdle(): boolean {
    return this.streams === 0 && this.#names.size === 0;
  }

  /**
   * A stream that asks for `others` names subscribes to one more. Undefined if the decision will follow; the client is
   * told then.
   */
  subscribe(type: ResourceType, name: ResourceName, client: AskingClient, others: number): NameDecision | undefined {
    let wanted = this.#names.get(type, name);
    if (wanted === undefined) {
      if (!this.#context.admits(this.group, type, name, others)) return "refused";
      wanted = this.#names.add(type, name, client.node);
    }
    wanted.streams += 1;
    this.#stay(wanted);
    wanted.node = client.node;
    if (wanted.state.kind === "unknown") this.#evaluate(wanted);
    return this.#ask(wanted, client.asker);
  }

  /** A stream that is subscribed to a name asks for it again. */
  again(type: ResourceType, name: ResourceName, { node, asker }: AskingClient): NameDecision | undefined {
    const wanted = this.#names.get(type, name);
    if (wanted === undefined) return "absent";
    wanted.node = node;
    return this.#ask(wanted, asker);
  }

  unsubscribe(type: ResourceType, name: ResourceName, asker: Asker): void {
    const wanted = this.#names.get(type, name);
    if (wanted === undefined) return;
    wanted.askers = fewWithout(wanted.askers, asker);
    wanted.streams -= 1;
    if (wanted.streams === 0) this.#leave(wanted);
  }

  /** Takes over a change of the group's layers. Costs the change or the wanted names, whichever is less. */
  layersChanged(changes: readonly LayerChange[]): void {
    const known = this.#context.isOpen() && this.#own.isKnown;
    const changed = changes.reduce((sum, { upserted, removed }) => sum + upserted.length + removed.length, 0);
    if ((known && !this.#known) || changed > this.#names.size) {
      this.#known ||= known;
      for (const wanted of this.#names.all()) this.#evaluate(wanted);
    } else {
      for (const { upserted, removed } of changes) {
        for (const resource of upserted) for (const name of suppliedNames(resource)) this.#touched(resource.type, name);
        for (const { type, name } of removed) this.#touched(type, canonicalName(name));
      }
    }
  }

  /** Everything ends. */
  close(): void {
    for (const wanted of this.#names.all()) this.#drop(wanted, "the server closes");
  }

  #touched(type: ResourceType, name: ResourceName): void {
    for (const wanted of this.#names.touchedBy(type, name)) this.#evaluate(wanted);
  }

  /** Checks whether the layers have the name, and if not, the supplied resources. */
  #evaluate(wanted: WantedName): void {
    if (!this.#known || this.#names.get(wanted.type, wanted.name) !== wanted) return;
    const { type, name, state } = wanted;
    const bearer = this.#own.bearerOf(type, name);
    if (bearer !== undefined) {
      if (state.kind === "in-layers" && state.bearer === bearer) return;
      this.#names.become(wanted, { kind: "in-layers", bearer }, undefined);
      if (wanted.streams === 0) this.#drop(wanted, unwanted);
    } else if (state.kind === "in-layers" || state.kind === "unknown") {
      const lease = this.#supplied.covering(type, name);
      if (lease !== undefined) this.#hold(wanted, lease);
      else if (wanted.streams === 0) this.#drop(wanted, unwanted);
      else this.#call(wanted);
    } else if (state.kind === "supplied" && wanted.lease?.resource !== undefined) {
      if (this.#own.has(type, wanted.lease.resource.key)) this.#hidden(wanted.lease, wanted.lease.resource);
    }
  }

  /** Undefined if it waits. */
  #ask(wanted: WantedName, asker: Asker): NameDecision | undefined {
    const decision = decisionIn(wanted.state);
    if (decision !== undefined) return decision;
    if (wanted.state.kind === "absent") this.#call(wanted);
    if (wanted.isLate) return "late";
    wanted.askers = fewWith(wanted.askers, asker);
    this.#limitWait(wanted);
    return undefined;
  }

  /** The first client that waits starts the clock; while the layers are unknown, no client is told anything. */
  #limitWait(wanted: WantedName): void {
    if (fewSize(wanted.askers) === 0 || wanted.waiting("answer") !== undefined) return;
    if (wanted.state.kind !== "unknown") this.#waits.start("answer", wanted, this.#context.limits.answerWithinMs);
  }

  /** A wait has ended. */
  #waited(kind: WaitKind, wanted: WantedName): void {
    if (kind === "answer") wanted.decided("late");
    else if (kind === "linger") this.#drop(wanted, unwanted);
    else if (wanted.state.kind === "absent" && !wanted.state.stale) this.#grewStale(wanted);
    else if (wanted.streams > 0) this.#call(wanted);
  }

  #call(wanted: WantedName): void {
    const lease = new SupplierLease(wanted, this);
    this.#names.become(wanted, states.pending, lease);
    const call = () => this.#context.supply(supplyRequestOf(lease, wanted.node, this.group.name));
    this.#context.calls.add(lease, call, (result) => this.#answered(lease, result, true));
    this.#limitWait(wanted);
  }

  /** A supplier updates its answer; only a lease of the group calls this. */
  updated(lease: SupplierLease<WantedName>, supplied: Supplied): void {
    const isCalled = this.#context.calls.finish(lease);
    this.#answered(lease, { kind: "answered", supplied }, isCalled);
  }

  /** A call has ended, or the supplier updates its resource later. */
  #answered(lease: SupplierLease<WantedName>, result: SupplierResult, isCalled: boolean): void {
    if (lease.isOver) return;
    const { type, name } = lease;
    const answer = this.#context.check(result, type, name);
    if (answer.kind === "failed") {
      if (isCalled) this.#failed(lease);
      this.#context.report("failed", this.group, lease, supplyFindings(answer.error, type, name));
    } else if (answer.resource === undefined) {
      this.#nothing(lease);
      this.#context.report("absent", this.group, lease, []);
    } else if (this.#own.has(type, answer.resource.key)) {
      this.#hidden(lease, answer.resource);
    } else {
      this.#something(lease, answer.resource);
    }
  }

  #something(lease: SupplierLease<WantedName>, resource: Resource): void {
    this.#supplied.put(lease, resource);
    // A name that the new resource no longer has must look elsewhere; a waiting name that it has need not wait.
    const names = new Set(suppliedNames(resource));
    for (const holder of lease.holders) {
      if (names.has(holder.name)) this.#hold(holder, lease);
      else this.#reconsider(holder);
    }
    if (lease.isOver) return;
    for (const name of names) {
      const wanted = this.#names.get(lease.type, name);
      if (wanted !== undefined && decisionIn(wanted.state) !== "found") this.#hold(wanted, lease);
    }
    this.#context.report("supplied", this.group, lease, []);
  }

  #nothing(lease: SupplierLease<WantedName>): void {
    this.#supplied.put(lease, undefined);
    for (const holder of lease.holders) {
      if (holder.name === lease.name) this.#absent(holder, lease);
      else this.#reconsider(holder);
    }
  }

  /** The supplied resource cannot be seen: a layer has another one of its name, without the requested alias. */
  #hidden(lease: SupplierLease<WantedName>, resource: Resource): void {
    this.#nothing(lease);
    this.#context.report("failed", this.group, lease, hiddenFindings(resource, lease));
  }

  #hold(wanted: WantedName, lease: SupplierLease<WantedName>): void {
    this.#names.become(wanted, states.supplied, lease);
  }

  #reconsider(wanted: WantedName): void {
    this.#names.become(wanted, states.unknown, undefined);
    this.#evaluate(wanted);
  }

  #absent(wanted: WantedName, lease: SupplierLease<WantedName>): void {
    this.#names.become(wanted, states.absent, lease);
    this.#waits.start("next-call", wanted, this.#context.limits.negativeMs);
  }

  /** An absence has become stale. */
  #grewStale(wanted: WantedName): void {
    const { limits } = this.#context;
    const left = recheckAfter(wanted.absences, limits) - limits.negativeMs;
    wanted.state = states.stale;
    if (left > 0) this.#waits.start("next-call", wanted, left);
    else if (wanted.streams > 0) this.#call(wanted);
  }

  /** A call failed: it is repeated after a while, if a client still asks. */
  #failed(lease: SupplierLease<WantedName>): void {
    for (const wanted of lease.holders) {
      this.#names.become(wanted, states.failed, undefined);
      this.#waits.start("next-call", wanted, retryAfter(wanted.failures, this.#context.limits));
      this.#limitWait(wanted);
    }
  }

  /** The last client unsubscribed. */
  #leave(wanted: WantedName): void {
    const { limits, lingering, calls } = this.#context;
    const isCalled = wanted.lease !== undefined && calls.isUnderWay(wanted.lease);
    const wait = lingerAfter(wanted.state.kind, isCalled, limits);
    if (wait === undefined) {
      this.#drop(wanted, unwanted);
      return;
    }
    this.#waits.start("linger", wanted, wait);
    lingering.add(wanted, this.#dropUnwanted);
  }

  /** The first client subscribes. */
  #stay(wanted: WantedName): void {
    if (!this.#context.lingering.delete(wanted)) return;
    wanted.stop("linger");
    // Its retry was due while no client wanted it.
    if (wanted.state.kind === "failed" && wanted.waiting("next-call") === undefined) this.#call(wanted);
  }

  #drop(wanted: WantedName, why: string): void {
    if (!this.#names.delete(wanted, why)) return;
    if (wanted.state.kind === "supplied") this.#context.report("dropped", this.group, wanted, []);
    if (this.#names.size === 0) this.#context.emptied(this.group);
  }
}

const unwanted = "nobody asks for it any more";
