import type { Nonce, TypeUrl, Version } from "@xdskit/api";
import { delimited, messageReader, type Span, single, varintTag, WireReader } from "@xdskit/api/wire";
import { longestErrorText } from "../../model/basics/limits.js";
import type { Node } from "../../model/basics/node.js";
import { type ClaimedVersions, ClaimsReader, noClaims } from "./claimed-versions.js";
import { RequestNames } from "./names.js";
import { nodeLength, readNode } from "./node-message.js";

/** `google.rpc.Status`: why a client rejected a response. */
export interface ErrorDetail {
  readonly code: number;
  /** Cut to 4,096 characters: it goes to logs and reports. */
  readonly message: string;
}

/** The fields that requests of SotW and of delta have. */
export interface Request {
  /** The whole request; only valid while the event is being handled. */
  readonly bytes: Uint8Array;
  /** The place of the node, for `nodeOf`: only the first request of a stream needs it (rules 113–115). */
  readonly node: Span | undefined;
  readonly typeUrl: TypeUrl;
  /** Empty if the request answers no response. */
  readonly nonce: Nonce;
  readonly error: ErrorDetail | undefined;
}

/** A `DiscoveryRequest`. */
export interface SotwRequest extends Request {
  readonly version: Version;
  readonly names: RequestNames;
}

/** A `DeltaDiscoveryRequest`. */
export interface DeltaRequest extends Request {
  readonly subscribe: RequestNames;
  readonly unsubscribe: RequestNames;
  readonly claimed: ClaimedVersions;
}

/** The number of names and claims that a request may have. */
export interface MostKept {
  readonly names: number;
  readonly claims: number;
}

const all: MostKept = { names: Number.POSITIVE_INFINITY, claims: Number.POSITIVE_INFINITY };

/** The tags of the fields that SotW and delta have. */
interface CommonTags {
  readonly node: number;
  readonly typeUrl: number;
  readonly nonce: number;
  readonly error: number;
}

const sotwTags: CommonTags = { node: delimited(2), typeUrl: delimited(4), nonce: delimited(5), error: delimited(6) };
const deltaTags: CommonTags = { node: delimited(1), typeUrl: delimited(2), nonce: delimited(6), error: delimited(7) };

/** Reads a `DiscoveryRequest`, v2's or v3's. Throws `MalformedMessage`, and `TooManyFields`. */
export function readSotwRequest(bytes: Uint8Array, most: MostKept = all): SotwRequest {
  const common = new CommonFields(bytes, sotwTags);
  const { reader } = common;
  const names = new RequestNames(most.names);
  let version = "";
  while (!reader.atEnd) {
    const from = reader.position;
    const tag = reader.tag();
    if (tag === delimited(3)) names.add(reader, from);
    else if (tag === delimited(1)) version = reader.string();
    else if (tag === delimited(7)) names.addLocator(reader);
    else common.read(tag);
  }
  names.learn();
  const { node, typeUrl, nonce, error } = common;
  return { bytes, node, version, names, typeUrl, nonce, error };
}

/** Reads a `DeltaDiscoveryRequest`, v2's or v3's. Throws `MalformedMessage`, and `TooManyFields`. */
export function readDeltaRequest(bytes: Uint8Array, most: MostKept = all): DeltaRequest {
  const common = new CommonFields(bytes, deltaTags);
  const { reader } = common;
  const subscribe = new RequestNames(most.names);
  const unsubscribe = new RequestNames(most.names);
  let claims: ClaimsReader | undefined;
  while (!reader.atEnd) {
    const from = reader.position;
    const tag = reader.tag();
    if (tag === delimited(5)) {
      claims ??= new ClaimsReader(most.claims);
      claims.add(reader, from);
    } else if (tag === delimited(3)) subscribe.add(reader, from);
    else if (tag === delimited(4)) unsubscribe.add(reader, from);
    else if (tag === delimited(8)) subscribe.addLocator(reader);
    else if (tag === delimited(9)) unsubscribe.addLocator(reader);
    else common.read(tag);
  }
  subscribe.learn();
  const { node, typeUrl, nonce, error } = common;
  return { bytes, node, subscribe, unsubscribe, claimed: claims?.finish() ?? noClaims, typeUrl, nonce, error };
}

/** The fields that SotW and delta have, while a request is read. */
class CommonFields {
  readonly reader: WireReader;
  node: Span | undefined;
  typeUrl = "";
  nonce = "";
  error: ErrorDetail | undefined;
  readonly #bytes: Uint8Array;
  readonly #tags: CommonTags;

  constructor(bytes: Uint8Array, tags: CommonTags) {
    this.reader = new WireReader(bytes);
    this.#bytes = bytes;
    this.#tags = tags;
  }

  /** Reads the field behind a tag; skips one that is not known. */
  read(tag: number): void {
    const { reader } = this;
    const tags = this.#tags;
    if (tag === tags.typeUrl) this.typeUrl = reader.string();
    else if (tag === tags.nonce) this.nonce = reader.string();
    else if (tag === tags.node) this.node = reader.span();
    else if (tag === tags.error) this.error = readStatus(this.#bytes, reader.span());
    else reader.skip(tag);
  }
}

/** The node of a request, if it has one. Throws `MalformedMessage`. */
export function nodeOf(bytes: Uint8Array, request: Request): Node | undefined {
  return request.node === undefined ? undefined : readNode(bytes, request.node);
}

/** The number of bytes that a request's node takes without its extensions. Throws `MalformedMessage`. */
export function nodeLengthOf(bytes: Uint8Array, request: Request): number {
  return request.node === undefined ? 0 : nodeLength(bytes, request.node);
}

const readStatus = messageReader<ErrorDetail>({
  code: single(varintTag(1), 0, (reader) => reader.varint() | 0),
  message: single(delimited(2), "", (reader) => shortened(reader.string())),
});

/** The length that is kept of a client's error message. */
export function shortened(message: string): string {
  return message.length > longestErrorText ? `${message.slice(0, longestErrorText)}…` : message;
}
