import { authorityOf, type ResourceName, type ResourceType } from "@xdskit/api";
import { maxAlternatives } from "../../model/basics/limits.js";
import { nameOf } from "../../model/names/locator.js";
import type { NameSet } from "../../model/names/name-set.js";
import type { StreamEffect } from "../contract/effects.js";

/** The authority of a federation name, if this server does not serve it. An empty authority means this server. */
export function foreignAuthority(name: ResourceName, authorities: ReadonlySet<string> | undefined): string | undefined {
  if (authorities === undefined) return undefined;
  const authority = authorityOf(nameOf(name));
  return authority === undefined || authority === "" || authorities.has(authority) ? undefined : authority;
}

const none: ReadonlySet<string> = new Set();

/** The authorities that the client of one stream asks for and that are not served. */
export class ForeignAuthorities {
  readonly #served: ReadonlySet<string> | undefined;
  #noted = none;

  /** `served`: undefined means any. */
  constructor(served: ReadonlySet<string> | undefined) {
    this.#served = served;
  }

  /** Records the authorities of names that are not in `before`. Returns an effect for each new one. */
  note(type: ResourceType, names: NameSet, before: NameSet): readonly StreamEffect[] {
    if (this.#served === undefined || this.#noted.size >= maxAlternatives) return [];
    const all = new Set(this.#noted);
    const effects: StreamEffect[] = [];
    for (const name of names.notIn(before)) {
      const authority = foreignAuthority(name, this.#served);
      if (authority === undefined || all.has(authority) || all.size >= maxAlternatives) continue;
      all.add(authority);
      effects.push({ kind: "foreign", type, authority });
    }
    this.#noted = effects.length === 0 ? this.#noted : all;
    return effects;
  }
}
