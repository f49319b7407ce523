import { canonicalName, type ResourceName, type Version } from "@xdskit/api";
import { delimited, type Span, TooManyFields, WireReader } from "@xdskit/api/wire";
import { emptyFingerprint, type Fingerprint, FingerprintSum, MemberHash } from "../../model/names/fingerprint.js";
import { KnownRuns } from "./known-runs.js";

const hash = new MemberHash();
const known = new KnownRuns<ClaimedVersions>();

/**
 * `initial_resource_versions`: the resources that a reconnecting delta client has. They stay bytes until they are
 * needed by name. Its fingerprint is made like a set's version, so a client that is up to date is recognized without a
 * look at a single name. Immutable; clients that claim the same in the same bytes share one.
 */
export interface ClaimedVersions {
  readonly size: number;
  /** Bytes of memory. */
  readonly bytes: number;
  /** Comparable with `ResourceSets.fingerprint`. */
  readonly fingerprint: Fingerprint;
  /** By name in canonical form. Throws nothing: the text was checked. */
  toMap(): ReadonlyMap<ResourceName, Version>;
}

class BytesClaims implements ClaimedVersions {
  readonly size: number;
  readonly fingerprint: Fingerprint;
  readonly #bytes: Uint8Array;
  /** The places of consecutive entries, with their tags: start, end, start, end … */
  readonly #runs: readonly number[];
  /** Several look into it, one after the other. Weak: it takes many times the memory of the bytes, which count. */
  #map: WeakRef<ReadonlyMap<ResourceName, Version>> | undefined;

  constructor(size: number, fingerprint: Fingerprint, bytes: Uint8Array, runs: readonly number[]) {
    this.size = size;
    this.fingerprint = fingerprint;
    this.#bytes = bytes;
    this.#runs = runs;
  }

  get bytes(): number {
    return this.#bytes.length + 8 * this.#runs.length;
  }

  toMap(): ReadonlyMap<ResourceName, Version> {
    const made = this.#map?.deref();
    if (made !== undefined) return made;
    const runs = this.#runs;
    const map = new Map<ResourceName, Version>();
    for (let index = 0; index < runs.length; index += 2) {
      const reader = new WireReader(this.#bytes, { start: runs[index] as number, end: runs[index + 1] as number });
      while (!reader.atEnd) {
        reader.tag();
        const { name, version } = readEntry(this.#bytes, reader.span());
        map.set(canonicalName(reader.text(name)), reader.text(version));
      }
    }
    this.#map = new WeakRef(map);
    return map;
  }
}

/** The claims of a client that has nothing, or claims nothing. */
export const noClaims: ClaimedVersions = new BytesClaims(0, emptyFingerprint, new Uint8Array(), []);

/** Takes the entries of one request. */
export class ClaimsReader {
  readonly #most: number;
  #count = 0;
  #reader: WireReader | undefined;
  readonly #sum = new FingerprintSum(emptyFingerprint);
  /** All entries so far are these. */
  #known: ClaimedVersions | undefined;
  /** The place of the last of them, with nothing between them. */
  #from = 0;
  #to = 0;
  /** The places of those before, if other fields lie in between. */
  #runs: number[] | undefined;

  /**
   * `most`: one entry more throws `TooManyFields`. An entry may take two bytes of a request, and many times that here.
   */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Takes the map entry at the reader's position, and perhaps others that follow; `from` is where its tag begins.
   * Throws `MalformedMessage`, also for invalid UTF-8, and `TooManyFields`.
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
    if (this.#count >= this.#most)
      throw new TooManyFields(`a request claims to have more than ${this.#most} resources (names_per_request)`);
    if (from !== this.#to) {
      this.#runs ??= [];
      this.#runs.push(this.#from, this.#to);
      this.#from = from;
    }
    this.#addOne(reader);
    this.#to = reader.position;
  }

  /** The entries so far. The result does not keep the request's bytes, which are only lent. */
  finish(): ClaimedVersions {
    const bytes = this.#reader?.bytes;
    if (bytes === undefined) return noClaims;
    if (this.#known !== undefined) return this.#known;
    const { value } = this.#sum;
    // Not `slice`: a `Buffer` would share its memory.
    if (this.#runs !== undefined) {
      return new BytesClaims(this.#count, value, new Uint8Array(bytes), [...this.#runs, this.#from, this.#to]);
    }
    const own = new Uint8Array(bytes.subarray(this.#from, this.#to));
    const claims = new BytesClaims(this.#count, value, own, [0, own.length]);
    known.keep({ bytes: own, value: claims });
    return claims;
  }

  /** More follows the known entries. */
  #readKnown(bytes: Uint8Array): void {
    this.#known = undefined;
    this.#count = 0;
    const again = new WireReader(bytes, { start: this.#from, end: this.#to });
    while (!again.atEnd) {
      again.tag();
      this.#addOne(again);
    }
  }

  #addOne(reader: WireReader): void {
    const start = reader.pass();
    const end = reader.position;
    this.#count += 1;
    const { bytes } = reader;
    // The usual form: the name, then the version, each shorter than 128 bytes. A fleet that reconnects sends a million
    // of them.
    const nameStart = start + 2;
    const nameEnd = nameStart + (bytes[start + 1] as number);
    const versionStart = nameEnd + 2;
    const isUsual =
      end - start >= 4 &&
      bytes[start] === delimited(1) &&
      nameEnd - nameStart < 0x80 &&
      versionStart <= end &&
      bytes[nameEnd] === delimited(2) &&
      versionStart + (bytes[nameEnd + 1] as number) === end &&
      end - versionStart < 0x80;
    if (isUsual) this.#addMember(reader, nameStart, nameEnd, versionStart, end);
    else {
      const { name, version } = readEntry(bytes, { start, end });
      this.#addMember(reader, name.start, name.end, version.start, version.end);
    }
  }

  #addMember(reader: WireReader, name: number, nameEnd: number, version: number, versionEnd: number): void {
    // The names are read once there is a snapshot, but a bad request must be refused while it is being read.
    reader.checkText(name, nameEnd);
    reader.checkText(version, versionEnd);
    const { bytes } = reader;
    this.#sum.add(hash.bytes(bytes, name, nameEnd).bytes(bytes, version, versionEnd).finish());
  }
}

/** The places of an entry's name and version, if it has them. */
function readEntry(bytes: Uint8Array, span: Span): { readonly name: Span; readonly version: Span } {
  const reader = new WireReader(bytes, span);
  let name: Span = { start: span.start, end: span.start };
  let version: Span = name;
  while (!reader.atEnd) {
    const tag = reader.tag();
    if (tag === delimited(1)) name = reader.span();
    else if (tag === delimited(2)) version = reader.span();
    else reader.skip(tag);
  }
  return { name, version };
}
