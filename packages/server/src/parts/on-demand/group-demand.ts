import {
  canonicalName,
  fewSize,
  fewWith,
  fewWithout,
  type Resource,
  type ResourceName,
  type ResourceType,
  XdskitError,
} from "@xdskit/api";
import type { Node } from "@xdskit/protocol";
import type { Group } from "../../contracts/group.js";
import type { LayerChange } from "../../contracts/layer-change.js";
import type { Asker, NameDecision } from "../../contracts/parts/supply.js";
import type { Supplied } from "../../settings/on-demand-options.js";
import type { Result } from "./calls.js";
import type { DemandContext } from "./demand-context.js";
import { recheckAfter, retryAfter } from "./intervals.js";
import { type LeaseOwner, SupplierLease } from "./lease.js";
import { NameSets, NameTable } from "./name-table.js";
import type { OwnLayers } from "./supplied/own-layers.js";
import { hiddenFindings, supplyFindings } from "./supplied/supplied-resource.js";
import { type SuppliedSet, suppliedNames } from "./supplied/supplied-set.js";
import { supplyRequestOf } from "./supply-request.js";
import { type WaitKind, Waits } from "./waits.js";
import { states, WantedName, type WantedState } from "./wanted.js";

/** The names that the nodes of one group ask for, with the state of each. */
export class GroupDemand implements LeaseOwner<WantedName> {
  readonly group: Group;
  /** Streams of the group. */
  streams = 0;
  readonly #context: DemandContext;
  readonly #own: OwnLayers;
  readonly #supplied: SuppliedSet;
  readonly #wanted = new NameTable<WantedName>();
  readonly #waits: Waits<WantedName>;
  /** Those that the layers have, by the name of the resource that has them. */
  readonly #borne = new NameSets<WantedName>();
  #known = false;

  readonly #dropUnwanted = (wanted: WantedName) => this.#drop(wanted, unwanted);

  constructor(group: Group, own: OwnLayers, supplied: SuppliedSet, context: DemandContext) {
    this.group = group;
    this.#own = own;
    this.#supplied = supplied;
    this.#context = context;
    this.#waits = new Waits<WantedName>(context.clock, (kind, wanted) => this.#waited(kind, wanted));
    this.#known = context.isOpen() && own.isKnown;
  }

  /** Whether nothing of it is left. */
  get isIdle(): boolean {
    return this.streams === 0 && this.#wanted.size === 0;
  }

