import { type Finding, isGlobName, type ResourceName, type ResourceType, type TypeUrl, XdskitError } from "@xdskit/api";
import { foreignAuthority, isLocator, type Node, type StreamEffect } from "@xdskit/protocol";
import type { Clock } from "../basics/clock.js";
import { refuseForeign } from "../configuration/authorities.js";
import { layerBelow } from "../configuration/below.js";
import type { ConfigOptions } from "../configuration/create-config.js";
import type { Group } from "../configuration/groups.js";
import type { LayerChange, Layers } from "../configuration/layers.js";
import type { LayerUpdate } from "../contracts/source.js";
import type { OnDemandStats } from "../contracts/stats.js";
import type { LayerName } from "../settings/group-settings.js";
import { limitsOf, type OnDemandOptions } from "../settings/on-demand-options.js";
import { createCalls } from "./calls.js";
import type { DemandContext, DemandOutcome } from "./demand-context.js";
import { GroupDemand } from "./group-demand.js";
import { createLingering } from "./lingering.js";
import { NameTable } from "./name-table.js";
import { createOwnLayers } from "./own-layers.js";
import { suppliedResource } from "./supplied-resource.js";
import { createSuppliedSet } from "./supplied-set.js";
import type { Asker, Outcome, WantedState } from "./wanted.js";

/** What a stream's machine says of the names that its client asks for. */
export type Demanded = Extract<StreamEffect, { readonly kind: "demanded" }>;

/** What is known of names at once; names in neither list exist. */
export interface Answered {
  readonly absent: readonly ResourceName[];
  /** Not decided in time. */
  readonly late: readonly ResourceName[];
  /** Beyond the limit. */
  readonly refused: readonly ResourceName[];
  /** The asker hears of each, once. */
  readonly undecided: readonly ResourceName[];
}

/** What one stream asks for by name. */
export interface Interest {
  /** Takes over the names that are asked for, and returns what is known of them. */
  demand(demanded: Demanded): Answered;
  /** The stream is over: nothing is wanted any more. */
  close(): void;
}

/** Resources that are supplied when they are first asked for. */
export interface OnDemand {
  /** v3 type URLs. */
  readonly types: ReadonlySet<TypeUrl>;
  /** The layer below all others of a group. */
  layerOf(group: Group): LayerName;
  join(group: Group, node: Node, asker: Asker): Interest;
  /** Call this after the layers' streams have a new target. */
  layersChanged(changes: readonly LayerChange[]): void;
  /** Nodes may be told the configuration from now on. */
  opened(): void;
  stats(): OnDemandStats;
  close(): void;
}

/** What it needs of the server around it. */
export interface OnDemandSurroundings {
  readonly layers: Layers;
  readonly config: ConfigOptions;
  /** Those that are served; undefined for any. */
  readonly authorities: ReadonlySet<string> | undefined;
  /** Applies to layers, and tells those whom it concerns. */
  apply(update: LayerUpdate): void;
  drop(layer: LayerName): void;
  report(
    outcome: DemandOutcome,
    group: string,
    type: ResourceType,
    name: ResourceName,
    findings: readonly Finding[],
  ): void;
  readonly clock: Clock;
}

/** Throws an XdskitError where a type is not known. */
export function createOnDemand(options: OnDemandOptions, surroundings: OnDemandSurroundings): OnDemand {
  const { layers, config, authorities, apply, drop, report, clock } = surroundings;
  const limits = limitsOf(options);
  const types = new Set(options.types.map((type) => typeUrlOf(type, config)));
  const calls = createCalls(limits, clock.after);
  const counts: Record<WantedState["kind"], number> = {
    unknown: 0,
    "in-layers": 0,
    pending: 0,
    supplied: 0,
    absent: 0,
    failed: 0,
  };
  const outcomes: Record<DemandOutcome, number> = { supplied: 0, absent: 0, failed: 0, dropped: 0, refused: 0 };
  const lingering = createLingering(limits.lingering);
  /** In any state. */
  let names = 0;
  /** A name was refused, and that was reported, and there is hardly any room since. */
  let full = false;
  const groups = new Map<string, GroupDemand>();
  const groupsOfLayer = new Map<LayerName, Set<GroupDemand>>();
  let open = false;

  const context: DemandContext = {
    supply: options.supply,
    limits,
    calls,
    clock,
    check(given, type, name) {
      const resource = suppliedResource(given, type, name, config);
      refuseForeign([resource], authorities);
      return resource;
    },
    lingering,
    admits(group, type, name, others) {
      const ofOne = Math.ceil(limits.names / 2);
      const isShareTaken = others >= ofOne;
      if (!isShareTaken && (names < limits.names || lingering.dropOldest())) return true;
      outcomes.refused += 1;
      if (full) return false;
      full = true;
      const who = isShareTaken
        ? `a stream asks for more than ${ofOne} names`
        : `clients ask for more than ${limits.names} names`;
      const message = `${who}: further ones are refused`;
      const { findings } = XdskitError.of("XDSKIT_ON_DEMAND_BUSY", message, { type: type.name, resource: name });
      report("refused", group.name, type, name, findings);
      return false;
    },
    count: (kind, by) => {
      counts[kind] += by;
      names += by;
      if (names < limits.names * hardlyFull) full = false;
    },
    report(outcome, group, { type, name }, findings) {
      outcomes[outcome] += 1;
      report(outcome, group.name, type, name, findings);
    },
    isOpen: () => open,
    emptied({ key }) {
      const demand = groups.get(key);
      if (demand !== undefined) forgetIfIdle(demand);
    },
  };

  function demandOf(group: Group): GroupDemand {
    const known = groups.get(group.key);
    if (known !== undefined) return known;
    const layer = layerBelow(group.key);
    const supplied = createSuppliedSet(({ upsert, remove, emptied }) => {
      if (emptied) drop(layer);
      else apply({ layer, kind: "patch", upsert, remove });
    });
    const made = new GroupDemand(group, createOwnLayers(layers, group), supplied, context);
    groups.set(group.key, made);
    for (const name of group.layers ?? [anyLayer]) {
      groupsOfLayer.set(name, (groupsOfLayer.get(name) ?? new Set()).add(made));
    }
    return made;
  }

  /** Groups that a function names come and go with their streams; what lingers of one keeps it. */
  function forgetIfIdle(demand: GroupDemand): void {
    const { group } = demand;
    if (!demand.isIdle || groups.get(group.key) !== demand) return;
    groups.delete(group.key);
    for (const name of group.layers ?? [anyLayer]) {
      const having = groupsOfLayer.get(name);
      having?.delete(demand);
      if (having?.size === 0) groupsOfLayer.delete(name);
    }
  }

  /** Neither collections nor variants are. */
  function mayBeSupplied(name: ResourceName): boolean {
    return name !== "" && !isGlobName(name) && !isLocator(name) && foreignAuthority(name, authorities) === undefined;
  }

  return {
    types,
    layerOf: (group) => layerBelow(group.key),
    join(group, node, asker) {
      const demand = demandOf(group);
      demand.streams += 1;
      return createInterest({ group: demand, node, asker, mayBeSupplied, left: () => forgetIfIdle(demand) });
    },
    layersChanged(changes) {
      const touched = new Map<GroupDemand, LayerChange[]>();
      for (const change of changes) {
        for (const name of [change.layer, anyLayer]) {
          for (const demand of groupsOfLayer.get(name) ?? []) {
            const list = touched.get(demand);
            if (list === undefined) touched.set(demand, [change]);
            else list.push(change);
          }
        }
      }
      for (const [demand, list] of touched) demand.layersChanged(list);
    },
    opened() {
      open = true;
      for (const demand of [...groups.values()]) demand.layersChanged([]);
    },
    stats: () => ({
      calls: calls.started,
      pending: calls.pending,
      supplied: counts.supplied,
      absent: counts.absent,
      failing: counts.failed,
      errors: outcomes.failed,
      dropped: outcomes.dropped,
      refused: outcomes.refused,
    }),
    close() {
      for (const demand of [...groups.values()]) demand.close();
    },
  };
}

