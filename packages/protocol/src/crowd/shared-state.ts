import type { ResourceName, ResourceType, Version } from "@xdskit/api";
import { addFingerprints, emptyFingerprint, formatFingerprint } from "../fingerprint.js";
import { readDeltaResponse, readSotwResponse, type SentResponse } from "../messages/read-response.js";
import type { CrowdInterest, CrowdOptions } from "./contract.js";
import { type Entry, Holding } from "./holding.js";
import { Interned } from "./interned.js";
import { everything, type NameList, NameLists } from "./name-list.js";
import { absent, EntryReading } from "./reading.js";
import { type Outcome, Transition } from "./transition.js";

/** One type, as all clients ask for it. */
export interface SharedType {
  readonly type: ResourceType;
  /** What is asked for whatever is held; undefined where that is what other resources name. */
  readonly fixed: NameList | undefined;
  /** Other types are asked for by what its resources name. */
  readonly refers: boolean;
  readonly empty: Holding;
  readonly reading: EntryReading;
  readonly holdings: Interned<Holding>;
}

/** Resources of one response; the same limit as the client's. */
const mostResources = 500_000;

/** What the clients of a crowd share: what can be held, and what comes of a response. */
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
      const empty = new Holding(type, "", new Map(), emptyFingerprint);
      return { type, fixed: this.#fixed(interest), refers, empty, reading, holdings: new Interned<Holding>() };
    });
  }

  #fixed({ type, names }: CrowdInterest): NameList | undefined {
    if (names !== undefined) return this.lists.of(names);
    return type.emptyFirstRequest === "wildcard" ? everything : undefined;
  }

  /** What is asked for of a type by clients that hold these. */
  wanted(of: SharedType, held: readonly Holding[]): NameList {
    if (of.fixed !== undefined) return of.fixed;
    return this.lists.union(held.map((holding) => holding.names(of.type, (names) => this.lists.of(names))));
  }

  readResponse(bytes: Uint8Array): SentResponse {
    const read = this.options.variant === "sotw" ? readSotwResponse : readDeltaResponse;
    return read(bytes, mostResources);
  }

  /** What a response that nobody of the group got yet makes of a holding; from then on that is known. */
  apply(of: SharedType, from: Holding, sent: SentResponse, group: number): Outcome<Holding> {
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
    from.remember(group, new Transition(sent.bytes, outcome));
    return outcome;
  }

  holding(of: SharedType, entries: ReadonlyMap<ResourceName, Entry>, version: Version): Holding {
    let fingerprint = emptyFingerprint;
    for (const entry of entries.values()) fingerprint = addFingerprints(fingerprint, entry.fingerprint);
    const key = `${entries.size} ${formatFingerprint(fingerprint)} ${version}`;
    return of.holdings.get(key, () => new Holding(of.type, version, entries, fingerprint));
  }
}

/** Only what others are asked for because of is read for what it names: load assignments and routes are the bulk of what comes. */
function mayRefer(type: ResourceType, { typeUrl, askedAgainAfter }: ResourceType): boolean {
  return typeUrl !== type.typeUrl && (askedAgainAfter.length === 0 || askedAgainAfter.includes(type.typeUrl));
}
