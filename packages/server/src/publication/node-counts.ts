import { type Node, statusCode } from "@xdskit/protocol";
import { Counts } from "../basics/counts.js";
import type { MemberKind } from "../contracts/parts/target-policy.js";
import type { Refusal } from "../contracts/transport.js";
import type { Caller } from "../identity/caller.js";
import type { ServerLimits } from "../settings/limits.js";

/** Who is a node, and how. */
export interface NodeOf {
  readonly caller: Pick<Caller, "identity">;
  readonly node: Pick<Node, "id">;
  readonly kind: MemberKind;
}

/** Polls of one node id: an Envoy polls for each load assignment and each route configuration on its own. */
const mostPolls = 10_000;

/**
 * Counts the streams and polls of each node. The limit is of an id of one identity: whoever may claim an id must not
 * use up what others have of it.
 */
export class NodeCounts {
  readonly #limits: Pick<ServerLimits, "streamsPerNode">;
  readonly #ofId = { stream: new Counts<string>(), poll: new Counts<string>() };
  readonly #ofIdentity = { stream: new Counts<string>(), poll: new Counts<string>() };

  constructor(limits: Pick<ServerLimits, "streamsPerNode">) {
    this.#limits = limits;
  }

  /** Ids with open streams. */
  get nodes(): number {
    return this.#ofId.stream.size;
  }

  /** Why the node may have no more, if so. */
  refusal({ caller, node, kind }: NodeOf): Refusal | undefined {
    // Streams, and polls that are parked until something is new, have separate limits.
    const most = kind === "stream" ? this.#limits.streamsPerNode : mostPolls;
    const { identity } = caller;
    const count =
      identity === undefined ? this.#ofId[kind].of(node.id) : this.#ofIdentity[kind].of(ownId(identity, node));
    if (count < most) return undefined;
    const limit = kind === "stream" ? " (limits.streams_per_node)" : "";
    const message = `node ${quoted(node.id)} has ${count} ${kind}s open, and no node may have more${limit}`;
    return { code: statusCode.resourceExhausted, message };
  }

  add({ caller: { identity }, node, kind }: NodeOf, by: 1 | -1): void {
    this.#ofId[kind].add(node.id, by);
    if (identity !== undefined) this.#ofIdentity[kind].add(ownId(identity, node), by);
  }
}

function ownId(identity: string, { id }: Pick<Node, "id">): string {
  return JSON.stringify([identity, id]);
}

/** A status message travels in a header: long names are cut. */
export function quoted(text: string): string {
  return JSON.stringify(text.length <= 200 ? text : `${text.slice(0, 200)}…`);
}