  /**
   * A stream that asks for `others` names subscribes to one more. Undefined if the decision will follow; the client is
   * told then.
   */
  subscribe(
    type: ResourceType,
    name: ResourceName,
    node: Node,
    asker: Asker,
    others: number,
  ): NameDecision | undefined {
    let wanted = this.#wanted.get(type, name);
    if (wanted === undefined) {
      if (!this.#context.admits(this.group, type, name, others)) return "refused";
      wanted = new WantedName(type, name, node);
      this.#wanted.set(type, name, wanted);
      this.#context.count(wanted.state.kind, 1);
    }
    wanted.streams += 1;
    this.#stay(wanted);
    wanted.node = node;
    if (wanted.state.kind === "unknown") this.#evaluate(wanted);
    return this.#ask(wanted, asker);
  }

  /** A stream that is subscribed to a name asks for it again. */
  again(type: ResourceType, name: ResourceName, node: Node, asker: Asker): NameDecision | undefined {
    const wanted = this.#wanted.get(type, name);
    if (wanted === undefined) return "absent";
    wanted.node = node;
    return this.#ask(wanted, asker);
  }

  unsubscribe(type: ResourceType, name: ResourceName, asker: Asker): void {
    const wanted = this.#wanted.get(type, name);
    if (wanted === undefined) return;
    wanted.askers = fewWithout(wanted.askers, asker);
    wanted.streams -= 1;
    if (wanted.streams === 0) this.#leave(wanted);
  }

  /** Takes over a change of the group's layers. Costs the change or the wanted names, whichever is less. */
  layersChanged(changes: readonly LayerChange[]): void {
    const known = this.#context.isOpen() && this.#own.isKnown;
    const changed = changes.reduce((sum, { upserted, removed }) => sum + upserted.length + removed.length, 0);
    if ((known && !this.#known) || changed > this.#wanted.size) {
      this.#known ||= known;
      for (const wanted of [...this.#wanted.values()]) this.#evaluate(wanted);
    } else {
      for (const { upserted, removed } of changes) {
        for (const resource of upserted) this.#touched(resource.type, suppliedNames(resource));
        for (const { type, name } of removed) this.#touched(type, [canonicalName(name)]);
      }
    }
  }

  /** Everything ends. */
  close(): void {
    for (const wanted of [...this.#wanted.values()]) this.#drop(wanted, "the server closes");
  }

  #touched(type: ResourceType, names: readonly ResourceName[]): void {
    for (const name of names) {
      const wanted = this.#wanted.get(type, name);
      if (wanted !== undefined) this.#evaluate(wanted);
      for (const borne of this.#borne.of(type, name)) this.#evaluate(borne);
      // A layer has another resource of that name now.
      for (const lease of this.#supplied.named(type, name)) {
        for (const holder of lease.holders) this.#evaluate(holder);
      }
    }
  }

  /** Checks whether the layers have the name, and if not, the supplied resources. */
  #evaluate(wanted: WantedName): void {
    if (!this.#known || this.#wanted.get(wanted.type, wanted.name) !== wanted) return;
    const { type, name, state } = wanted;
    const bearer = this.#own.bearerOf(type, name);
    if (bearer !== undefined) {
      if (state.kind === "in-layers" && state.bearer === bearer) return;
      this.#become(wanted, { kind: "in-layers", bearer }, undefined, "a layer has it now");
      wanted.decided("found");
      if (wanted.streams === 0) this.#drop(wanted, unwanted);
    } else if (state.kind === "in-layers" || state.kind === "unknown") {
      const lease = this.#supplied.covering(type, name);
      if (lease !== undefined) this.#hold(wanted, lease);
      else if (wanted.streams === 0) this.#drop(wanted, unwanted);
      else this.#call(wanted);
    } else if (state.kind === "supplied" && wanted.lease !== undefined) {
      const { resource } = wanted.lease;
      if (resource !== undefined && this.#own.has(type, resource.key)) this.#hidden(wanted.lease, resource);
    }
  }

  /** Undefined if it waits. */
  #ask(wanted: WantedName, asker: Asker): NameDecision | undefined {
    switch (wanted.state.kind) {
      case "in-layers":
      case "supplied":
        return "found";
      case "absent":
        if (!wanted.state.stale) return "absent";
        this.#call(wanted);
        break;
      case "unknown":
      case "pending":
      case "failed":
    }
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
    switch (kind) {
      case "answer":
        wanted.decided("late");
        break;
      case "linger":
        this.#drop(wanted, unwanted);
        break;
      case "next-call":
        if (wanted.state.kind === "absent" && !wanted.state.stale) this.#grewStale(wanted);
        else this.#callIfWanted(wanted);
        break;
    }
  }

  #call(wanted: WantedName): void {
    const { calls, supply } = this.#context;
    wanted.stop("next-call");
    const lease = new SupplierLease(wanted, this);
    this.#become(wanted, states.pending, lease, "it is asked for anew");
    const call = () => supply(supplyRequestOf(lease, wanted.node, this.group.name));
    if (!calls.add(lease, call, (result) => this.#ended(lease, result))) {
      const full = XdskitError.of("XDSKIT_ON_DEMAND_BUSY", "too many names wait to be supplied", {
        type: wanted.type.name,
        resource: wanted.name,
      });
      this.#failed(lease, full);
      return;
    }
    this.#limitWait(wanted);
  }

  #callIfWanted(wanted: WantedName): void {
    if (wanted.streams > 0) this.#call(wanted);
  }

  #ended(lease: SupplierLease<WantedName>, result: Result): void {
    lease.called = false;
    if (lease.isOver) return;
    if (result.kind === "failed") this.#failed(lease, result.error);
    else this.#answered(lease, result.supplied, (error) => this.#failed(lease, error));
  }

  /** A supplier updates its answer; only a lease of the group calls this. */
  updated(lease: SupplierLease<WantedName>, supplied: Supplied): void {
    if (lease.isOver) return;
    const during = lease.called;
    lease.called = false;
    this.#context.calls.finish(lease);
    this.#answered(lease, supplied, (error) => {
      if (during) this.#failed(lease, error);
      else this.#context.report("failed", this.group, lease, supplyFindings(error, lease.type, lease.name));
    });
  }

  /** The supplier updates the resource of a lease. */
  #answered(lease: SupplierLease<WantedName>, supplied: Supplied, bad: (error: unknown) => void): void {
    const { type, name } = lease;
    let resource: Resource | undefined;
    try {
      resource = supplied === undefined || supplied === null ? undefined : this.#context.check(supplied, type, name);
    } catch (error) {
      bad(error);
      return;
    }
    if (resource === undefined) {
      this.#nothing(lease);
      this.#context.report("absent", this.group, lease, []);
    } else if (this.#own.has(type, resource.key)) {
      this.#hidden(lease, resource);
    } else {
      this.#something(lease, resource);
    }
  }

  #something(lease: SupplierLease<WantedName>, resource: Resource): void {
    this.#supplied.put(lease, resource);
    // A name that the new resource no longer has must look elsewhere; a waiting name that it has need not wait.
    const names = new Set(suppliedNames(resource));
    for (const holder of lease.holders) {
      if (names.has(holder.name)) this.#hold(holder, lease);
      else this.#reconsider(holder, lease);
    }
    if (lease.isOver) return;
    for (const name of names) {
      const wanted = this.#wanted.get(lease.type, name);
      const kind = wanted?.state.kind;
      if (wanted !== undefined && kind !== "supplied" && kind !== "in-layers") this.#hold(wanted, lease);
    }
    this.#context.report("supplied", this.group, lease, []);
  }

