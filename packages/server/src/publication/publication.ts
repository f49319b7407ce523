import type { Clock, TypeUrl } from "@xdskit/api";
import {
  clientKindOf,
  type Node,
  type ResourceErrorPolicy,
  type Snapshot,
  statusCode,
  type TtlPolicy,
} from "@xdskit/protocol";
import { isBelow, layerBelow } from "../configuration/below.js";
import type { Groups } from "../configuration/groups.js";
import type { Layers } from "../configuration/layers.js";
import type { Group } from "../contracts/group.js";
import type { GroupPreview } from "../contracts/group-preview.js";
import type { LayerChange } from "../contracts/layer-change.js";
import type { JudgedStack } from "../contracts/parts/judge.js";
import type { MakeIndex, SnapshotIndex } from "../contracts/parts/snapshot-index.js";
import type { Supply } from "../contracts/parts/supply.js";
import type { GroupPolicy, MemberKind, TargetPolicy } from "../contracts/parts/target-policy.js";
import type { GroupStats } from "../contracts/stats.js";
import type { Refusal } from "../contracts/transport.js";
import type { Caller } from "../identity/caller.js";
import type { LayerName } from "../settings/group-settings.js";
import type { ServerLimits } from "../settings/limits.js";
import type { RolloutSettings } from "../settings/rollout-settings.js";
import { denied } from "./denied.js";
import { rememberEarlier } from "./earlier-snapshots.js";
import { judgedNow, judgedOver } from "./judged-stacks.js";
import { Membership } from "./membership.js";
import { NodeCounts, quoted } from "./node-counts.js";
import type { PulseListener } from "./pulse.js";
import { keptMs } from "./recent-snapshots.js";
import { type SharedStack, SharedStacks } from "./shared-stacks.js";
import type { GroupClient } from "./stack-part.js";

/** What parts add to it. */
interface PublicationParts {
  readonly policy: TargetPolicy;
  readonly supply: Supply | undefined;
}

/** A node that was let in. */
export interface Admission {
  /** The load that the group asks its nodes to report. */
  readonly loadReports: Group["loadReports"];
  /** Decides which of the group's clients are told TTLs. */
  readonly ttl: TtlPolicy;
  /** Undefined lets the server's options decide. */
  readonly resourceErrors: ResourceErrorPolicy | undefined;
  /**
   * Call this to be told changes; `beats` hears when heartbeats are due, and is left out for a client that is not told
   * TTLs.
   */
  join(client: GroupClient, beats?: PulseListener): Membership;
}

/** Who joins a group. */
interface JoiningNode {
  readonly caller: Caller;
  readonly node: Node;
  readonly kind: MemberKind;
}

/** A group that is configured or has streams, with its shared and its own parts. */
interface GroupInUse {
  /** Replaced by one of the same name and layers when its settings change. */
  group: Group;
  readonly shared: SharedStack;
  readonly policy: GroupPolicy;
  readonly members: Record<MemberKind, number>;
}

/**
 * Connects layers and streams: finds the group of a node, admits it within the limits, and tells the streams of a
 * group about each new snapshot. Groups with the same list of layers share one stack and one lineage of snapshots
 * (`shared-stacks.ts`); the `TargetPolicy` decides which of their nodes get something else for a while.
 */
export class Publication<Parts extends PublicationParts = PublicationParts> {
  readonly parts: Parts;
  readonly #layers: Layers;
  #groups: Groups;
  readonly #stacks: SharedStacks;
  readonly #clock: Clock;
  readonly #inUse = new Map<string, GroupInUse>();
  readonly #ofNode: NodeCounts;
  #holds = 0;
  #hasBegun = false;

  /** `plug`: makes the parts with what they may call of this, once all are made. */
  constructor(
    layers: Layers,
    limits: Pick<ServerLimits, "streamsPerNode">,
    clock: Clock,
    drainMs: () => number,
    groups: Groups,
    plug: (publication: Publication) => Parts,
  ) {
    this.#layers = layers;
    this.#ofNode = new NodeCounts(limits);
    this.#clock = clock;
    this.#stacks = new SharedStacks(layers, clock, () => this.hasBegun, drainMs);
    this.#groups = groups;
    this.parts = plug(this);
    for (const group of groups.configured) this.#groupInUse(group);
  }

  /** Node ids with open streams. */
  get nodes(): number {
    return this.#ofNode.nodes;
  }

