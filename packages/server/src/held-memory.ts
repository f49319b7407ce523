import { isDeepStrictEqual } from "node:util";
import { getHeapStatistics } from "node:v8";
import { type HeldItem, type HeldMemory, NameSet, type Node } from "@xdskit/protocol";
import type { ServerLimits } from "./limits.js";

/** Bytes that a name takes beside its characters, and each of those: measured with streams of both variants, and not below what they take. */
const ofName = 64;
const ofCharacter = 2;
/** It never takes more than this part of the heap, whatever the limits say. */
const partOfHeap = 1 / 4;

/**
 * Counts the memory for what clients say and streams keep: names, nodes, and versions that they claim to have. What is the same object counts once for each connection and once in all:
 * lists of the same names are one, and so is the node that the streams of a connection repeat.
 */
export function createHeldMemory(
  limits: Pick<ServerLimits, "heldBytes" | "heldBytesPerConnection">,
  heapBytes = getHeapStatistics().heap_size_limit,
): HeldMemory {
  const inAll = Math.floor(Math.min(limits.heldBytes, heapBytes * partOfHeap));
  const ofConnection = Math.floor(Math.min(limits.heldBytesPerConnection, inAll / 2));
  const all = new Uses();
  const connections = new Map<string, Uses>();

  return {
    change(connection, before, after) {
      const own = connections.get(connection) ?? new Uses();
      const { bytes } = own;
      // First what comes, so that what is in both is not forgotten meanwhile.
      if (after !== undefined && own.add(after)) all.add(after);
      if (before !== undefined && own.remove(before)) all.remove(before);
      if (own.isEmpty) connections.delete(connection);
      else connections.set(connection, own);
      if (own.bytes <= bytes) return undefined;
      if (own.bytes > ofConnection) return tooMuch("one connection", ofConnection, "_per_connection");
      if (all.bytes > inAll) return tooMuch("all clients", inAll, "");
      return undefined;
    },
    sameNode: (connection, node) => connections.get(connection)?.sameNode(node) ?? node,
  };
}

function tooMuch(who: string, most: number, setting: string): string {
  return `the names, nodes and versions of ${who} may take at most ${most} bytes of memory (limits.held_bytes${setting})`;
}

/** What is held, each as often as it is used. */
class Uses {
  readonly #uses = new Map<HeldItem, { count: number; readonly bytes: number }>();
  /** By id, the node of which others may be a repetition. */
  readonly #nodes = new Map<string, Node>();
  bytes = 0;

  get isEmpty(): boolean {
    return this.#uses.size === 0;
  }

  /** True where it was not here. */
  add(held: HeldItem): boolean {
    if (held instanceof NameSet && held.size === 0) return false;
    const use = this.#uses.get(held);
    if (use !== undefined) {
      use.count += 1;
      return false;
    }
    const bytes = bytesOf(held);
    this.#uses.set(held, { count: 1, bytes });
    this.bytes += bytes;
    if (isNode(held) && !this.#nodes.has(held.id)) this.#nodes.set(held.id, held);
    return true;
  }

  /** True where it is not here any more. */
  remove(held: HeldItem): boolean {
    const use = this.#uses.get(held);
    if (use === undefined) return false;
    use.count -= 1;
    if (use.count > 0) return false;
    this.#uses.delete(held);
    this.bytes -= use.bytes;
    if (isNode(held) && this.#nodes.get(held.id) === held) this.#nodes.delete(held.id);
    return true;
  }

  sameNode(node: Node): Node {
    const known = this.#nodes.get(node.id);
    return known !== undefined && isDeepStrictEqual(known, node) ? known : node;
  }
}

function isNode(held: HeldItem): held is Node {
  return "metadata" in held;
}

function bytesOf(held: HeldItem): number {
  if (held instanceof NameSet) return ofName * held.size + ofCharacter * held.characters;
  return isNode(held) ? bytesOfJson(held) : held.bytes;
}

/** About what V8 takes for a value of JSON, and not below that. */
function bytesOfJson(value: unknown): number {
  let bytes = 0;
  const open = [value];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (typeof one === "string") bytes += 24 + ofCharacter * one.length;
    else if (typeof one !== "object" || one === null) bytes += 16;
    else if (Array.isArray(one)) {
      bytes += 32 + 8 * one.length;
      for (const each of one) open.push(each);
    } else {
      bytes += 64;
      for (const [key, each] of Object.entries(one)) {
        bytes += 56 + ofCharacter * key.length;
        open.push(each);
      }
    }
  }
  return bytes;
}
