import type { ResourceName } from "@xdskit/api";
import type { ClientRejection } from "./contract.js";

/** So many names of one type are remembered to have been rejected; the server chooses them where all is asked for. */
const most = 10_000;
/** And so many characters of their names and reasons. */
const mostCharacters = 4 * 1024 * 1024;

/** What was rejected of one type, by name in canonical form, until something good came. */
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
    if (this.#byName.size <= most && this.#characters <= mostCharacters) return;
    for (const oldest of this.#byName.keys()) {
      this.delete(oldest);
      if (this.#byName.size <= most && this.#characters <= mostCharacters) break;
    }
  }

  delete(key: ResourceName): void {
    const known = this.#byName.get(key);
    if (known === undefined) return;
    this.#byName.delete(key);
    this.#characters -= charactersOf(key, known);
  }

  /** A response was good as a whole. */
  mended(): void {
    this.#unnamed = undefined;
  }
}

function charactersOf(key: ResourceName, { message, version }: ClientRejection): number {
  return key.length + message.length + version.length;
}
