import type { Resource, TypeUrl } from "@xdskit/api";
import { changeBetween, emptySnapshot, type Snapshot } from "@xdskit/protocol";
import { claimedAddresses } from "../../basics/claimed-addresses.js";
import { MultiMap } from "../../basics/maps.js";
import type { SnapshotIndex } from "../../contracts/parts/snapshot-index.js";

const listeners: TypeUrl = "type.googleapis.com/envoy.config.listener.v3.Listener";

/** The listeners of a snapshot by address. An update costs the size of the change. */
export class AddressIndex implements SnapshotIndex {
  #current = emptySnapshot();
  readonly #byKey = new MultiMap<string, Resource>();

  /** Takes the next snapshot. */
  update(next: Snapshot): void {
    const before = this.#current;
    this.#current = next;
    const [from, to] = [before.sets.get(listeners), next.sets.get(listeners)];
    if (to === undefined || from === to) return;
    // A first snapshot is not compared, so that no change from the empty set is remembered.
    if (from === undefined || from.size === 0) for (const each of to) this.#add(each);
    else
      for (const { before: old, after } of changeBetween(from, to).differences.values()) {
        if (old !== undefined) this.#remove(old);
        if (after !== undefined) this.#add(after);
      }
  }

  /** The listeners at an address, by its key. */
  at(key: string): Iterable<Resource> {
    return this.#byKey.of(key);
  }

  #add(listener: Resource): void {
    for (const { key } of claimedAddresses(listener)) this.#byKey.add(key, listener);
  }

  #remove(listener: Resource): void {
    for (const { key } of claimedAddresses(listener)) this.#byKey.delete(key, listener);
  }
}

/** The server keeps the index under this function. */
export const addressIndex = (): AddressIndex => new AddressIndex();
