import type { ResourceType, TypeUrl } from "@xdskit/api";
import {
  type Node,
  type Rejection,
  type ResourceErrorPolicy,
  type Snapshot,
  type SnapshotLine,
  statusCode,
  type TtlPolicy,
  type UnknownTypes,
} from "@xdskit/protocol";
import type { Clock } from "./clock.js";
import type { Group, Groups } from "./groups.js";
import type { LayerChange, Layers } from "./layers.js";
import type { ServerLimits } from "./limits.js";
import { isBelow } from "./on-demand/below.js";
import type { Interest, OnDemand } from "./on-demand/on-demand.js";
import type { PulseListener } from "./pulse.js";
import { createSharedStacks, type SharedStack, type Subscriber } from "./shared-stacks.js";
import type { LayerName } from "./source.js";
import type { GroupStats } from "./stats.js";
import type { Refusal } from "./transport.js";
import type { RolloutSettings } from "./views/rollout-settings.js";
import type { ViewedGroup, Views } from "./views/views.js";

/** What a node is admitted with: a stream, or a request that is held until there is something new. They have limits of their own. */
export type Way = "stream" | "poll";

/** The membership of a stream, or of a poll, in the group of its node: which snapshot it is to have, and what it tells the group. */
export interface Membership {
  readonly group: string;
  /** The layers of the group; undefined is all that there are. */
  readonly layers: readonly LayerName[] | undefined;
  /** What the node is to have now: the newest snapshot, or, during a rollout or after a rejection, a view of it. Undefined while nothing is known yet (rule 7). */
  snapshot(): Snapshot | undefined;
  /** The line of the newest snapshots of the group's layers, along which streams that rest go. */
  readonly line: SnapshotLine;
  /** Types of which it is not known yet what there is. */
  unknown(): UnknownTypes;
  /** It is still to be decided what the node is to have. */
  readonly isAwaited: boolean;
  /** The newest snapshot of the group's layers: what the node is to have in the end. */
  newest(): Snapshot | undefined;
  /** The client may have come to use something else, since it acknowledged a response, or needed none. */
  progressed(): void;
  /** The stream ends; what its client has can be asked for the last time. */
  ends(): void;
  /** `isWhole`: the response held all that the client is to have. */
  rejected(type: ResourceType, rejection: Rejection, isWhole: boolean): void;
  /** What the stream asks for by name, of types that are supplied on demand; the subscriber hears what is decided. Undefined where nothing is. */
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
  /** Must be called for changes to be heard; `beats` hears when heartbeats are due, and is left out for a client that is not told TTLs. */
  join(subscriber: Subscriber, beats?: PulseListener): Membership;
}

/**
 * Between the layers and the streams: finds the group of a node, admits it within the limits, and tells the streams of a group when its snapshot becomes another. Groups with the same
 * list of layers share one stack of them and one line of snapshots (`shared-stacks.ts`); which of their nodes get something else for a while is decided by `views/`.
 */
export interface Publication {
  /** Finds the group of a node. */
  admit(node: Node, way?: Way): Admission | Refusal;
  /** Takes over what became different in the layers and tells the streams that it concerns; `rollout` goes before the groups' own settings. */
  publish(changes: readonly LayerChange[], rollout?: RolloutSettings | "off" | undefined): void;
  /** Of these types it is not known yet what the layer has, until a later call leaves them out. */
  awaits(layer: LayerName, types: ReadonlySet<TypeUrl>): void;
  /**
   * Has nodes told nothing until the hold ends, unless they were told something already. Without it a client that reconnects to a server that starts, while one of two sources is not
   * there yet, would take what is missing for removed. Returns what ends the hold.
   */
  hold(): () => void;
  /** What a group is to have now; undefined where there is no such group, or nothing is known yet. */
  snapshotOf(group: string): Snapshot | undefined;
  readonly groups: readonly GroupStats[];
  /** Whether nodes are told what there is: a configuration was applied, and nothing that belongs to it is awaited. */
  readonly isOpen: boolean;
  /** Node ids with open streams. */
  readonly nodes: number;
}

/** A group that is configured or has streams, with what it shares and what is its own. */
interface Member {
  readonly group: Group;
  readonly shared: SharedStack;
  readonly view: ViewedGroup;
  readonly open: { [W in Way]: number };
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
  const members = new Map<string, Member>();
  const openOfNode = { stream: new Map<string, number>(), poll: new Map<string, number>() };
  const mostOfNode = { stream: limits.streamsPerNode, poll: limits.pollsPerNode };
  const awaited = new Map<LayerName, ReadonlySet<TypeUrl>>();
  let holds = 0;
  let opened = false;

  for (const group of groups.configured) memberOf(group);

