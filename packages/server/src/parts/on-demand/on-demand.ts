import {
  type Clock,
  type Finding,
  getOrInsert,
  noSuchType,
  type ResourceName,
  type ResourceType,
  type TypeUrl,
  XdskitError,
} from "@xdskit/api";
import type { Node } from "@xdskit/protocol";
import { MultiMap } from "../../basics/maps.js";
import { refuseForeign } from "../../configuration/authorities.js";
import { layerBelow } from "../../configuration/below.js";
import type { ConfigResourceOptions } from "../../configuration/create-config.js";
import type { Group } from "../../contracts/group.js";
import type { LayerChange, ResourceKey } from "../../contracts/layer-change.js";
import type { Kernel } from "../../contracts/parts/kernel.js";
import type { Asker, Interest, Supply } from "../../contracts/parts/supply.js";
import type { OnDemandStats } from "../../contracts/stats.js";
import type { LayerName } from "../../settings/group-settings.js";
import {
  limitsOf,
  type OnDemandLimits,
  type OnDemandOptions,
  type Supplier,
} from "../../settings/on-demand-options.js";
import { Calls, type CheckedResult, type SupplierResult } from "./calls.js";
import type { DemandContext, DemandOutcome } from "./demand-context.js";
import { GroupDemand } from "./group-demand.js";
import { StreamInterest } from "./interest.js";
import { Lingering } from "./lingering.js";
import { createOwnLayers } from "./supplied/own-layers.js";
import { suppliedResource } from "./supplied/supplied-resource.js";
import { createSuppliedSet } from "./supplied/supplied-set.js";
import type { WantedState } from "./wanted.js";

/** What it needs of the server. */
export type DemandingKernel = Pick<Kernel, "options" | "types" | "authorities" | "clock"> & {
  readonly layers: Pick<Kernel["layers"], "names" | "get" | "bring" | "drop">;
  readonly events: Pick<Kernel["events"], "emit">;
};

/** Below this part of the limit, reaching the limit again is reported again. */
const hardlyFull = 0.9;

/** Stands for all layers; no layer has this name. */
const anyLayer: LayerName = "\u0000any";

/** Resources that are supplied when they are first asked for. */
export class OnDemand implements Supply, DemandContext {
  /** v3 type URLs. */
  readonly types: ReadonlySet<TypeUrl>;
  readonly supply: Supplier;
  readonly limits: OnDemandLimits;
  readonly calls: Calls;
  readonly clock: Clock;
  readonly lingering: Lingering;
  readonly #kernel: DemandingKernel;
  readonly #config: ConfigResourceOptions;
  readonly #groups = new Map<string, GroupDemand>();
  readonly #groupsOfLayer = new MultiMap<LayerName, GroupDemand>();
  /** Names by their state. */
  readonly #counts = { unknown: 0, "in-layers": 0, pending: 0, supplied: 0, absent: 0, failed: 0 };
  readonly #outcomes: Record<DemandOutcome, number> = { supplied: 0, absent: 0, failed: 0, dropped: 0, refused: 0 };
  /** In any state. */
  #names = 0;
  /** A refusal was reported, and there has been hardly any room since. */
  #full = false;
  #open = false;

