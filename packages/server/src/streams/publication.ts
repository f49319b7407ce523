import type { ResourceType, TypeUrl } from "@xdskit/api";
import {
  type Node,
  type Rejection,
  type ResourceErrorPolicy,
  type Snapshot,
  type SnapshotLineage,
  statusCode,
  type TtlPolicy,
  type UnknownTypes,
} from "@xdskit/protocol";
import type { Clock } from "../basics/clock.js";
import { isBelow } from "../configuration/below.js";
import type { Group, Groups } from "../configuration/groups.js";
import type { LayerChange, Layers } from "../configuration/layers.js";
import type { GroupStats } from "../contracts/stats.js";
import type { Refusal } from "../contracts/transport.js";
import type { Interest, OnDemand } from "../on-demand/on-demand.js";
import type { ViewedGroup, Views } from "../rollouts/views.js";
import type { LayerName } from "../settings/group-settings.js";
import type { ServerLimits } from "../settings/limits.js";
import type { RolloutSettings } from "../settings/rollout-settings.js";
import type { PulseListener } from "./pulse.js";
import { createSharedStacks, type GroupClient, type SharedStack } from "./shared-stacks.js";

/** A node joins with a stream, or with a poll that is held until there is something new. Each has limits of its own. */
export type MemberKind = "stream" | "poll";

/**
 * The membership of a stream, or a poll, in the group of its node: which snapshot is its target, and what it reports
 * to the group.
 */
export interface Membership {
  readonly group: string;
  /** The layers of the group; undefined is all that there are. */
  readonly layers: readonly LayerName[] | undefined;
  /**
   * The node's target now: the newest snapshot, or, during a rollout or after a rejection, a view of it. Undefined
   * while nothing is known yet (rule 7).
   */
  snapshot(): Snapshot | undefined;
  /** The line of the newest snapshots of the group's layers, along which streams that rest go. */
  readonly line: SnapshotLineage;
  /** Types whose content is not known yet. */
  unknown(): UnknownTypes;
  /** The node's target is not decided yet. */
  readonly isAwaited: boolean;
  /** The newest snapshot of the group's layers: the node's target in the end. */
  newest(): Snapshot | undefined;
  /** The client may use something else now: it acknowledged a response, or needed none. */
  progressed(): void;
  /** The stream ends; its client can be asked for the last time. */
  ends(): void;
  /** `isWhole`: the response held the client's whole target. */
  rejected(type: ResourceType, rejection: Rejection, isWhole: boolean): void;
  /**
   * The names that the stream asks for, of types supplied on demand; the client is told the decisions. Undefined
   * without such types.
   */
  readonly interest: Interest | undefined;
  leave(): void;
}

/** A node that was let in. */
export interface Admission {
  /** What the group asks its nodes to report of their load. */
  readonly loadReports: Group["loadReports"];
  /** Which of the group's clients are told TTLs. */
  readonly ttl: TtlPolicy;
  /** Undefined: what the server's options say. */
  readonly resourceErrors: ResourceErrorPolicy | undefined;
  /**
   * Call this to be told changes; `beats` hears when heartbeats are due, and is left out for a client that is not told
   * TTLs.
   */
  join(client: GroupClient, beats?: PulseListener): Membership;
}

/**
 * Connects layers and streams: finds the group of a node, admits it within the limits, and tells the streams of a
 * group about each new snapshot. Groups with the same list of layers share one stack and one lineage of snapshots
 * (`shared-stacks.ts`); `rollouts/` decides which of their nodes get something else for a while.
 */
export interface Publication {
  /** Finds the group of a node. */
  admit(node: Node, kind?: MemberKind): Admission | Refusal;
  /**
   * Takes over the differences of layers and tells the streams concerned; `rollout` overrides the groups' own
   * settings.
   */
  publish(changes: readonly LayerChange[], rollout?: RolloutSettings | "off" | undefined): void;
  /** Of these types it is not known yet what the layer has, until a later call leaves them out. */
  awaits(layer: LayerName, types: ReadonlySet<TypeUrl>): void;
  /**
   * Tells nodes nothing until the hold ends, unless they were told something already. Otherwise a client that
   * reconnects to a starting server, while one of two sources is not there yet, would take missing resources for
   * removed. Returns a function that ends the hold.
   */
  hold(): () => void;
  /** A group's target now; undefined if there is no such group, or nothing is known yet. */
  snapshotOf(group: string): Snapshot | undefined;
  readonly groups: readonly GroupStats[];
  /** Whether nodes are told the configuration: one was applied, and no part of it is awaited. */
  readonly isOpen: boolean;
  /** Node ids with open streams. */
  readonly nodes: number;
}