/** Below this part of the limit it is worth a word when it is reached again. */
const hardlyFull = 0.9;
/** So many names are given up in one turn of the event loop. */
const mostInTurn = 1_000;

/** Stands for every layer that there is; no layer has this name. */
const anyLayer: LayerName = "\u0000any";

function createInterest(parts: {
  readonly group: GroupDemand;
  readonly node: Node;
  readonly asker: Asker;
  mayBeSupplied(name: ResourceName): boolean;
  left(): void;
}): Interest {
  const { group, node, asker, mayBeSupplied, left } = parts;
  /** By type, what the stream is subscribed to by name. */
  const subscribed = new Map<ResourceType, Iterable<ResourceName>>();
  /** What of it was refused. */
  const unheard = new NameTable<true>();
  /** Names that the stream is subscribed to, and that were not refused. */
  let held = 0;
  let closed = false;
  function subscribe(type: ResourceType, name: ResourceName): Outcome | undefined {
    const outcome = group.subscribe(type, name, node, asker, held);
    if (outcome !== "refused") held += 1;
    return outcome;
  }
  function demand({ type, added, again, dropped, names }: Demanded): Answered {
    const absent: ResourceName[] = [];
    const late: ResourceName[] = [];
    const undecided: ResourceName[] = [];
    const refused: ResourceName[] = [];
    subscribed.set(type, names);
    const note = (name: ResourceName, outcome: Outcome | undefined) => {
      if (outcome === "refused") {
        refused.push(name);
        unheard.set(type, name, true);
      } else if (outcome === "absent") absent.push(name);
      else if (outcome === "late") late.push(name);
      else if (outcome === undefined) undecided.push(name);
    };
    for (const name of dropped) leave(type, name);
    for (const name of added) {
      note(name, mayBeSupplied(name) ? subscribe(type, name) : "absent");
    }
    for (const name of again) {
      if (!mayBeSupplied(name)) note(name, "absent");
      else if (unheard.delete(type, name)) note(name, subscribe(type, name));
      else note(name, group.again(type, name, node, asker));
    }
    return { absent, late, refused, undecided };
  }
  function leave(type: ResourceType, name: ResourceName): void {
    if (unheard.delete(type, name) || !mayBeSupplied(name)) return;
    held -= 1;
    group.unsubscribe(type, name, asker);
  }
  function* everything(): Generator<readonly [type: ResourceType, name: ResourceName]> {
    for (const [type, names] of subscribed) for (const name of names) yield [type, name];
  }
  return {
    demand,
    close() {
      if (closed) return;
      closed = true;
      const rest = everything();
      // A client with a hundred thousand names must not hold up all others when it leaves.
      const pass = () => {
        for (let names = 0; names < mostInTurn; names += 1) {
          const next = rest.next();
          if (next.done === true) {
            group.streams -= 1;
            left();
            return;
          }
          leave(...next.value);
        }
        setImmediate(pass);
      };
      pass();
    },
  };
}

function typeUrlOf(type: string, { types }: ConfigOptions): TypeUrl {
  const found = types.find(String(type));
  if (found !== undefined) return found.typeUrl;
  throw XdskitError.of("XDSKIT_TYPE_NAME_UNKNOWN", "there is no such type of resources to supply on demand", { type });
}
