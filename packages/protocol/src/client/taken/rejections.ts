import type { ResourceName } from "@xdskit/api";
import { rejectionCharacters } from "../../model/basics/limits.js";
import type { ClientRejection } from "../contract/contract.js";

/** The rejections of one type, by canonical name, until something good came. */
export class Rejections {
  readonly #byName = new Map<ResourceName, ClientRejection>();
  #unnamed: ClientRejection | undefined;
  #characters = 0;

  get(key: ResourceName | undefined): ClientRejection | undefined {
    return key === undefined ? this.#unnamed : this.#byName.get(key);
  }

  set(key: ResourceName | undefined, rejection: ClientRejection): void {
    if (key === undefined) {
      this.#unnamed = rejection;
      return;
    }
    this.delete(key);
    this.#byName.set(key, rejection);
    this.#characters += charactersOf(key, rejection);
    if (this.#characters <= rejectionCharacters) return;
    for (const oldest of this.#byName.keys()) {
      this.delete(oldest);
      if (this.#characters <= rejectionCharacters) break;
    }
  }

  delete(key: ResourceName): void {
    const known = this.#byName.get(key);
    if (known === undefined) return;
    this.#byName.delete(key);
    this.#characters -= charactersOf(key, known);
  }

  /** A response was good as a whole. */
  forgetUnnamed(): void {
    this.#unnamed = undefined;
  }
}

function charactersOf(key: ResourceName, { message, version }: ClientRejection): number {
  // The memory of the map and the object counts too, or too many short names would fit.
  return key.length + message.length + version.length + 200;
}
