import { authorityOf, type ResourceName, type ResourceType } from "@xdskit/api";
import { nameOf } from "../../model/names/locator.js";
import type { NameSet } from "../../model/names/name-set.js";
import type { StreamEffect } from "../contract/effects.js";

/**
 * The authority of a name of federation, if it is none of those that are served. No authority is the server that is
 * asked.
 */
export function foreignAuthority(name: ResourceName, authorities: ReadonlySet<string> | undefined): string | undefined {
  if (authorities === undefined) return undefined;
  const authority = authorityOf(nameOf(name));
  return authority === undefined || authority === "" || authorities.has(authority) ? undefined : authority;
}

/** Authorities that are noted of a stream. */
const most = 8;

const none: ReadonlySet<string> = new Set();

/** The authorities that the client of one stream asks for in vain. */
export class ForeignAuthorities {
  readonly #served: ReadonlySet<string> | undefined;
  #noted = none;

  /** `served`: undefined for any. */
  constructor(served: ReadonlySet<string> | undefined) {
    this.#served = served;
  }

  /** Notes those of the names that a client did not ask for `before`; says which were not noted yet. */
  note(type: ResourceType, names: NameSet, before: NameSet): readonly StreamEffect[] {
    if (this.#served === undefined || this.#noted.size >= most) return [];
    const all = new Set(this.#noted);
    const effects: StreamEffect[] = [];
    for (const name of names.notIn(before)) {
      const authority = foreignAuthority(name, this.#served);
      if (authority === undefined || all.has(authority) || all.size >= most) continue;
      all.add(authority);
      effects.push({ kind: "foreign", type, authority });
    }
    this.#noted = effects.length === 0 ? this.#noted : all;
    return effects;
  }
}
