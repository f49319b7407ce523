import {
  getOrInsert,
  isCollection,
  type Reference,
  type ResourceName,
  type ResourceType,
  type Version,
} from "@xdskit/api";
import type { SotwOrDelta } from "@xdskit/protocol";
import { type Fingerprint, formatFingerprint, writeDeltaRequest, writeSotwRequest } from "@xdskit/protocol/wire";
import { type NameList, noNames } from "./name-list.js";
import type { CrowdTransition } from "./transition.js";

/** One resource, without its content; of one that the server says not to have, the name. */
export interface CrowdEntry {
  readonly name: ResourceName;
  readonly isThere: boolean;
  /** Delta: the resource's own. */
  readonly version: Version;
  /** Of name, version and content. */
  readonly fingerprint: Fingerprint;
  readonly references: readonly Reference[];
}

const noEntries = { typeUrl: "", node: undefined, nonce: "", error: undefined };
/** Of one group: what is sent to its clients differs only where they hold different things. */
const maxTransitions = 4;

/**
 * What clients hold of one type. Immutable, but for what it remembers: what became of it when a certain response came,
 * so that a thousand clients cost what one does.
 */
export class CrowdHolding {
  readonly type: ResourceType;
  /**
   * State of the world: the version of the last response. Delta: computed from the current resources. Empty before the
   * first response.
   */
  readonly version: Version;
  readonly entries: ReadonlyMap<ResourceName, CrowdEntry>;
  readonly fingerprint: Fingerprint;
  /** Resources that are there. */
  readonly size: number;
  readonly #named = new WeakMap<ResourceType, NameList>();
  readonly #lacking = new WeakMap<NameList, number>();
  readonly #within = new WeakMap<NameList, CrowdHolding>();
  readonly #firstRequests = new WeakMap<NameList, Uint8Array>();
  readonly #acknowledgements = new WeakMap<NameList, Uint8Array>();
  readonly #transitions = new Map<number, CrowdTransition<CrowdHolding>[]>();

  constructor(
    type: ResourceType,
    version: Version,
    entries: ReadonlyMap<ResourceName, CrowdEntry>,
    fingerprint: Fingerprint,
  ) {
    this.type = type;
    this.entries = entries;
    this.fingerprint = fingerprint;
    this.version = version === "" && entries.size > 0 ? formatFingerprint(fingerprint) : version;
    let size = 0;
    for (const { isThere } of entries.values()) if (isThere) size++;
    this.size = size;
  }

  /** What its resources name of another type. */
  names(type: ResourceType, list: (names: Iterable<ResourceName>) => NameList): NameList {
    return getOrInsert(this.#named, type, () => {
      const found = new Set<ResourceName>();
      for (const { references } of this.entries.values()) {
        for (const reference of references) {
          if (reference.type === type.typeUrl && !isCollection(reference)) found.add(reference.name);
        }
      }
      return found.size === 0 ? noNames : list(found);
    });
  }

  /** How many names are neither there nor said not to be. */
  lacking(wanted: NameList): number {
    return getOrInsert(this.#lacking, wanted, () => {
      let count = 0;
      for (const name of wanted.names) if (!this.entries.has(name)) count++;
      return count;
    });
  }

  /** Without what nobody asks for any more. */
  within(wanted: NameList, make: (entries: Iterable<CrowdEntry>) => CrowdHolding): CrowdHolding {
    if (wanted.isOpen) return this;
    return getOrInsert<NameList, CrowdHolding>(this.#within, wanted, () => {
      const kept = [...this.entries.values()].filter(({ name }) => wanted.names.has(name));
      return kept.length === this.entries.size ? this : make(kept);
    });
  }

  /** Rule 112: names, and the versions of what is there, of the first request of a delta stream. */
  claims(wanted: NameList): Uint8Array {
    return getOrInsert(this.#firstRequests, wanted, () => {
      const present = [...this.entries.values()].filter(({ isThere }) => isThere);
      const claims = present.map(({ name, version }) => [name, version] as const);
      return writeDeltaRequest(noEntries, { subscribe: wanted.names, unsubscribe: [], claims });
    });
  }

  /** What acknowledges it, but for the nonce. */
  acknowledgement(wanted: NameList, variant: SotwOrDelta): Uint8Array {
    return getOrInsert(this.#acknowledgements, wanted, () => {
      const head = { ...noEntries, typeUrl: this.type.typeUrl };
      return variant === "sotw"
        ? writeSotwRequest(head, this.version, wanted.encoded)
        : writeDeltaRequest(head, { subscribe: [], unsubscribe: [], claims: [] });
    });
  }

  transitions(group: number): readonly CrowdTransition<CrowdHolding>[] {
    return this.#transitions.get(group) ?? [];
  }

  remember(group: number, transition: CrowdTransition<CrowdHolding>): void {
    const known = this.#transitions.get(group) ?? [];
    this.#transitions.set(group, [transition, ...known].slice(0, maxTransitions));
  }
}
