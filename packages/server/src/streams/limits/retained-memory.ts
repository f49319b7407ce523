import { isDeepStrictEqual } from "node:util";
import { getHeapStatistics } from "node:v8";
import { getOrInsert } from "@xdskit/api";
import { NameSet, type Node, type RetainedItem, type RetainedMemory } from "@xdskit/protocol";
import type { ServerLimits } from "../../settings/limits.js";

/**
 * The bytes of a name besides its characters, and of each character. Measured with streams of SotW and of delta,
 * rounded up.
 */
const ofName = 64;
const ofCharacter = 2;
/** It never takes more than this part of the heap, whatever the limits say. */
const partOfHeap = 1 / 4;

/** The memory for everything that clients send and streams keep, over all connections. */
export interface RetainedMemories {
  /**
   * For one stream of a connection, until it says that it is gone. Streams of several identities on one connection
   * count separately, each within the share of its identity.
   */
  of(connection: string, identity?: string | undefined): StreamMemory;
}

/**
 * Counts the memory for everything that clients send and streams keep: names, nodes, and claimed versions. A shared
 * object counts once for each connection and once in all: equal lists of names are one object, as is a node that the
 * streams of a connection repeat.
 */
export function createRetainedMemory(
  limits: Pick<ServerLimits, "retainedBytes" | "retainedBytesPerConnection" | "retainedBytesPerIdentity">,
  reached: () => void = () => {},
  heapBytes = getHeapStatistics().heap_size_limit,
): RetainedMemories {
  const all = new Holdings();
  const share = {
    all,
    /** Read each time: the limits of a running server can change. */
    get most(): number {
      return Math.floor(Math.min(limits.retainedBytes, heapBytes * partOfHeap));
    },
    get maxOfConnection(): number {
      return Math.floor(Math.min(limits.retainedBytesPerConnection, this.most / 2));
    },
    get maxOfIdentity(): number {
      return Math.floor(Math.min(limits.retainedBytesPerIdentity, this.most / 2));
    },
    reached,
  };
  const connections = new Map<string, StreamMemory>();
  const identities = new Map<string, Holdings>();
  function made(key: string, identity: string | undefined): StreamMemory {
    if (identity === undefined) return new StreamMemory(share, undefined, () => connections.delete(key));
    const ofIdentity = getOrInsert(identities, identity, () => new Holdings(all));
    ofIdentity.connections += 1;
    return new StreamMemory(share, ofIdentity, () => {
      connections.delete(key);
      ofIdentity.connections -= 1;
      if (ofIdentity.connections === 0) identities.delete(identity);
    });
  }
  return {
    of(connection, identity) {
      const key = identity === undefined ? connection : `${connection}\n${identity}`;
      const memory = getOrInsert(connections, key, () => made(key, identity));
      memory.streams += 1;
      return memory;
    },
  };
}

/** Objects, each with its bytes and a count of its holders. `around` holds each of them once for all these holders. */
class Holdings {
  readonly #around: Holdings | undefined;
  readonly #items = new Map<RetainedItem, { times: number; readonly bytes: number }>();
  bytes = 0;
  /** Those of an identity. */
  connections = 0;

  constructor(around?: Holdings) {
    this.#around = around;
  }

  /** Returns its bytes. */
  add(item: RetainedItem): number {
    let counted = this.#items.get(item);
    if (counted === undefined) {
      counted = { times: 0, bytes: this.#around?.add(item) ?? bytesOf(item) };
      this.#items.set(item, counted);
      this.bytes += counted.bytes;
    }
    counted.times += 1;
    return counted.bytes;
  }

  /** Returns true if nobody holds it any more. */
  remove(item: RetainedItem): boolean {
    const counted = this.#items.get(item);
    if (counted === undefined) return false;
    counted.times -= 1;
    if (counted.times > 0) return false;
    this.#items.delete(item);
    this.bytes -= counted.bytes;
    this.#around?.remove(item);
    return true;
  }
}

/** The memory that all connections share, with the limits in bytes. */
interface SharedMemory {
  readonly all: Holdings;
  readonly most: number;
  readonly maxOfConnection: number;
  readonly maxOfIdentity: number;
  /** An identity has no room left. */
  reached(): void;
}

/** Counts the memory of a stream, together with the other streams of its connection. */
export class StreamMemory implements RetainedMemory {
  readonly #around: SharedMemory;
  readonly #gone: () => void;
  readonly #ofIdentity: Holdings | undefined;
  readonly #retained: Holdings;
  /** By id: the node object that other streams may repeat. */
  readonly #nodes = new Map<string, Node>();
  streams = 0;

  /** `gone` is called after its last stream. */
  constructor(around: SharedMemory, ofIdentity: Holdings | undefined, gone: () => void) {
    this.#around = around;
    this.#ofIdentity = ofIdentity;
    this.#gone = gone;
    this.#retained = new Holdings(ofIdentity ?? around.all);
  }

  change(before: RetainedItem | undefined, after: RetainedItem | undefined): string | undefined {
    const { bytes } = this.#retained;
    // Add first, so that an object in both is not forgotten meanwhile.
    if (after !== undefined && !isNothing(after)) {
      this.#retained.add(after);
      if (isNode(after) && !this.#nodes.has(after.id)) this.#nodes.set(after.id, after);
    }
    if (
      before !== undefined &&
      this.#retained.remove(before) &&
      isNode(before) &&
      this.#nodes.get(before.id) === before
    )
      this.#nodes.delete(before.id);
    if (this.#retained.bytes <= bytes) return undefined;
    const { all, most, maxOfConnection, maxOfIdentity } = this.#around;
    if (this.#retained.bytes > maxOfConnection) return tooMuch("one connection", maxOfConnection, "_per_connection");
    if (this.#ofIdentity !== undefined && this.#ofIdentity.bytes > maxOfIdentity) {
      this.#around.reached();
      return tooMuch("one identity", maxOfIdentity, "_per_identity");
    }
    return all.bytes > most ? tooMuch("all clients", most, "") : undefined;
  }

  sameNode(node: Node): Node {
    const known = this.#nodes.get(node.id);
    return known !== undefined && isDeepStrictEqual(known, node) ? known : node;
  }

  /** A stream is gone, and released everything that it kept. */
  leave(): void {
    this.streams -= 1;
    if (this.streams === 0) this.#gone();
  }
}

function tooMuch(who: string, most: number, setting: string): string {
  return `the names, nodes and versions of ${who} may take at most ${most} bytes of memory (limits.retained_bytes${setting})`;
}

function isNothing(item: RetainedItem): boolean {
  return item instanceof NameSet && item.size === 0;
}

function isNode(item: RetainedItem): item is Node {
  return "metadata" in item;
}

function bytesOf(item: RetainedItem): number {
  if (item instanceof NameSet) return ofName * item.size + ofCharacter * item.characters;
  return isNode(item) ? bytesOfJson(item) : item.bytes;
}

/** About the bytes that V8 takes for a value of JSON, rounded up. */
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
