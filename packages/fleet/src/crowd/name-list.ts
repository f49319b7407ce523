import { getOrInsert, isGlobName, type ResourceName } from "@xdskit/api";
import {
  addFingerprints,
  type EncodedNames,
  emptyFingerprint,
  encodeNames,
  type Fingerprint,
  fingerprintOf,
  formatFingerprint,
  writeDeltaRequest,
} from "@xdskit/protocol/wire";
import { Interned } from "./interned.js";

const emptyRequest = { typeUrl: "", node: undefined, nonce: "", error: undefined };

/** Names that clients ask for; lists of the same names are the same object. */
export class NameList {
  readonly names: ReadonlySet<ResourceName>;
  readonly fingerprint: Fingerprint;
  /** Everything, or a collection: only the server knows which names that means. */
  readonly isOpen: boolean;
  #sotw: EncodedNames | undefined;
  readonly #deltas = new WeakMap<NameList, Uint8Array>();
  readonly #unions = new WeakMap<NameList, NameList>();

  constructor(names: ReadonlySet<ResourceName>, fingerprint: Fingerprint, isAll: boolean) {
    this.names = names;
    this.fingerprint = fingerprint;
    this.isOpen = isAll;
    for (const name of names) this.isOpen ||= name === "*" || isGlobName(name);
  }

  /** Nothing is asked for. */
  get isEmpty(): boolean {
    return this.names.size === 0 && !this.isOpen;
  }

  /** The names as a state-of-the-world request has them. */
  get encoded(): EncodedNames {
    this.#sotw ??= encodeNames(this.names);
    return this.#sotw;
  }

  /** The part of a delta request that turns the list before into this one. */
  changeFrom(before: NameList): Uint8Array {
    return getOrInsert(this.#deltas, before, () => {
      const subscribe = [...this.names].filter((name) => !before.names.has(name));
      const unsubscribe = [...before.names].filter((name) => !this.names.has(name));
      return writeDeltaRequest(emptyRequest, { subscribe, unsubscribe, claims: [] });
    });
  }

  /** The union of both. */
  with(other: NameList, make: (names: Iterable<ResourceName>) => NameList): NameList {
    return getOrInsert(this.#unions, other, () => make([...this.names, ...other.names]));
  }
}

/** Everything of a type, which is asked for without a name (rule 38). */
export const everything = new NameList(new Set(), emptyFingerprint, true);
/** Nothing is asked for. */
export const noNames = new NameList(new Set(), emptyFingerprint, false);

/** Makes lists of names, each once. */
export class NameLists {
  readonly #known = new Interned<NameList>();

  of(names: Iterable<ResourceName>): NameList {
    const all = new Set(names);
    if (all.size === 0) return noNames;
    let fingerprint = emptyFingerprint;
    for (const name of all) fingerprint = addFingerprints(fingerprint, fingerprintOf(name));
    return this.#known.get(
      `${all.size} ${formatFingerprint(fingerprint)}`,
      () => new NameList(all, fingerprint, false),
    );
  }

  /** The union of all lists. */
  union(lists: readonly NameList[]): NameList {
    let all = noNames;
    for (const list of lists) {
      if (list.names.size === 0) continue;
      all = all.names.size === 0 ? list : all.with(list, (names) => this.of(names));
    }
    return all;
  }
}
