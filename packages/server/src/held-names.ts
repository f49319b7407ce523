import { getHeapStatistics } from "node:v8";
import type { HeldNames, NameSet } from "@xdskit/protocol";
import type { ServerLimits } from "./limits.js";

/** Bytes that a name takes beside its characters, and each of those: measured with streams of both variants, and not below what they take. */
const ofName = 64;
const ofCharacter = 2;
/** Names never take more than this part of the heap, whatever the limits say. */
const partOfHeap = 1 / 4;

/** Counts the memory for names by what subscribes to them. Lists of which the names are the same are one, and count once for each connection and once in all. */
export function createHeldNames(
  limits: Pick<ServerLimits, "nameBytes" | "nameBytesPerConnection">,
  heapBytes = getHeapStatistics().heap_size_limit,
): HeldNames {
  const inAll = Math.floor(Math.min(limits.nameBytes, heapBytes * partOfHeap));
  const ofConnection = Math.floor(Math.min(limits.nameBytesPerConnection, inAll / 2));
  const all = new Lists();
  const connections = new Map<string, Lists>();

  return {
    change(connection, before, after) {
      const own = connections.get(connection) ?? new Lists();
      const bytes = own.bytes;
      // First what comes, so that a list which both have is not forgotten meanwhile.
      if (own.add(after)) all.add(after);
      if (own.remove(before)) all.remove(before);
      if (own.isEmpty) connections.delete(connection);
      else connections.set(connection, own);
      if (own.bytes <= bytes) return undefined;
      if (own.bytes > ofConnection) return tooMuch("one connection", ofConnection, "_per_connection");
      if (all.bytes > inAll) return tooMuch("all clients", inAll, "");
      return undefined;
    },
  };
}

function tooMuch(who: string, most: number, setting: string): string {
  return `the names that ${who} may subscribe to take at most ${most} bytes of memory (limits.name_bytes${setting})`;
}

/** Lists of names, each as often as it is used. */
class Lists {
  readonly #uses = new Map<NameSet, number>();
  bytes = 0;

  get isEmpty(): boolean {
    return this.#uses.size === 0;
  }

  /** True where it was not here. */
  add(names: NameSet): boolean {
    if (names.size === 0) return false;
    const uses = this.#uses.get(names) ?? 0;
    this.#uses.set(names, uses + 1);
    if (uses > 0) return false;
    this.bytes += bytesOf(names);
    return true;
  }

  /** True where it is not here any more. */
  remove(names: NameSet): boolean {
    const uses = this.#uses.get(names);
    if (uses === undefined) return false;
    if (uses > 1) {
      this.#uses.set(names, uses - 1);
      return false;
    }
    this.#uses.delete(names);
    this.bytes -= bytesOf(names);
    return true;
  }
}

function bytesOf(names: NameSet): number {
  return ofName * names.size + ofCharacter * names.characters;
}
