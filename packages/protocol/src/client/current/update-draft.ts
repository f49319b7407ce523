import type { ResourceName, ResourceType } from "@xdskit/api";
import type { ResourceError } from "../../wire/responses/responses.js";
import type { AbsenceReason, ResourceUpdate } from "../contract/contract.js";
import type { ReceivedResource } from "../contract/received.js";

/** The changes of one event. A name is in it once: the last change counts. */
export class UpdateDraft {
  readonly #type: ResourceType;
  readonly #upserted = new Map<ResourceName, ReceivedResource>();
  readonly #removed = new Map<ResourceName, ResourceUpdate["removed"][number]>();
  readonly #absent = new Map<ResourceName, ResourceUpdate["absent"][number]>();
  readonly #failing: ResourceError[] = [];

  constructor(type: ResourceType) {
    this.#type = type;
  }

  upsert(key: ResourceName, resource: ReceivedResource): void {
    this.#absent.delete(key);
    this.#upserted.set(key, resource);
  }

  remove(key: ResourceName, name: ResourceName, reason: ResourceUpdate["removed"][number]["reason"]): void {
    this.#absent.delete(key);
    this.#removed.set(key, { name, reason });
  }

  absent(key: ResourceName, name: ResourceName, reason: AbsenceReason, error?: ResourceError): void {
    if (!this.#removed.has(key) && !this.#upserted.has(key)) this.#absent.set(key, { name, reason, error });
  }

  /** It exists after all. */
  there(key: ResourceName): void {
    this.#absent.delete(key);
  }

  failing(error: ResourceError): void {
    this.#failing.push(error);
  }

  get isEmpty(): boolean {
    return this.#upserted.size + this.#removed.size + this.#absent.size + this.#failing.length === 0;
  }

  /** Undefined if nothing changed. */
  finish(): ResourceUpdate | undefined {
    if (this.isEmpty) return undefined;
    return {
      type: this.#type,
      upserted: [...this.#upserted.values()],
      removed: [...this.#removed.values()],
      absent: [...this.#absent.values()],
      failing: this.#failing,
    };
  }
}
