import { createHash } from "node:crypto";
import type { TypeUrl, Version } from "@xdskit/api";
import { dropOldest } from "../basics/maps.js";

/**
 * Remembers which node rejected which version, so that a rejection repeated on every stream and reconnect is reported
 * once.
 */
export interface NodeRejections {
  /** True the first time for a node, type and version. */
  first(node: string, type: TypeUrl, version: Version): boolean;
  /** The node has accepted another version: if the rejected one comes back, it is reported again. */
  accepted(node: string, type: TypeUrl, version: Version): void;
  /** The number of those that are remembered. While there are none, `accepted` need not be called. */
  readonly size: number;
}

/** The number of nodes and types that are remembered. A forgotten one is reported once more, which does no harm. */
const remembered = 20_000;

export function createRejections(limit = remembered): NodeRejections {
  // A node cannot go back to an older rejected version without a newer one in between, so the last one per node and
  // type is enough.
  const last = new Map<string, Version>();
  return {
    first(node: string, type: TypeUrl, version: Version): boolean {
      const key = keyOf(node, type);
      const known = last.get(key);
      // Deleted and set again, so that the oldest is the first in the map.
      last.delete(key);
      last.set(key, version);
      dropOldest(last, limit);
      return known !== version;
    },
    accepted(node: string, type: TypeUrl, version: Version): void {
      const key = keyOf(node, type);
      const known = last.get(key);
      if (known !== undefined && known !== version) last.delete(key);
    },
    get size() {
      return last.size;
    },
  };
}

/** A client chooses both, of any length: long ones are remembered by their hash, which bounds the memory in bytes. */
function keyOf(node: string, type: TypeUrl): string {
  const key = `${type} ${node}`;
  return key.length <= 200 ? key : createHash("sha256").update(key).digest("base64");
}