  function memberOf(group: Group): Member {
    const known = members.get(group.key);
    if (known !== undefined) return known;
    const shared = stacks.acquire(group.layers, onDemand?.layerOf(group));
    const view = views.open(
      group,
      () => (open() ? shared.stack.snapshot() : undefined),
      () => shared.pulse.update(),
    );
    shared.views.add(view);
    const made = { group, shared, view, open: { stream: 0, poll: 0 } };
    members.set(group.key, made);
    return made;
  }
  function join(member: Member, node: Node, way: Way, subscriber: Subscriber, beats?: PulseListener): Membership {
    const { group, shared, open: openOfGroup } = member;
    const { id } = node;
    const openOf = openOfNode[way];
    const interest = onDemand?.join(group, node, { settled: (...args) => subscriber.settled?.(...args) });
    shared.subscribers.add(subscriber);
    const seat = member.view.join(node, way, subscriber);
    const stopBeats = beats === undefined ? undefined : shared.pulse.join(beats);
    start(shared);
    openOfGroup[way] += 1;
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
      progressed: seat.progressed,
      rejected: seat.rejected,
      ends: seat.ends,
      leave() {
        if (!shared.subscribers.delete(subscriber)) return;
        seat.leave();
        interest?.close();
        stopBeats?.();
        openOfGroup[way] -= 1;
        const left = (openOf.get(id) ?? 1) - 1;
        if (left === 0) openOf.delete(id);
        else openOf.set(id, left);
        // Groups that a function names come and go with their streams, or any node could make the server grow for ever.
        if (openOfGroup.stream + openOfGroup.poll > 0 || groups.configured.includes(group)) return;
        members.delete(group.key);
        shared.views.delete(member.view);
        member.view.close();
        stacks.release(shared);
      },
    };
  }
  /** The very same set until it changes, where one layer says so: streams are told of each other one. */
  function unknownIn({ layers: names }: Group): UnknownTypes {
    if (awaited.size === 0) return undefined;
    const [first, ...more] = [...awaited].filter(([layer]) => names?.includes(layer) ?? true).map(([, types]) => types);
    return more.length === 0 ? first : new Set([...(first ?? []), ...more.flatMap((types) => [...types])]);
  }
  /** True, from then on, once nodes may be told what there is: no hold lasts, and some layer is there. */
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
      const { subscribers, pulse } = shared;
      start(shared);
      for (const each of subscribers) each.changed();
      pulse.update();
    }
  }

  return {
    admit(node, way = "stream") {
      const group = groups.of(node);
      if (group === undefined) return { code: statusCode.permissionDenied, message: noGroup(node) };
      if (group.layers?.length === 0) return { code: statusCode.permissionDenied, message: noLayers(group, node) };
      const { id } = node;
      const count = openOfNode[way].get(id) ?? 0;
      if (count >= mostOfNode[way]) {
        const message = `node ${JSON.stringify(cut(id))} has ${count} ${way}s open, and no node may have more`;
        return { code: statusCode.resourceExhausted, message };
      }
      const { loadReports, ttl, resourceErrors } = group;
      const joins: Admission["join"] = (subscriber, beats) => join(memberOf(group), node, way, subscriber, beats);
      return { loadReports, ttl, resourceErrors, join: joins };
    },
    publish(changes, rollout) {
      const wasOpen = opened;
      const wish = changes.every(({ layer }) => isBelow(layer)) ? "on-demand" : rollout;
      for (const { stack, line, subscribers, pulse, views } of stacks.touchedBy(changes)) {
        const before = stack.known;
        if (!stack.update(changes) || !wasOpen) continue;
        const after = stack.known;
        if (before !== undefined && after !== undefined) for (const view of views) view.changed(before, after, wish);
        let isPlain = after !== undefined;
        for (const view of views) isPlain &&= view.isPlain;
        if (after !== undefined) line.goOn(after, isPlain);
        for (const each of subscribers) each.changed(isPlain ? after : undefined);
        pulse.update();
      }
      if (!wasOpen && open()) tellAll();
      onDemand?.layersChanged(changes);
    },
    awaits(layer, types) {
      if (types.size === 0) awaited.delete(layer);
      else awaited.set(layer, types);
      for (const { names, subscribers } of stacks) {
        if (names?.includes(layer) ?? true) for (const each of subscribers) each.changed();
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
      for (const { group, shared } of members.values()) if (group.name === name) return shared.stack.snapshot();
      return undefined;
    },
    get groups() {
      return Array.from(members.values(), ({ group, open }) => ({
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

/** Says what was looked at, so that whoever reads it in Envoy's log can mend the match or the node. */
function noGroup({ id, cluster, locality }: Node): string {
  const { region, zone, subZone } = locality;
  const place = [region, zone, subZone].filter((part) => part !== "").join("/");
  const shown = [`id ${JSON.stringify(cut(id))}`, `cluster ${JSON.stringify(cut(cluster))}`];
  if (place !== "") shown.push(`locality ${JSON.stringify(cut(place))}`);
  return `no group of this server matches the node: ${shown.join(", ")}`;
}

/** Settings are checked when they are made; a function may still say so, and the node would wait for ever without a word. */
function noLayers({ name }: Group, { id }: Node): string {
  return `group ${JSON.stringify(cut(name))} of node ${JSON.stringify(cut(id))} has no layers to serve`;
}

/** A status message travels in a header: long names are cut. */
function cut(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}