/** A group that is configured or has streams, with its shared and its own parts. */
interface OpenGroup {
  readonly group: Group;
  readonly shared: SharedStack;
  readonly view: ViewedGroup;
  readonly open: { [W in MemberKind]: number };
}

export function createPublication(
  layers: Layers,
  groups: Groups,
  limits: Pick<ServerLimits, "streamsPerNode" | "pollsPerNode">,
  views: Views,
  clock?: Clock,
  onDemand?: OnDemand | undefined,
): Publication {
  const stacks = createSharedStacks(layers, clock, (stack) => (open() ? stack.snapshot() : undefined));
  const openGroups = new Map<string, OpenGroup>();
  const openOfNode = { stream: new Map<string, number>(), poll: new Map<string, number>() };
  const mostOfNode = { stream: limits.streamsPerNode, poll: limits.pollsPerNode };
  const awaited = new Map<LayerName, ReadonlySet<TypeUrl>>();
  let holds = 0;
  let opened = false;

  for (const group of groups.configured) openedGroup(group);

  function openedGroup(group: Group): OpenGroup {
    const known = openGroups.get(group.key);
    if (known !== undefined) return known;
    const shared = stacks.acquire(group.layers, onDemand?.layerOf(group));
    const view = views.open(
      group,
      () => (open() ? shared.stack.snapshot() : undefined),
      () => shared.pulse.update(),
    );
    shared.views.add(view);
    const made = { group, shared, view, open: { stream: 0, poll: 0 } };
    openGroups.set(group.key, made);
    return made;
  }
  function join(
    joined: OpenGroup,
    node: Node,
    kind: MemberKind,
    client: GroupClient,
    beats?: PulseListener,
  ): Membership {
    const { group, shared, open: openOfGroup } = joined;
    const { id } = node;
    const openOf = openOfNode[kind];
    const interest = onDemand?.join(group, node, { settled: (...args) => client.settled?.(...args) });
    shared.clients.add(client);
    const seat = joined.view.join(node, kind, client);
    const stopBeats = beats === undefined ? undefined : shared.pulse.join(beats);
    start(shared);
    openOfGroup[kind] += 1;
    openOf.set(id, (openOf.get(id) ?? 0) + 1);
    return {
      group: group.name,
      layers: group.layers,
      interest,
      newest: () => (open() ? shared.stack.snapshot() : undefined),
      snapshot() {
        const newest = open() ? shared.stack.snapshot() : undefined;
        return newest && seat.snapshot(newest);
      },
      line: shared.line,
      unknown: () => unknownIn(group),
      get isAwaited() {
        return seat.isAwaited === true;
      },
      progressed: () => seat.progressed(),
      rejected: (...about) => seat.rejected(...about),
      ends: () => seat.ends(),
      leave() {
        if (!shared.clients.delete(client)) return;
        seat.leave();
        interest?.close();
        stopBeats?.();
        openOfGroup[kind] -= 1;
        const left = (openOf.get(id) ?? 1) - 1;
        if (left === 0) openOf.delete(id);
        else openOf.set(id, left);
        // Groups that a function names come and go with their streams; otherwise nodes could make the server grow for
        // ever.
        if (openOfGroup.stream + openOfGroup.poll > 0 || groups.configured.includes(group)) return;
        openGroups.delete(group.key);
        shared.views.delete(joined.view);
        joined.view.close();
        stacks.release(shared);
      },
    };
  }
  /** The same set until it changes, if one layer has it: streams are told about each new one. */
  function unknownIn({ layers: names }: Group): UnknownTypes {
    if (awaited.size === 0) return undefined;
    const [first, ...more] = [...awaited].filter(([layer]) => names?.includes(layer) ?? true).map(([, types]) => types);
    return more.length === 0 ? first : new Set([...(first ?? []), ...more.flatMap((types) => [...types])]);
  }
  /** True from the moment that nodes may be told the configuration: no hold is left, and a layer exists. */
  function open(): boolean {
    if (!opened && holds === 0 && layers.names.length > 0) {
      opened = true;
      onDemand?.opened();
    }
    return opened;
  }
  function start({ line, stack }: SharedStack): void {
    const newest = open() ? stack.snapshot() : undefined;
    if (newest !== undefined) line.start(newest);
  }
  function tellAll(): void {
    for (const shared of stacks) {
      const { clients, pulse } = shared;
      start(shared);
      for (const each of clients) each.changed();
      pulse.update();
    }
  }

  return {
    admit(node, kind = "stream") {
      const group = groups.of(node);
      if (group === undefined) return { code: statusCode.permissionDenied, message: noGroup(node) };
      if (group.layers?.length === 0) return { code: statusCode.permissionDenied, message: noLayers(group, node) };
      const { id } = node;
      const count = openOfNode[kind].get(id) ?? 0;
      if (count >= mostOfNode[kind]) {
        const message = `node ${JSON.stringify(cut(id))} has ${count} ${kind}s open, and no node may have more`;
        return { code: statusCode.resourceExhausted, message };
      }
      const { loadReports, ttl, resourceErrors } = group;
      const joins: Admission["join"] = (client, beats) => join(openedGroup(group), node, kind, client, beats);
      return { loadReports, ttl, resourceErrors, join: joins };
    },
    publish(changes, rollout) {
      const wasOpen = opened;
      const wish = changes.every(({ layer }) => isBelow(layer)) ? "on-demand" : rollout;
      for (const { stack, line, clients, pulse, views } of stacks.touchedBy(changes)) {
        const before = stack.known;
        if (!stack.update(changes) || !wasOpen) continue;
        const after = stack.known;
        if (before !== undefined && after !== undefined) for (const view of views) view.changed(before, after, wish);
        let isPlain = after !== undefined;
        for (const view of views) isPlain &&= view.isPlain;
        if (after !== undefined) line.goOn(after, isPlain);
        for (const each of clients) each.changed(isPlain ? after : undefined);
        pulse.update();
      }
      if (!wasOpen && open()) tellAll();
      onDemand?.layersChanged(changes);
    },
    awaits(layer, types) {
      if (types.size === 0) awaited.delete(layer);
      else awaited.set(layer, types);
      for (const { names, clients } of stacks) {
        if (names?.includes(layer) ?? true) for (const each of clients) each.changed();
      }
    },
    hold() {
      holds += 1;
      let held = true;
      return () => {
        if (!held) return;
        held = false;
        holds -= 1;
        if (!opened && open()) tellAll();
      };
    },
    snapshotOf(name) {
      if (!open()) return undefined;
      for (const { group, shared } of openGroups.values()) if (group.name === name) return shared.stack.snapshot();
      return undefined;
    },
    get groups() {
      return Array.from(openGroups.values(), ({ group, open }) => ({
        name: group.name,
        streams: open.stream,
        polls: open.poll,
      }));
    },
    get isOpen() {
      return open();
    },
    get nodes() {
      return openOfNode.stream.size;
    },
  };
}

/** Says what was compared, so that a reader of Envoy's log can fix the match or the node. */
function noGroup({ id, cluster, locality }: Node): string {
  const { region, zone, subZone } = locality;
  const place = [region, zone, subZone].filter((part) => part !== "").join("/");
  const shown = [`id ${JSON.stringify(cut(id))}`, `cluster ${JSON.stringify(cut(cluster))}`];
  if (place !== "") shown.push(`locality ${JSON.stringify(cut(place))}`);
  return `no group of this server matches the node: ${shown.join(", ")}`;
}

/**
 * Settings are checked at the start; a function may still return no layers, and the node would wait for ever without a
 * word.
 */
function noLayers({ name }: Group, { id }: Node): string {
  return `group ${JSON.stringify(cut(name))} of node ${JSON.stringify(cut(id))} has no layers to serve`;
}

/** A status message travels in a header: long names are cut. */
function cut(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}
