import type { Nonce, TypeUrl, Version } from "@xdskit/api";
import type { Node } from "../node.js";
import { type ClaimedVersions, ClaimsReader, noClaims } from "./claimed-versions.js";
import { RequestNames } from "./names.js";
import { nodeLength, readNode } from "./node-message.js";
import { delimited, type Span, WireReader, wireType } from "./wire-reader.js";

/** `google.rpc.Status`: why a client rejected a response. */
export interface ErrorDetail {
  readonly code: number;
  /** Cut to 4,096 characters: it goes to logs and ledgers. */
  readonly message: string;
}

/** What requests of both variants have. */
export interface Request {
  /** All of it, only good for as long as the event lasts. */
  readonly bytes: Uint8Array;
  /** The place of the node, for `nodeOf`: only the first request of a stream is asked for it (rules 113–115). */
  readonly node: Span | undefined;
  readonly typeUrl: TypeUrl;
  /** Empty where the request answers no response. */
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

/** How many names and claims a request may have. */
export interface MostKept {
  readonly names: number;
  readonly claims: number;
}

const all: MostKept = { names: Number.POSITIVE_INFINITY, claims: Number.POSITIVE_INFINITY };

/** Reads a `DiscoveryRequest`, v2's or v3's. Throws `MalformedMessage`, and `TooManyFields`. */
export function readSotwRequest(bytes: Uint8Array, most: MostKept = all): SotwRequest {
  const reader = new WireReader(bytes);
  const names = new RequestNames(most.names);
  let node: Span | undefined;
  let version = "";
  let typeUrl = "";
  let nonce = "";
  let error: ErrorDetail | undefined;
  while (!reader.atEnd) {
    const from = reader.position;
    const tag = reader.tag();
    switch (tag) {
      case delimited(1):
        version = reader.string();
        break;
      case delimited(2):
        node = reader.span();
        break;
      case delimited(3):
        names.add(reader, from);
        break;
      case delimited(4):
        typeUrl = reader.string();
        break;
      case delimited(5):
        nonce = reader.string();
        break;
      case delimited(6):
        error = readStatus(bytes, reader.span());
        break;
      case delimited(7):
        names.addLocator(reader);
        break;
      default:
        reader.skip(tag);
    }
  }
  names.learn();
  return { bytes, node, version, names, typeUrl, nonce, error };
}

/** Reads a `DeltaDiscoveryRequest`, v2's or v3's. Throws `MalformedMessage`, and `TooManyFields`. */
export function readDeltaRequest(bytes: Uint8Array, most: MostKept = all): DeltaRequest {
  const reader = new WireReader(bytes);
  const subscribe = new RequestNames(most.names);
  const unsubscribe = new RequestNames(most.names);
  let claims: ClaimsReader | undefined;
  let node: Span | undefined;
  let typeUrl = "";
  let nonce = "";
  let error: ErrorDetail | undefined;
  while (!reader.atEnd) {
    const from = reader.position;
    const tag = reader.tag();
    switch (tag) {
      case delimited(1):
        node = reader.span();
        break;
      case delimited(2):
        typeUrl = reader.string();
        break;
      case delimited(3):
        subscribe.add(reader, from);
        break;
      case delimited(4):
        unsubscribe.add(reader, from);
        break;
      case delimited(5):
        claims ??= new ClaimsReader(most.claims);
        claims.add(reader, from);
        break;
      case delimited(6):
        nonce = reader.string();
        break;
      case delimited(7):
        error = readStatus(bytes, reader.span());
        break;
      case delimited(8):
        subscribe.addLocator(reader);
        break;
      case delimited(9):
        unsubscribe.addLocator(reader);
        break;
      default:
        reader.skip(tag);
    }
  }
  subscribe.learn();
  return { bytes, node, subscribe, unsubscribe, claimed: claims?.finish() ?? noClaims, typeUrl, nonce, error };
}

/** The node of a request, if it has one. Throws `MalformedMessage`. */
export function nodeOf(bytes: Uint8Array, request: Request): Node | undefined {
  return request.node === undefined ? undefined : readNode(bytes, request.node);
}

/** How many bytes the node of a request takes, but for its extensions. Throws `MalformedMessage`. */
export function nodeLengthOf(bytes: Uint8Array, request: Request): number {
  return request.node === undefined ? 0 : nodeLength(bytes, request.node);
}

const longestError = 4096;

function readStatus(bytes: Uint8Array, span: Span): ErrorDetail {
  const reader = new WireReader(bytes, span);
  let code = 0;
  let message = "";
  while (!reader.atEnd) {
    const tag = reader.tag();
    if (tag === 8 + wireType.varint) code = reader.varint() | 0;
    else if (tag === delimited(2)) message = reader.string();
    else reader.skip(tag);
  }
  return { code, message: shortened(message) };
}

/** As long as is kept of a client's error message. */
export function shortened(message: string): string {
  return message.length > longestError ? `${message.slice(0, longestError)}…` : message;
}
