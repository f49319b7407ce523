import type { ResourceName, ResourceType } from "@xdskit/api";
import type { ReceivedResource } from "@xdskit/protocol";
import { NameWatch } from "./origin-watches.js";

/** A name that is asked for before a client does. */
export class PrefetchedName extends NameWatch {
  readonly #put: (received: ReceivedResource | undefined) => void;
  #isAbsent = false;

  constructor(type: ResourceType, name: ResourceName, put: (received: ReceivedResource | undefined) => void) {
    super(type, name);
    this.#put = put;
  }

  /** The origin has said that it does not exist. */
  get isAbsent(): boolean {
    return this.#isAbsent;
  }

  protected found(received: ReceivedResource): void {
    this.#isAbsent = false;
    this.#put(received);
  }

  protected absent(): void {
    this.#isAbsent = true;
    this.#put(undefined);
  }
}
