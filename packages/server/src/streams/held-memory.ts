import { isDeepStrictEqual } from "node:util";
import { getHeapStatistics } from "node:v8";
import { type HeldItem, type HeldMemory, NameSet, type Node } from "@xdskit/protocol";
import type { ServerLimits } from "../settings/limits.js";

/** Bytes of a name beside its characters, and of each character: measured with streams of both variants, rounded up. */
const ofName = 64;
const ofCharacter = 2;
/** It never takes more than this part of the heap, whatever the limits say. */
const partOfHeap = 1 / 4;

/** The memory for what clients say and streams keep, over all connections. */
export interface HeldMemories {
  /** For one stream of a connection, until it says that it is gone. */
  of(connection: string): StreamMemory;
}

/** Counts what a stream keeps, together with the others of its connection. */
export interface StreamMemory extends HeldMemory {
  /** The stream is gone, and took back all that it kept. */
  leave(): void;
}

/**
 * Counts the memory for what clients say and streams keep: names, nodes, and versions that they claim to have. A
 * shared object counts once for each connection and once in all: equal lists of names are one object, as is a node
 * that the streams of a connection repeat.
 */
export function createHeldMemory(
  limits: Pick<ServerLimits, "heldBytes" | "heldBytesPerConnection">,
  heapBytes = getHeapStatistics().heap_size_limit,
): HeldMemories {
  const inAll = Math.floor(Math.min(limits.heldBytes, heapBytes * partOfHeap));
  const ofConnection = Math.floor(Math.min(limits.heldBytesPerConnection, inAll / 2));
  const all = new HeldInAll(inAll, ofConnection);
  const connections = new Map<string, HeldByConnection>();
  return {
    of(connection) {
      let held = connections.get(connection);
      if (held === undefined) {
        held = new HeldByConnection(all, () => connections.delete(connection));
        connections.set(connection, held);
      }
      held.streams += 1;
      return held;
    },
  };
}

/** The objects of all connections, each with its bytes and the number of connections that hold it. */
class HeldInAll {
  readonly #items = new Map<HeldItem, { connections: number; readonly bytes: number }>();
  readonly most: number;
  readonly mostOfConnection: number;
  bytes = 0;

  constructor(most: number, mostOfConnection: number) {
    this.most = most;
    this.mostOfConnection = mostOfConnection;
  }

  /** One connection more holds it; returns its bytes. */
  add(item: HeldItem): number {
    const known = this.#items.get(item);
    if (known !== undefined) {
      known.connections += 1;
      return known.bytes;
    }
    const bytes = bytesOf(item);
    this.#items.set(item, { connections: 1, bytes });
    this.bytes += bytes;
    return bytes;
  }

  /** One connection less holds it; returns its bytes. */
  remove(item: HeldItem): number {
    const known = this.#items.get(item);
    if (known === undefined) return 0;
    known.connections -= 1;
    if (known.connections === 0) {
      this.#items.delete(item);
      this.bytes -= known.bytes;
    }
    return known.bytes;
  }
}

class HeldByConnection implements StreamMemory {
  readonly #all: HeldInAll;
  readonly #gone: () => void;
  /** How often the connection's streams hold each. */
  readonly #uses = new Map<HeldItem, number>();
  /** By id, the node object that others may repeat. */
  readonly #nodes = new Map<string, Node>();
  #bytes = 0;
  streams = 0;

  constructor(all: HeldInAll, gone: () => void) {
    this.#all = all;
    this.#gone = gone;
  }

  change(before: HeldItem | undefined, after: HeldItem | undefined): string | undefined {
    const bytes = this.#bytes;
    // Add first, so that an object in both is not forgotten meanwhile.
    if (after !== undefined) this.#add(after);
    if (before !== undefined) this.#remove(before);
    if (this.#bytes <= bytes) return undefined;
    const { bytes: inAll, most, mostOfConnection } = this.#all;
    if (this.#bytes > mostOfConnection) return tooMuch("one connection", mostOfConnection, "_per_connection");
    if (inAll > most) return tooMuch("all clients", most, "");
    return undefined;
  }

  #add(item: HeldItem): void {
    if (isNothing(item)) return;
    const uses = this.#uses.get(item) ?? 0;
    this.#uses.set(item, uses + 1);
    if (uses > 0) return;
    this.#bytes += this.#all.add(item);
    if (isNode(item) && !this.#nodes.has(item.id)) this.#nodes.set(item.id, item);
  }

  #remove(item: HeldItem): void {
    const uses = this.#uses.get(item);
    if (uses === undefined) return;
    if (uses > 1) {
      this.#uses.set(item, uses - 1);
      return;
    }
    this.#uses.delete(item);
    this.#bytes -= this.#all.remove(item);
    if (isNode(item) && this.#nodes.get(item.id) === item) this.#nodes.delete(item.id);
  }

  sameNode(node: Node): Node {
    const known = this.#nodes.get(node.id);
    return known !== undefined && isDeepStrictEqual(known, node) ? known : node;
  }

  leave(): void {
    this.streams -= 1;
    if (this.streams === 0) this.#gone();
  }
}

function tooMuch(who: string, most: number, setting: string): string {
  return `the names, nodes and versions of ${who} may take at most ${most} bytes of memory (limits.held_bytes${setting})`;
}

function isNothing(item: HeldItem): boolean {
  return item instanceof NameSet && item.size === 0;
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
      for (const key of Object.keys(one)) {
        bytes += 56 + ofCharacter * key.length;
        open.push((one as Readonly<Record<string, unknown>>)[key]);
      }
    }
  }
  return bytes;
}
