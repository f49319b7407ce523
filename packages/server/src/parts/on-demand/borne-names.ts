import type { ResourceName, ResourceType } from "@xdskit/api";
import { NameTable } from "./name-table.js";
import type { WantedName } from "./wanted.js";

/** Names that the layers have, by the name of the resource that has them. */
export class BorneNames {
  readonly #byBearer = new NameTable<Set<WantedName>>();

  /** A copy: names come and go while each is looked at. */
  of(type: ResourceType, bearer: ResourceName): readonly WantedName[] {
    return [...(this.#byBearer.get(type, bearer) ?? [])];
  }

  add(wanted: WantedName, bearer: ResourceName): void {
    const borne = this.#byBearer.get(wanted.type, bearer);
    if (borne === undefined) this.#byBearer.set(wanted.type, bearer, new Set([wanted]));
    else borne.add(wanted);
  }

  delete(wanted: WantedName, bearer: ResourceName): void {
    const borne = this.#byBearer.get(wanted.type, bearer);
    borne?.delete(wanted);
    if (borne?.size === 0) this.#byBearer.delete(wanted.type, bearer);
  }
}
