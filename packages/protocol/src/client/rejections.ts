import type { ResourceName } from "@xdskit/api";
import type { ClientRejection } from "./contract.js";

/** So many names of one type are remembered to have been rejected; the server chooses them where all is asked for. */
const most = 10_000;

/** What was rejected of one type, by name in canonical form, until something good came. */
export class Rejections {
  readonly #byName = new Map<ResourceName, ClientRejection>();
  #unnamed: ClientRejection | undefined;

  get(key: ResourceName | undefined): ClientRejection | undefined {
    return key === undefined ? this.#unnamed : this.#byName.get(key);
  }

  set(key: ResourceName | undefined, rejection: ClientRejection): void {
    if (key === undefined) {
      this.#unnamed = rejection;
      return;
    }
    this.#byName.delete(key);
    this.#byName.set(key, rejection);
    if (this.#byName.size <= most) return;
    for (const oldest of this.#byName.keys()) {
      this.#byName.delete(oldest);
      break;
    }
  }

  delete(key: ResourceName): void {
    this.#byName.delete(key);
  }

  /** A response was good as a whole. */
  mended(): void {
    this.#unnamed = undefined;
  }
}
