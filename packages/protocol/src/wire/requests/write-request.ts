import type { Nonce, ResourceName, TypeUrl, Version } from "@xdskit/api";
import { fieldBytes, textBytes, WireWriter } from "@xdskit/api/wire";
import { isLocator, nameOf, parametersOf, readParameters } from "../../model/names/locator.js";
import type { SotwOrDelta } from "../basics/sotw-or-delta.js";
import { statusCode } from "../basics/status-code.js";

/** The fields that requests of SotW and of delta have. Empty and undefined ones are not written. */
export interface RequestHead {
  readonly typeUrl: TypeUrl;
  /** A serialized `Node`. */
  readonly node: Uint8Array | undefined;
  readonly nonce: Nonce;
  /** Of an `error_detail`, whose code is INVALID_ARGUMENT. */
  readonly error: string | undefined;
}

/** A `DiscoveryRequest`; v2 and v3 have the same field numbers. */
export function writeSotwRequest(head: RequestHead, version: Version, names: EncodedNames): Uint8Array {
  return concatenated([
    textField(1, version),
    head.node === undefined ? nothing : fieldBytes(2, head.node),
    names.names,
    textField(4, head.typeUrl),
    textField(5, head.nonce),
    head.error === undefined ? nothing : fieldBytes(6, status(head.error)),
    names.locators,
  ]);
}

/** The names of a SotW request, which are repeated with every acknowledgement: encoded once. */
export interface EncodedNames {
  readonly names: Uint8Array;
  readonly locators: Uint8Array;
}

/** Names as a state-of-the-world request holds them, to be kept from one request to the next. */
export function encodeNames(names: Iterable<ResourceName>): EncodedNames {
  return encodeAs(names, 3, 7);
}

/** The changes in a `DeltaDiscoveryRequest`. */
interface DeltaNames {
  readonly subscribe: Iterable<ResourceName>;
  readonly unsubscribe: Iterable<ResourceName>;
  /** `initial_resource_versions`. */
  readonly claims: Iterable<readonly [name: ResourceName, version: Version]>;
}

/** A `DeltaDiscoveryRequest`; v2 and v3 have the same field numbers. */
export function writeDeltaRequest(head: RequestHead, { subscribe, unsubscribe, claims }: DeltaNames): Uint8Array {
  const plus = encodeAs(subscribe, 3, 8);
  const minus = encodeAs(unsubscribe, 4, 9);
  return concatenated([
    head.node === undefined ? nothing : fieldBytes(1, head.node),
    textField(2, head.typeUrl),
    plus.names,
    minus.names,
    ...Array.from(claims, ([name, version]) =>
      fieldBytes(5, concatenated([textField(1, name), textField(2, version)])),
    ),
    textField(6, head.nonce),
    head.error === undefined ? nothing : fieldBytes(7, status(head.error)),
    plus.locators,
    minus.locators,
  ]);
}

/** The nonce alone: behind a request without one it makes one with. */
export function nonceField(sotwOrDelta: SotwOrDelta, nonce: Nonce): Uint8Array {
  return textField(sotwOrDelta === "sotw" ? 5 : 6, nonce);
}

function encodeAs(names: Iterable<ResourceName>, plain: number, located: number): EncodedNames {
  const texts: Uint8Array[] = [];
  const locators: Uint8Array[] = [];
  for (const name of names) {
    if (isLocator(name)) locators.push(fieldBytes(located, locator(name)));
    else texts.push(textField(plain, name));
  }
  return { names: concatenated(texts), locators: concatenated(locators) };
}

/** A `ResourceLocator`. */
function locator(name: ResourceName): Uint8Array {
  const parameters = [...readParameters(parametersOf(name))];
  const entries = parameters.map(([key, value]) =>
    fieldBytes(2, concatenated([textField(1, key), textField(2, value)])),
  );
  return concatenated([textField(1, nameOf(name)), ...entries]);
}

function status(message: string): Uint8Array {
  return concatenated([Uint8Array.of(8, statusCode.invalidArgument), textField(2, message)]);
}

const nothing = new Uint8Array();

function textField(number: number, value: string): Uint8Array {
  return value === "" ? nothing : textBytes(number, value);
}

function concatenated(parts: readonly Uint8Array[]): Uint8Array {
  const writer = new WireWriter(parts.reduce((sum, { length }) => sum + length, 0));
  for (const part of parts) writer.raw(part);
  return writer.bytes;
}
