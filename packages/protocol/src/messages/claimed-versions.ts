import { canonicalName, type ResourceName, type Version } from "@xdskit/api";
import { addFingerprints, emptyFingerprint, type Fingerprint, MemberHash } from "../fingerprint.js";
import { KnownRuns } from "./known-runs.js";
import { delimited, type Span, WireReader } from "./wire-reader.js";

const hash = new MemberHash();
const known = new KnownRuns<ClaimedVersions>();

/**
 * `initial_resource_versions`: what a reconnecting delta client has. Left as bytes until it is needed name by name: its
 * fingerprint is made like a set's version, so that a client which is up to date is known without looking at a single name.
 * Immutable; clients that say the same in the same bytes share one.
 */
export interface ClaimedVersions {
  /** Of all, also those that were only counted: then the request is one to refuse. */
  readonly size: number;
  /** Comparable with `ResourceSets.fingerprint`. */
  readonly fingerprint: Fingerprint;
  /** By name in canonical form. Throws nothing: the text was checked. */
  toMap(): Map<ResourceName, Version>;
}

class Claims implements ClaimedVersions {
  readonly size: number;
  readonly fingerprint: Fingerprint;
  readonly #bytes: Uint8Array;
  /** Of each entry where its name begins and is over, and the same of its version. */
  readonly #places: readonly number[];

  constructor(size: number, fingerprint: Fingerprint, bytes: Uint8Array, places: readonly number[]) {
    this.size = size;
    this.fingerprint = fingerprint;
    this.#bytes = bytes;
    this.#places = places;
  }

  toMap(): Map<ResourceName, Version> {
    const reader = new WireReader(this.#bytes);
    const places = this.#places;
    const map = new Map<ResourceName, Version>();
    for (let at = 0; at < places.length; at += 4) {
      const name = reader.text({ start: places[at] as number, end: places[at + 1] as number });
      map.set(canonicalName(name), reader.text({ start: places[at + 2] as number, end: places[at + 3] as number }));
    }
    return map;
  }
}

/** Of a client that has nothing, or does not say so. */
export const noClaims: ClaimedVersions = new Claims(0, emptyFingerprint, new Uint8Array(), []);

/** As the end of entries between which something else stands. */
const apart = -1;

/** Takes the entries of one request. */
export class ClaimsReader {
  readonly #most: number;
  readonly #places: number[] = [];
  #count = 0;
  #reader: WireReader | undefined;
  #fingerprint: Fingerprint = emptyFingerprint;
  /** All entries so far are these. */
  #known: ClaimedVersions | undefined;
  /** Where they stand, as long as nothing stands between them. */
  #from = 0;
  #to = 0;

  /** `most`: further ones are only counted. An entry may take two bytes of a request, and many times that here. */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Takes the map entry that the reader stands at, and perhaps others that follow; `from` is where its tag begins. Throws `MalformedMessage`,
   * also for what is not UTF-8.
   */
  add(reader: WireReader, from: number): void {
    if (this.#count === 0) {
      this.#reader = reader;
      this.#from = this.#to = from;
      const run = known.find(reader.bytes, from, reader.end);
      if (run !== undefined && run.value.size <= this.#most) {
        this.#known = run.value;
        this.#count = run.value.size;
        this.#to = from + run.bytes.length;
        reader.skipTo(this.#to);
        return;
      }
    }
    if (this.#known !== undefined) this.#readKnown(reader.bytes);
    const isNext = from === this.#to;
    this.#addOne(reader);
    this.#to = isNext ? reader.position : apart;
  }

  /** All are taken. What is told does not hold on to the request's bytes, which are only lent. */
  finish(): ClaimedVersions {
    const bytes = this.#reader?.bytes;
    if (bytes === undefined) return noClaims;
    if (this.#known !== undefined) return this.#known;
    if (this.#count > this.#most || this.#to === apart) return this.#made(bytes, 0, bytes.length);
    const claims = this.#made(bytes, this.#from, this.#to);
    known.learn(bytes, this.#from, this.#to, claims);
    return claims;
  }

  #made(bytes: Uint8Array, start: number, end: number): ClaimedVersions {
    const places = start === 0 ? this.#places : this.#places.map((place) => place - start);
    return new Claims(this.#count, this.#fingerprint, new Uint8Array(bytes.subarray(start, end)), places);
  }

  /** More follows on what is known. */
  #readKnown(bytes: Uint8Array): void {
    this.#known = undefined;
    this.#count = 0;
    const again = new WireReader(bytes, { start: this.#from, end: this.#to });
    while (!again.atEnd) {
      again.tag();
      this.#addOne(again);
    }
  }

  #addOne(outer: WireReader): void {
    const span = outer.span();
    this.#count += 1;
    if (this.#count > this.#most) return;
    const { bytes } = outer;
    const reader = new WireReader(bytes, span);
    let name: Span = { start: span.start, end: span.start };
    let version: Span = name;
    while (!reader.atEnd) {
      const tag = reader.tag();
      if (tag === delimited(1)) name = reader.span();
      else if (tag === delimited(2)) version = reader.span();
      else reader.skip(tag);
    }
    // They are read when a snapshot is there, and a bad request is to be refused while it is being read.
    reader.checkText(name);
    reader.checkText(version);
    this.#places.push(name.start, name.end, version.start, version.end);
    const member = hash.bytes(bytes, name.start, name.end).bytes(bytes, version.start, version.end).finish();
    this.#fingerprint = addFingerprints(this.#fingerprint, member);
  }
}
