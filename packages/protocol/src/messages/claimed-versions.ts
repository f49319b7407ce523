import { canonicalName, type ResourceName, type Version } from "@xdskit/api";
import { addFingerprints, emptyFingerprint, type Fingerprint, MemberHash } from "../fingerprint.js";
import { delimited, type Span, WireReader } from "./wire-reader.js";

const hash = new MemberHash();

/**
 * `initial_resource_versions`: what a reconnecting delta client has. Left as bytes until it is needed name by name: its
 * fingerprint is made like a set's version, so that a client which is up to date is known without looking at a single name.
 */
export class ClaimedVersions {
  readonly #entries: { readonly name: Span; readonly version: Span }[] = [];
  readonly #most: number;
  #count = 0;
  #bytes: Uint8Array = new Uint8Array();
  #fingerprint: Fingerprint = emptyFingerprint;

  /** `most`: further ones are only counted. An entry may take two bytes of a request, and many times that here. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Takes a map entry. Throws `MalformedMessage`, also for what is not UTF-8. */
  add(bytes: Uint8Array, span: Span): void {
    this.#count += 1;
    if (this.#count > this.#most) return;
    const reader = new WireReader(bytes, span);
    let name: Span = { start: 0, end: 0 };
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
    this.#bytes = bytes;
    this.#entries.push({ name, version });
    const member = hash.bytes(bytes, name.start, name.end).bytes(bytes, version.start, version.end).finish();
    this.#fingerprint = addFingerprints(this.#fingerprint, member);
  }

  /** Of all, also those that were only counted: then the request is one to refuse. */
  get size(): number {
    return this.#count;
  }

  /** Comparable with `ResourceSets.fingerprint`. */
  get fingerprint(): Fingerprint {
    return this.#fingerprint;
  }

  /** By name in canonical form. */
  toMap(): Map<ResourceName, Version> {
    const reader = new WireReader(this.#bytes);
    return new Map(this.#entries.map(({ name, version }) => [canonicalName(reader.text(name)), reader.text(version)]));
  }
}
