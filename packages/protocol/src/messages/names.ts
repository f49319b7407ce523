import { canonicalName, type ResourceName } from "@xdskit/api";
import { addFingerprints, emptyFingerprint, equalFingerprints, type Fingerprint, MemberHash } from "../fingerprint.js";
import { NameSet } from "../name-set.js";
import type { Span, WireReader } from "./wire-reader.js";

const hash = new MemberHash();

/** Tells whether two requests name the same, without keeping a request. */
export interface NamesIdentity {
  readonly count: number;
  readonly fingerprint: Fingerprint;
}

export function sameNames(a: NamesIdentity, b: NamesIdentity): boolean {
  return a.count === b.count && equalFingerprints(a.fingerprint, b.fingerprint);
}

/**
 * The names of a request, still as bytes. Clients repeat all of them with every acknowledgement, in any order: the fingerprint
 * tells that they are the ones of last time without making strings of them.
 */
export class RequestNames {
  #reader: WireReader | undefined;
  readonly #spans: Span[] = [];
  readonly #hashes: number[] = [];
  readonly #most: number;
  #count = 0;
  #fingerprint: Fingerprint = emptyFingerprint;

  /** `most`: further names are only counted. A name may take two bytes of a request, and many times that here. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Takes the string field that the reader stands at. */
  add(reader: WireReader): void {
    const span = reader.span();
    this.#reader = reader;
    this.#count += 1;
    if (this.#count > this.#most) return;
    this.#spans.push(span);
    const member = hash.bytes(reader.bytes, span.start, span.end).finish();
    this.#hashes.push(member.low);
    this.#fingerprint = addFingerprints(this.#fingerprint, member);
  }

  /** Of all, also those that were only counted: then the request is one to refuse. */
  get length(): number {
    return this.#count;
  }

  get identity(): NamesIdentity {
    return { count: this.#count, fingerprint: this.#fingerprint };
  }

  /** As strings in canonical form, once each. Throws `MalformedMessage` for what is not UTF-8. */
  toSet(): NameSet {
    const reader = this.#reader;
    if (reader === undefined) return NameSet.empty;
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

  /** A fleet asks for the same names over and over: comparing costs a fraction of making strings of them. */
  #isSpelledOutBy(known: NameSet, reader: WireReader): boolean {
    return this.#spans.every((span, index) => reader.isText(span, known.byHash(this.#hashes[index] as number)));
  }
}