  /** Throws an XdskitError if a type is not known. */
  constructor(options: OnDemandOptions, kernel: DemandingKernel) {
    const { types, options: own, clock } = kernel;
    this.#kernel = kernel;
    this.#config = { types, registry: own.registry, validate: own.validate ?? true };
    this.types = new Set(options.types.map((type) => typeUrlOf(type, this.#config)));
    this.supply = options.supply;
    this.limits = limitsOf(options);
    this.clock = clock;
    this.calls = new Calls(this.limits, clock);
    this.lingering = new Lingering(this.limits.lingering);
  }

  join(group: Group, node: Node, asker: Asker): Interest {
    const demand = this.#demandOf(group);
    demand.streams += 1;
    const left = () => {
      demand.streams -= 1;
      this.#forgetIfIdle(demand);
    };
    return new StreamInterest({ group: demand, node, asker, authorities: this.#kernel.authorities, left });
  }

  layersChanged(changes: readonly LayerChange[]): void {
    const touched = new Map<GroupDemand, LayerChange[]>();
    for (const change of changes) {
      for (const name of [change.layer, anyLayer]) {
        for (const demand of this.#groupsOfLayer.of(name)) getOrInsert(touched, demand, () => []).push(change);
      }
    }
    for (const [demand, list] of touched) demand.layersChanged(list);
  }

  /** Nodes may be told the configuration from now on. */
  opened(): void {
    this.#open = true;
    for (const demand of [...this.#groups.values()]) demand.layersChanged([]);
  }

  stats(): OnDemandStats {
    const { supplied, absent, failed: failing } = this.#counts;
    const { failed: errors, dropped, refused } = this.#outcomes;
    const { started: calls, pending } = this.calls;
    return { calls, pending, supplied, absent, failing, errors, dropped, refused };
  }

  close(): void {
    for (const demand of [...this.#groups.values()]) demand.close();
  }

  isOpen(): boolean {
    return this.#open;
  }

  check(result: SupplierResult, type: ResourceType, name: ResourceName): CheckedResult {
    if (result.kind === "failed") return result;
    if (result.supplied === undefined || result.supplied === null) return { kind: "answered", resource: undefined };
    try {
      const resource = suppliedResource(result.supplied, type, name, this.#config);
      refuseForeign([resource], this.#kernel.authorities);
      return { kind: "answered", resource };
    } catch (error) {
      return { kind: "failed", error };
    }
  }

  admits(group: Group, type: ResourceType, name: ResourceName, others: number): boolean {
    const ofOne = Math.ceil(this.limits.names / 2);
    const isShareTaken = others >= ofOne;
    if (!isShareTaken && (this.#names < this.limits.names || this.lingering.dropOldest())) return true;
    if (this.#full) {
      this.#outcomes.refused += 1;
      return false;
    }
    this.#full = true;
    const who = isShareTaken
      ? `a stream asks for more than ${ofOne} names`
      : `clients ask for more than ${this.limits.names} names`;
    const message = `${who}: further ones are refused`;
    const { findings } = XdskitError.of("XDSKIT_ON_DEMAND_BUSY", message, { type: type.name, resource: name });
    this.report("refused", group, { type, name }, findings);
    return false;
  }

  count(kind: WantedState["kind"], by: 1 | -1): void {
    this.#counts[kind] += by;
    this.#names += by;
    if (this.#names < this.limits.names * hardlyFull) this.#full = false;
  }

  report(
    outcome: DemandOutcome,
    { name: group }: Group,
    { type, name }: ResourceKey,
    findings: readonly Finding[],
  ): void {
    this.#outcomes[outcome] += 1;
    this.#kernel.events.emit("on-demand", () => ({ outcome, type, name, group, findings }));
  }

  emptied({ key }: Group): void {
    const demand = this.#groups.get(key);
    if (demand !== undefined) this.#forgetIfIdle(demand);
  }

  #demandOf(group: Group): GroupDemand {
    const known = this.#groups.get(group.key);
    if (known !== undefined) return known;
    const { layers } = this.#kernel;
    const layer = layerBelow(group.key);
    const supplied = createSuppliedSet(({ upsert, remove, emptied }) => {
      if (emptied) layers.drop(layer);
      else layers.bring({ layer, kind: "patch", upsert, remove });
    });
    const made = new GroupDemand(group, createOwnLayers(layers, group), supplied, this);
    this.#groups.set(group.key, made);
    for (const name of group.layers ?? [anyLayer]) this.#groupsOfLayer.add(name, made);
    return made;
  }

  /** Groups that a function names come and go with their streams; lingering names keep a group. */
  #forgetIfIdle(demand: GroupDemand): void {
    const { group } = demand;
    if (!demand.isIdle || this.#groups.get(group.key) !== demand) return;
    this.#groups.delete(group.key);
    for (const name of group.layers ?? [anyLayer]) this.#groupsOfLayer.delete(name, demand);
  }
}

function typeUrlOf(type: string, { types }: ConfigResourceOptions): TypeUrl {
  const found = types.find(String(type));
  if (found !== undefined) return found.typeUrl;
  throw XdskitError.of("XDSKIT_TYPE_NAME_UNKNOWN", `onDemand.types: ${noSuchType(type, types)}`, { type });
}
