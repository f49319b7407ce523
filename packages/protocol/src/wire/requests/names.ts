import { canonicalName, type ResourceName } from "@xdskit/api";
import { type Span, TooManyFields, WireReader } from "@xdskit/api/wire";
import {
  addFingerprints,
  emptyFingerprint,
  equalFingerprints,
  type Fingerprint,
  MemberHash,
} from "../../model/names/fingerprint.js";
import type { Parameters } from "../../model/names/locator.js";
import { NameSet } from "../../model/names/name-set.js";
import { dearNames, isDearName, isDearText, maxDearNames } from "./dear-names.js";
import { KnownRuns } from "./known-runs.js";
import { type Locator, readLocator } from "./locators.js";

const hash = new MemberHash();

/** A request has too many names, and the setting that says so. */
export function tooManyNames(most: number): string {
  return `a request has more than ${most} resource names (names_per_request)`;
}

function tooManyDear(most: number): string {
  return `a request has more than ${most} ${dearNames} (a tenth of names_per_request)`;
}

/** Why these are too many names for one request; undefined if they are not. `most`: the limit of names. */
export function beyondNames(names: readonly ResourceName[], most: number): string | undefined {
  if (names.length > most) return tooManyNames(most);
  const dear = maxDearNames(most);
  return names.length > dear && names.filter(isDearName).length > dear ? tooManyDear(dear) : undefined;
}

/** Tells whether two requests name the same, without keeping a request. */
export interface NamesIdentity {
  readonly count: number;
  readonly fingerprint: Fingerprint;
}

/** The same names, in whatever order. */
export function sameNames(a: NamesIdentity, b: NamesIdentity): boolean {
  return a.count === b.count && equalFingerprints(a.fingerprint, b.fingerprint);
}

/** Names that came in an earlier request. */
interface KnownNames extends NamesIdentity {
  /** Made when it is first asked for. */
  set: NameSet | undefined;
}

const known = new KnownRuns<KnownNames>();

/** Stands for the place of names that have other fields in between. */
const apart = -1;

/**
 * The names of a request, still as bytes. Clients repeat all of them with every acknowledgement, in any order: the
 * fingerprint recognizes those of the last request without making strings of them.
 */
export class RequestNames {
  #reader: WireReader | undefined;
  readonly #spans: Span[] = [];
  readonly #hashes: number[] = [];
  readonly #most: number;
  readonly #locators: Locator[] = [];
  #count = 0;
  #dear = 0;
  #fingerprint: Fingerprint = emptyFingerprint;
  /** All names so far are these. */
  #known: KnownNames | undefined;
  /** Their place, as long as no other field lies between them. */
  #from = 0;
  #to = 0;

  /** `most`: one name more throws `TooManyFields`. A name may take two bytes of a request, and many times that here. */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Takes the string field at the reader's position, and perhaps others that follow; `from` is where its tag begins.
   * Throws `MalformedMessage` and `TooManyFields`.
   */
  add(reader: WireReader, from: number): void {
    if (this.#count === 0) {
      this.#reader = reader;
      this.#from = this.#to = from;
      const run = known.find(reader.bytes, from, reader.end);
      if (run !== undefined && run.value.count <= this.#most) {
        this.#known = run.value;
        this.#count = run.value.count;
        this.#fingerprint = run.value.fingerprint;
        this.#to = from + run.bytes.length;
        reader.skipTo(this.#to);
        return;
      }
    }
    this.#spellOut();
    if (from === this.#to) this.#to = this.#addOne(reader);
    else {
      this.#addOne(reader);
      this.#to = apart;
    }
  }

  #addOne(reader: WireReader): number {
    const span = reader.span();
    this.#reader = reader;
    this.#countOne(isDearText(reader.bytes, span.start, span.end));
    this.#spans.push(span);
    const member = hash.bytes(reader.bytes, span.start, span.end).finish();
    this.#hashes.push(member.low);
    this.#fingerprint = addFingerprints(this.#fingerprint, member);
    return span.end;
  }

  #countOne(isDear: boolean): void {
    this.#count += 1;
    if (this.#count > this.#most) throw new TooManyFields(tooManyNames(this.#most));
    if (!isDear) return;
    this.#dear += 1;
    const most = maxDearNames(this.#most);
    if (this.#dear > most) throw new TooManyFields(tooManyDear(most));
  }

  /** More follows the known names. */
  #spellOut(): void {
    const reader = this.#reader;
    if (this.#known === undefined || reader === undefined) return;
    this.#known = undefined;
    this.#count = 0;
    this.#dear = 0;
    this.#fingerprint = emptyFingerprint;
    const again = new WireReader(reader.bytes, { start: this.#from, end: this.#to });
    while (!again.atEnd) {
      again.tag();
      this.#addOne(again);
    }
  }

  /** The request is read: if others are likely to repeat its names, they are remembered. */
  learn(): void {
    const reader = this.#reader;
    if (reader === undefined || this.#known !== undefined || this.#to === apart || this.#locators.length > 0) return;
    this.#known = { count: this.#count, fingerprint: this.#fingerprint, set: undefined };
    known.learn(reader.bytes, this.#from, this.#to, this.#known);
  }

  /** Takes the `ResourceLocator` field at the reader's position. Throws `MalformedMessage` and `TooManyFields`. */
  addLocator(reader: WireReader): void {
    this.#spellOut();
    const span = reader.span();
    this.#countOne(true);
    this.#locators.push(readLocator(reader.bytes, span));
    const member = hash.string("locator").bytes(reader.bytes, span.start, span.end).finish();
    this.#fingerprint = addFingerprints(this.#fingerprint, member);
  }

  /** The client names resources by locators, so it understands variants. */
  get hasLocators(): boolean {
    return this.#locators.length > 0;
  }

  /** The last parameters of the wildcard; undefined if no locator asks for it. */
  get wildcardParameters(): Parameters | undefined {
    return this.#locators.findLast(({ name }) => name === "*")?.parameters;
  }

  get length(): number {
    return this.#count;
  }

  get identity(): NamesIdentity {
    return { count: this.#count, fingerprint: this.#fingerprint };
  }

  /** As strings in canonical form, once each. Throws `MalformedMessage` for invalid UTF-8. */
  toSet(): NameSet {
    if (this.#locators.length > 0) return NameSet.of([...this.#texts(), ...this.#locators.map(({ name }) => name)]);
    const known = this.#known;
    if (known === undefined) return this.#read();
    known.set ??= this.#read();
    return known.set;
  }

  #read(): NameSet {
    const reader = this.#reader;
    if (reader === undefined) return NameSet.empty;
    if (this.#spans.length === 0) this.#spellOut();
    const known = NameSet.like(this.length, this.#fingerprint);
    if (known !== undefined && this.#isSpelledOutBy(known, reader)) return known;
    let isCanonical = true;
    const names = this.#spans.map((span): ResourceName => {
      const spelled = reader.text(span);
      const name = canonicalName(spelled);
      isCanonical &&= name === spelled;
      return name;
    });
    return isCanonical ? NameSet.summed(names, this.#fingerprint) : NameSet.of(names);
  }

  #texts(): readonly ResourceName[] {
    const reader = this.#reader;
    return reader === undefined ? [] : this.#spans.map((span) => canonicalName(reader.text(span)));
  }

  /** A fleet asks for the same names over and over: comparing costs a fraction of making strings of them. */
  #isSpelledOutBy(known: NameSet, reader: WireReader): boolean {
    const { byHash } = known;
    return this.#spans.every((span, index) => reader.isText(span, byHash.get(this.#hashes[index] as number)));
  }
}
