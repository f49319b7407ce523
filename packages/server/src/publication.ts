import { type Node, type Snapshot, type StatusCode, statusCode } from "@xdskit/protocol";
import type { Group } from "./groups.js";
import { createLayerStack, type LayerStack } from "./layer-stack.js";
import type { LayerChange, Layers } from "./layers.js";
import type { ServerLimits } from "./limits.js";
import type { GroupStats } from "./stats.js";

/** A status that a stream is refused with. */
export interface Refusal {
  readonly code: StatusCode;
  readonly message: string;
}

/** Whoever is to hear that its group has a new snapshot. */
export interface Subscriber {
  changed(): void;
}

/** A stream's place in the group of its node. */
export interface Membership {
  readonly group: string;
  /** What the node is to have now; undefined while nothing is known yet (rule 7). */
  snapshot(): Snapshot | undefined;
  leave(): void;
}

/** Which node is to have what, and who is to hear of changes. */
export interface Publication {
  /** Finds the group of a node. `join` must be called on what it returns for changes to be heard. */
  admit(node: Node): { join(subscriber: Subscriber): Membership } | Refusal;
  /** Takes over what became different in the layers and tells those that it concerns. */
  publish(changes: readonly LayerChange[]): void;
  /**
   * While a hold lasts and nothing was published yet, nodes are told nothing: a client that reconnects to a server of which one of two
   * sources has not started yet would take what is missing for removed. Returns what ends the hold.
   */
  hold(): () => void;
  /** What a group is to have now; undefined where there is no such group, or nothing is known yet. */
  snapshotOf(group: string): Snapshot | undefined;
  readonly groups: readonly GroupStats[];
  /** Node ids with open streams. */
  readonly nodes: number;
}

export function createPublication(
  layers: Layers,
  groups: readonly Group[],
  limits: Pick<ServerLimits, "streamsPerNode">,
): Publication {
  const stacks = new Map<string, { readonly stack: LayerStack; readonly subscribers: Set<Subscriber> }>();
  const streamsOfNode = new Map<string, number>();
  const members = new Map<
    string,
    { readonly group: Group; readonly at: ReturnType<typeof stackOf>; streams: number }
  >();
  let holds = 0;
  let opened = false;

  function stackOf({ layers: names }: Group) {
    const key = JSON.stringify(names ?? null);
    const known = stacks.get(key);
    if (known !== undefined) return known;
    const made = { stack: createLayerStack(layers, names), subscribers: new Set<Subscriber>() };
    stacks.set(key, made);
    return made;
  }
  for (const group of groups) members.set(group.name, { group, at: stackOf(group), streams: 0 });

  function tellAll(): void {
    for (const { subscribers } of stacks.values()) for (const each of subscribers) each.changed();
  }
  /** True once nodes may be told what there is. */
  function open(): boolean {
    opened ||= holds === 0 && layers.names.length > 0;
    return opened;
  }

  return {
    admit(node) {
      const group = groups.find((each) => each.matches(node));
      const member = group === undefined ? undefined : members.get(group.name);
      if (member === undefined) return { code: statusCode.permissionDenied, message: noGroup(node) };
      const streams = streamsOfNode.get(node.id) ?? 0;
      if (streams >= limits.streamsPerNode) {
        const message = `node ${JSON.stringify(node.id)} has ${streams} streams open, and no node may have more`;
        return { code: statusCode.resourceExhausted, message };
      }
      return {
        join(subscriber) {
          member.at.subscribers.add(subscriber);
          member.streams += 1;
          streamsOfNode.set(node.id, (streamsOfNode.get(node.id) ?? 0) + 1);
          return {
            group: member.group.name,
            snapshot: () => (open() ? member.at.stack.snapshot() : undefined),
            leave() {
              if (!member.at.subscribers.delete(subscriber)) return;
              member.streams -= 1;
              const left = (streamsOfNode.get(node.id) ?? 1) - 1;
              if (left === 0) streamsOfNode.delete(node.id);
              else streamsOfNode.set(node.id, left);
            },
          };
        },
      };
    },
    publish(changes) {
      const wasOpen = opened;
      for (const { stack, subscribers } of stacks.values()) {
        if (!stack.update(changes)) continue;
        if (wasOpen) for (const each of subscribers) each.changed();
      }
      if (!wasOpen && open()) tellAll();
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
    snapshotOf: (name) => (open() ? members.get(name)?.at.stack.snapshot() : undefined),
    get groups() {
      return Array.from(members.values(), ({ group, streams }) => ({ name: group.name, streams }));
    },
    get nodes() {
      return streamsOfNode.size;
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

/** A status message travels in a header: long names are cut. */
function cut(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}
