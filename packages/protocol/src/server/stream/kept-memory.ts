import type { TypeUrl } from "@xdskit/api";
import type { Node } from "../../model/basics/node.js";
import { NameSet } from "../../model/names/name-set.js";
import type { RetainedItem, RetainedMemory } from "../contract/options.js";

/** Counts what one stream keeps of its requests in the memory that streams share (`RetainedMemory`). */
export class KeptMemory {
  readonly #memory: RetainedMemory | undefined;
  /** By type, the counted pending names; undefined before there are any, since most streams have none for long. */
  #pending: Map<TypeUrl, NameSet> | undefined;

  constructor(memory: RetainedMemory | undefined) {
    this.#memory = memory;
  }

  /** Counts a changed item. Returns the reason if that is too much; it is counted all the same. */
  change(before: RetainedItem | undefined, after: RetainedItem | undefined): string | undefined {
    return before === after ? undefined : this.#memory?.change(before, after);
  }

  /** Counts the pending names of a type as of the client's last request. Returns the reason if that is too much. */
  changePending(type: TypeUrl, names: NameSet): string | undefined {
    const before = this.#pending?.get(type) ?? NameSet.empty;
    if (names.size === 0) {
      this.#pending?.delete(type);
      if (this.#pending?.size === 0) this.#pending = undefined;
    } else if (names !== before) {
      this.#pending ??= new Map();
      this.#pending.set(type, names);
    }
    return this.change(before, names);
  }

  /** The stream ends: gives back its node and the pending names. */
  end(node: Node | undefined): void {
    this.change(node, undefined);
    if (this.#pending === undefined) return;
    for (const names of this.#pending.values()) this.change(names, undefined);
    this.#pending = undefined;
  }
}