  /** By name: a group that got other layers is listed twice until the last poll has left. */
  get groups(): readonly GroupStats[] {
    return groupStats(this.#inUse.values());
  }

  /** Whether nodes are told the configuration. They are, once one was applied and no part of it is awaited. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** A group's target now, then what clients may be told of it. None: no such group, or nothing is known yet. */
  snapshotsOf(name: string): Iterable<Snapshot> {
    return this.#named(name)?.shared.told() ?? [];
  }

  /** The index of a group's target. Undefined if there is no such group, or no configuration is known yet. */
  indexOf<Index extends SnapshotIndex>(name: string, make: MakeIndex<Index>): Index | undefined {
    const shared = this.#named(name)?.shared;
    return shared?.newest() === undefined ? undefined : shared.index(make);
  }

  #named(name: string): GroupInUse | undefined {
    const configured = this.#groups.configured.find((group) => group.name === name);
    if (configured !== undefined) return this.#inUse.get(configured.key);
    for (const opened of this.#inUse.values()) if (opened.group.name === name) return opened;
    return undefined;
  }

  /** The stacks that a planned change touches, for judges. None while nodes are told nothing. */
  judged(changes: readonly LayerChange[]): readonly JudgedStack[] {
    return this.hasBegun ? judgedNow(this.#stacks, (shared) => this.#groupsWith(shared), changes) : [];
  }

  /** The same as if these were the server's layers. Costs their content. */
  judgedOver(changes: readonly LayerChange[], over: Parameters<typeof judgedOver>[3]): readonly JudgedStack[] {
    return judgedOver(this.#stacks, (shared) => this.#groupsWith(shared), changes, over);
  }

  #groupsWith(shared: SharedStack): readonly string[] {
    return [...this.#inUse.values()].flatMap((open) => (open.shared === shared ? open.group.name : []));
  }

  /** Finds the group of a node. */
  admit(caller: Caller, node: Node, kind: MemberKind = "stream"): Admission | Refusal {
    const notIts = denied(caller, node, this.#groups);
    if (notIts !== undefined) return notIts;
    const full = this.#ofNode.refusal({ caller, node, kind });
    const admission = this.#admission(caller, node, kind);
    return "code" in admission ? admission : (full ?? admission);
  }

  /** The same for an open stream after the groups have changed; undefined if it stays in its group. */
  readmit(caller: Caller, node: Node, membership: Membership): Admission | Refusal | undefined {
    const group = this.#groups.of(node, caller.groups);
    if (group?.key === membership.key) return undefined;
    return denied(caller, node, this.#groups) ?? this.#admission(caller, node, "stream");
  }

  #admission(caller: Caller, node: Node, kind: MemberKind): Admission | Refusal {
    const group = this.#groups.of(node, caller.groups);
    if (group === undefined) return { code: statusCode.permissionDenied, message: noGroup(node) };
    if (group.layers?.length === 0) return { code: statusCode.permissionDenied, message: noLayers(group, node) };
    const { loadReports, ttl, resourceErrors } = group;
    const join: Admission["join"] = (...who) => this.#join(this.#groupInUse(group), { caller, node, kind }, ...who);
    return { loadReports, ttl, resourceErrors, join };
  }

  /** Replaces the groups. Open streams must be readmitted afterwards. */
  regroup(groups: Groups): void {
    this.#groups = groups;
    for (const group of groups.configured) {
      const opened = this.#groupInUse(group);
      opened.group = group;
      opened.policy.use?.(group);
    }
    for (const opened of [...this.#inUse.values()]) this.#closeIfLeft(opened);
  }

  /**
   * Takes over the differences of layers and tells the streams concerned; `rollout` overrides the groups' own settings.
   * `isLater`: a source has started with something else.
   */
  publish(changes: readonly LayerChange[], rollout?: RolloutSettings | "off" | undefined, isLater = false): void {
    const wish = changes.every(({ layer }) => isBelow(layer)) ? "on-demand" : rollout;
    // In whole milliseconds, as streams see the time: none of them acknowledges before.
    const at = Math.floor(this.#clock.now());
    for (const shared of this.#stacks.touchedBy(changes)) {
      if (this.#hasBegun) shared.publish(changes, wish, at);
      else shared.publishEarly(changes, wish, isLater);
    }
    this.#tellOnce();
    this.parts.supply?.layersChanged(changes);
  }

  /** The effect of these differences of layers on each group. Changes nothing, and tells nobody. */
  preview(changes: readonly LayerChange[]): readonly GroupPreview[] {
    const touched = new Map<SharedStack, Omit<GroupPreview, "group">>();
    for (const shared of this.#stacks.touchedBy(changes)) {
      const { before, after } = shared.stack.preview(changes);
      if (after !== before) touched.set(shared, { before, after });
    }
    return [...this.#inUse.values()].flatMap(({ group, shared, policy }) => {
      const preview = touched.get(shared);
      if (preview === undefined) return [];
      return [{ group: group.name, ...preview, rollout: policy.planned?.(preview.before, preview.after) }];
    });
  }

  /** The layer's content of these types is not known yet, until a later call leaves them out. */
  awaits(layer: LayerName, types: ReadonlySet<TypeUrl>): void {
    if (types.size === 0) this.#stacks.awaited.delete(layer);
    else this.#stacks.awaited.set(layer, types);
    for (const shared of this.#stacks) if (shared.has(layer)) shared.tell();
  }

  /** How far back clients may still use what a change replaced, in milliseconds. */
  get rememberedMs(): number {
    return keptMs(this.#stacks.drainMs());
  }

  /** Begins to record the snapshots that clients may have from before a restart (`rememberEarlier`). */
  rememberEarlier(): () => void {
    return rememberEarlier(this.#stacks, this.#clock, this.rememberedMs);
  }

  /**
   * Tells nodes nothing until the hold ends, unless they were told something already. Otherwise a client that
   * reconnects to a starting server, while one of two sources is not there yet, would take missing resources for
   * removed. Returns a function that ends the hold.
   */
  hold(): () => void {
    this.#holds += 1;
    let isOn = true;
    return () => {
      if (!isOn) return;
      isOn = false;
      this.#holds -= 1;
      this.#tellOnce();
    };
  }

  /** Tells all streams the configuration as soon as they may be told. */
  #tellOnce(): void {
    if (this.#hasBegun || this.#holds > 0 || this.#layers.names.length === 0) return;
    this.#hasBegun = true;
    this.parts.supply?.opened();
    this.parts.policy.opened?.();
    for (const shared of this.#stacks) {
      shared.start();
      shared.tell();
      shared.pulse.update();
    }
  }

  #groupInUse(group: Group): GroupInUse {
    const known = this.#inUse.get(group.key);
    if (known !== undefined) return known;
    const shared = this.#stacks.acquire(group.layers, this.parts.supply && layerBelow(group.key));
    const policy = this.parts.policy.open({
      settings: group,
      newest: () => shared.newest(),
      targetsChanged: () => shared.pulse.update(),
    });
    shared.policies.add(policy);
    const opened: GroupInUse = { group, shared, policy, members: { stream: 0, poll: 0 } };
    this.#inUse.set(group.key, opened);
    return opened;
  }

  #join(
    opened: GroupInUse,
    { caller, node, kind }: JoiningNode,
    client: GroupClient,
    beats?: PulseListener,
  ): Membership {
    const { group, shared } = opened;
    const interest = this.parts.supply?.join(group, node, { nameDecided: (...args) => client.nameDecided?.(...args) });
    const part = shared.part(caller.getsSecrets, clientKindOf(node) === "envoy");
    part.clients.add(client);
    const seat = opened.policy.join(node, kind, client);
    const stopBeats = beats && shared.pulse.join(beats);
    shared.start();
    this.#count(opened, { caller, node, kind }, 1);
    return new Membership({ group, stack: shared, part, seat, interest }, () => {
      if (!part.clients.delete(client)) return;
      seat.leave?.();
      interest?.close();
      stopBeats?.();
      this.#count(opened, { caller, node, kind }, -1);
      this.#closeIfLeft(opened);
    });
  }

  #count({ members }: GroupInUse, who: JoiningNode, by: 1 | -1): void {
    members[who.kind] += by;
    this.#ofNode.add(who, by);
  }

  /** Groups that a function names come and go with their streams, or nodes could make the server grow for ever. */
  #closeIfLeft({ group, shared, policy, members }: GroupInUse): void {
    if (members.stream + members.poll > 0 || this.#groups.configured.includes(group)) return;
    this.#inUse.delete(group.key);
    shared.policies.delete(policy);
    policy.close?.();
    this.#stacks.release(shared);
  }
}

function groupStats(all: Iterable<GroupInUse>): readonly GroupStats[] {
  const groups = new Map<string, GroupStats>();
  for (const { group, members } of all) {
    const { streams = 0, polls = 0 } = groups.get(group.name) ?? {};
    groups.set(group.name, { name: group.name, streams: streams + members.stream, polls: polls + members.poll });
  }
  return [...groups.values()];
}

/** Names the compared values, so that a reader of Envoy's log can fix the match or the node. */
function noGroup({ id, cluster, locality }: Node): string {
  const { region, zone, subZone } = locality;
  const place = [region, zone, subZone].filter((part) => part !== "").join("/");
  const shown = [`id ${quoted(id)}`, `cluster ${quoted(cluster)}`];
  if (place !== "") shown.push(`locality ${quoted(place)}`);
  return `no group of this server matches the node: ${shown.join(", ")}`;
}

/**
 * Settings are checked at the start; a function may still return no layers, and the node would wait for ever without an
 * error.
 */
function noLayers({ name }: Group, { id }: Node): string {
  return `group ${quoted(name)} of node ${quoted(id)} has no layers to serve`;
}
