import type { Registry, ResourceName, ResourceType, Version } from "@xdskit/api";
import { defaultClientStreamLimits, type SotwOrDelta } from "@xdskit/protocol";
import {
  addFingerprints,
  emptyFingerprint,
  formatFingerprint,
  readDeltaResponse,
  readSotwResponse,
  type SentResponse,
} from "@xdskit/protocol/wire";
import { type CrowdEntry, CrowdHolding } from "./holding.js";
import { Interned } from "./interned.js";
import { everything, type NameList, NameLists } from "./name-list.js";
import { absent, EntryReading } from "./reading.js";
import { CrowdTransition, type TransitionOutcome } from "./transition.js";

/** The subscription of every client of a crowd to one type. */
export interface CrowdInterest {
  readonly type: ResourceType;
  /**
   * These names only. Undefined: everything, for a type whose empty first request means so (CDS, LDS); for other types
   * the names in the client's resources (EDS, RDS).
   */
  readonly names?: readonly ResourceName[] | undefined;
}

/** What all clients of a crowd share. */
export interface CrowdOptions {
  readonly variant: SotwOrDelta;
  /** One stream for all types, or one for each type. */
  readonly aggregated: boolean;
  readonly interests: readonly CrowdInterest[];
  /** Where messages are looked up. Default: Envoy's own. */
  readonly registry?: Registry | undefined;
}

/** One type, with the subscription of all clients. */
export interface SharedType {
  readonly type: ResourceType;
  /** The fixed subscription; undefined where other resources name the type's resources. */
  readonly fixed: NameList | undefined;
  /** Other types are asked for by the names in its resources. */
  readonly refers: boolean;
  readonly empty: CrowdHolding;
  readonly reading: EntryReading;
  readonly holdings: Interned<CrowdHolding>;
}

/** What the clients of a crowd share: the states they can be in, and the transitions of responses. */
export class SharedState {
  readonly options: CrowdOptions;
  /** In the order of delivery. */
  readonly types: readonly SharedType[];
  readonly lists = new NameLists();

  constructor(options: CrowdOptions) {
    this.options = options;
    const inOrder = [...options.interests].sort((a, b) => a.type.deliveryOrder - b.type.deliveryOrder);
    const followed = inOrder.filter((interest) => this.#fixed(interest) === undefined);
    this.types = inOrder.map((interest) => {
      const { type } = interest;
      const refers = followed.some((other) => mayRefer(type, other.type));
      const reading = new EntryReading(type, options.variant, refers, options.registry);
      const empty = new CrowdHolding(type, "", new Map(), emptyFingerprint);
      return { type, fixed: this.#fixed(interest), refers, empty, reading, holdings: new Interned<CrowdHolding>() };
    });
  }

  #fixed({ type, names }: CrowdInterest): NameList | undefined {
    if (names !== undefined) return this.lists.of(names);
    return type.emptyFirstRequest === "wildcard" ? everything : undefined;
  }

  /** The names of a type that clients in this state ask for. */
  wanted(of: SharedType, current: readonly CrowdHolding[]): NameList {
    if (of.fixed !== undefined) return of.fixed;
    return this.lists.union(current.map((holding) => holding.names(of.type, (names) => this.lists.of(names))));
  }

  readResponse(bytes: Uint8Array): SentResponse {
    const read = this.options.variant === "sotw" ? readSotwResponse : readDeltaResponse;
    return read(bytes, defaultClientStreamLimits.resourcesPerResponse);
  }

  /** Applies a response that no client of the group got yet; from then on the transition is known. */
  apply(of: SharedType, from: CrowdHolding, sent: SentResponse, group: number): TransitionOutcome<CrowdHolding> {
    const { variant } = this.options;
    const { entries, problem } = of.reading.read(sent, from.entries);
    const isFull = variant === "sotw" && of.type.fullState;
    const next = new Map(isFull ? [] : from.entries);
    for (const entry of entries) next.set(entry.name, entry);
    for (const name of sent.removed) {
      if (of.fixed?.isOpen) next.delete(name);
      else next.set(name, absent(name));
    }
    const to = problem === undefined ? this.holding(of, next, variant === "sotw" ? sent.version : "") : from;
    const outcome = { to, resources: sent.resources.length, removed: sent.removed.length, problem };
    from.remember(group, new CrowdTransition(sent.bytes, outcome));
    return outcome;
  }

  holding(of: SharedType, entries: ReadonlyMap<ResourceName, CrowdEntry>, version: Version): CrowdHolding {
    let fingerprint = emptyFingerprint;
    for (const entry of entries.values()) fingerprint = addFingerprints(fingerprint, entry.fingerprint);
    const key = `${entries.size} ${formatFingerprint(fingerprint)} ${version}`;
    return of.holdings.get(key, () => new CrowdHolding(of.type, version, entries, fingerprint));
  }
}

/** Reads only the bodies of resources that name others: load assignments and routes are most of the bytes. */
function mayRefer(type: ResourceType, { typeUrl, askedAgainAfter }: ResourceType): boolean {
  return typeUrl !== type.typeUrl && (askedAgainAfter.length === 0 || askedAgainAfter.includes(type.typeUrl));
}
