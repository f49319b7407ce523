import { getOrInsert, maxFindings, maxKept, type ResourceType } from "@xdskit/api";
import { ResourceSets, type TypeStatus } from "@xdskit/protocol";
import type { Member } from "../members/member.js";
import type { QuarantineEntry } from "./quarantine.js";

/** How often a group looks at whether what clients rejected must stay in quarantine, in milliseconds. */
export const reviewMs = 10_000;

/** How long a node that rejected a content counts after its last stream, in milliseconds. */
export const forgottenMs = 10 * 60_000;

/**
 * Counts the nodes that reject a content in quarantine and those that use it. One client that rejects everything must
 * not keep later ones from the newest for ever: a content stays in quarantine only while at least as many nodes reject
 * it as use it, and while a node that rejected it is there, or was until some minutes ago.
 */
export class Verdicts {
  /** By content, the nodes that rejected it, and when each was last there. */
  readonly #rejecters = new Map<QuarantineEntry, Map<string, number>>();

  /** A node rejects a content that is in quarantine; `now` in milliseconds. */
  rejects(entry: QuarantineEntry, node: string, now: number): void {
    const nodes = getOrInsert(this.#rejecters, entry, () => new Map());
    if (nodes.size < maxFindings || nodes.has(node)) nodes.set(node, now);
  }

  /** Returns the entries whose quarantine ends. Forgets all entries that are not in `entries`. */
  over(entries: Iterable<QuarantineEntry>, members: Iterable<Member>, now: number): readonly QuarantineEntry[] {
    const rejected = [...entries].filter(({ cause }) => cause === "rejected");
    const known = new Set(rejected);
    for (const entry of this.#rejecters.keys()) if (!known.has(entry)) this.#rejecters.delete(entry);
    const all = [...members];
    this.#forget(new Set(all.map(({ node }) => node.id)), now);
    const users = this.#users(rejected, all);
    return rejected.filter((entry) => {
      const rejecters = this.#rejecters.get(entry)?.size ?? 0;
      return rejecters === 0 || (users.get(entry)?.size ?? 0) > rejecters;
    });
  }

  #forget(present: ReadonlySet<string>, now: number): void {
    for (const nodes of this.#rejecters.values()) {
      for (const [node, seen] of nodes) {
        if (present.has(node)) nodes.set(node, now);
        else if (now - seen >= forgottenMs) nodes.delete(node);
      }
    }
  }

  /** The nodes that use each content, as far as they are needed to outnumber those that reject it. */
  #users(entries: readonly QuarantineEntry[], members: readonly Member[]): Map<QuarantineEntry, Set<string>> {
    const users = new Map(entries.map((entry) => [entry, new Set<string>()]));
    const open = new Set(entries);
    // Of a large group some are asked. Mostly two are enough.
    for (const { node, client } of members.slice(0, maxKept)) {
      if (open.size === 0) break;
      const statuses = new Map<ResourceType, TypeStatus>();
      for (const status of client.status?.() ?? []) statuses.set(status.type, status);
      for (const entry of open) {
        const rejecters = this.#rejecters.get(entry);
        if (rejecters?.has(node.id) || !usesContent(statuses.get(entry.type), entry)) continue;
        const found = users.get(entry);
        found?.add(node.id);
        if ((found?.size ?? 0) > (rejecters?.size ?? 0)) open.delete(entry);
      }
    }
    return users;
  }
}

function usesContent(status: TypeStatus | undefined, { key, version }: QuarantineEntry): boolean {
  if (status?.acknowledged === undefined) return false;
  const { set, names } = status.acknowledged;
  if (!status.subscription.wildcard && !names.has(key)) return false;
  return ResourceSets.get(set, key)?.version === version;
}