  #nothing(lease: SupplierLease<WantedName>): void {
    this.#supplied.put(lease, undefined);
    for (const holder of lease.holders) {
      if (holder.name === lease.name) this.#absent(holder, lease);
      else this.#reconsider(holder, lease);
    }
  }

  /** The supplied resource cannot be seen: a layer has another one of its name, without the requested alias. */
  #hidden(lease: SupplierLease<WantedName>, resource: Resource): void {
    this.#nothing(lease);
    this.#context.report("failed", this.group, lease, hiddenFindings(resource, lease));
  }

  #hold(wanted: WantedName, lease: SupplierLease<WantedName>): void {
    wanted.stop("next-call");
    wanted.failures = 0;
    wanted.absences = 0;
    this.#become(wanted, states.supplied, lease, "it was supplied with another name");
    wanted.decided("found");
  }

  #reconsider(wanted: WantedName, lease: SupplierLease<WantedName>): void {
    lease.letGo(wanted);
    this.#become(wanted, states.unknown, undefined, "");
    this.#evaluate(wanted);
  }

  #absent(wanted: WantedName, lease: SupplierLease<WantedName>): void {
    const { limits } = this.#context;
    wanted.failures = 0;
    wanted.absences += 1;
    this.#become(wanted, states.absent, lease, "");
    wanted.decided("absent");
    this.#waits.start("next-call", wanted, limits.negativeMs);
  }

  /** An absence has become stale. */
  #grewStale(wanted: WantedName): void {
    const { limits } = this.#context;
    const left = recheckAfter(wanted.absences, limits) - limits.negativeMs;
    wanted.state = states.stale;
    if (left <= 0) this.#callIfWanted(wanted);
    else this.#waits.start("next-call", wanted, left);
  }

  /** A call failed: it is repeated after a while, if a client still asks. */
  #failed(lease: SupplierLease<WantedName>, error: unknown): void {
    const { limits } = this.#context;
    const findings = supplyFindings(error, lease.type, lease.name);
    for (const wanted of lease.holders) {
      wanted.failures += 1;
      this.#become(wanted, states.failed, undefined, "the call failed");
      this.#waits.start("next-call", wanted, retryAfter(wanted.failures, limits));
      this.#limitWait(wanted);
    }
    this.#context.report("failed", this.group, lease, findings);
  }

  /** Changes the state of a name, and releases the resources of the old state. */
  #become(wanted: WantedName, state: WantedState, lease: SupplierLease<WantedName> | undefined, why: string): void {
    const before = wanted.state;
    const held = wanted.lease;
    wanted.state = state;
    wanted.lease = lease;
    this.#context.count(before.kind, -1);
    this.#context.count(state.kind, 1);
    if (before.kind === "in-layers") this.#borne.delete(wanted.type, before.bearer, wanted);
    if (state.kind === "in-layers") {
      wanted.stop("next-call");
      this.#borne.add(wanted.type, state.bearer, wanted);
    }
    lease?.hold(wanted);
    if (held !== undefined && held !== lease) this.#letGo(wanted, held, why);
  }

  #letGo(wanted: WantedName, lease: SupplierLease<WantedName>, why: string): void {
    lease.letGo(wanted);
    if (lease.isHeld || lease.isOver) return;
    this.#supplied.put(lease, undefined);
    // This comes before the supplier is told, so that its reaction finds a consistent state.
    lease.end(why);
    this.#context.calls.finish(lease);
  }

  /** The last client unsubscribed. */
  #leave(wanted: WantedName): void {
    const { limits, lingering, calls } = this.#context;
    const { kind } = wanted.state;
    const waitsInVain = kind === "pending" && (wanted.lease === undefined || !calls.isUnderWay(wanted.lease));
    if (kind === "in-layers" || kind === "unknown" || waitsInVain) {
      this.#drop(wanted, unwanted);
      return;
    }
    // A missing name is remembered while its absence is believed: clients ask, are told, unsubscribe, and ask again.
    const negative = kind === "absent" || kind === "failed";
    const wait = negative ? Math.max(limits.lingerMs, limits.negativeMs) : limits.lingerMs;
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
    if (!this.#wanted.delete(wanted.type, wanted.name)) return;
    this.#context.lingering.delete(wanted);
    wanted.stopAll();
    const { kind } = wanted.state;
    const lease = wanted.lease;
    if (kind === "in-layers") this.#borne.delete(wanted.type, wanted.state.bearer, wanted);
    this.#context.count(kind, -1);
    if (lease !== undefined) this.#letGo(wanted, lease, why);
    if (kind === "supplied") this.#context.report("dropped", this.group, wanted, []);
    if (this.#wanted.size === 0) this.#context.emptied(this.group);
  }
}

const unwanted = "nobody asks for it any more";
