import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/*
 * The few messages of etcd's API (`etcdserverpb`, version 3) that are used here, by their field numbers.
 * https://etcd.io/docs/v3.5/learning/api/
 */

/** A key with its value. */
export interface KeyValue {
  readonly key: string;
  readonly value: Uint8Array;
  /** The store's revision that last wrote it. */
  readonly writtenAt: number;
}

/** Keys from `key` on; without `end` only that one. */
export interface Range {
  readonly key: string;
  /** The first key that is not in it. */
  readonly end?: string | undefined;
  /** 0: all. */
  readonly limit?: number | undefined;
  readonly descending?: boolean | undefined;
  readonly keysOnly?: boolean | undefined;
  readonly countOnly?: boolean | undefined;
  /** As of this revision of the store; 0: now. */
  readonly at?: number | undefined;
}

/** What a range holds. */
export interface RangeAnswer {
  readonly found: readonly KeyValue[];
  /** More keys are in it than the limit. */
  readonly more: boolean;
  readonly count: number;
  /** The store's revision that answered. */
  readonly revision: number;
}

/** What must hold for a transaction. */
export type Comparison =
  | { readonly key: string; readonly value: string }
  /** The key must not be there. */
  | { readonly key: string; readonly value: undefined }
  /** The key must not have been written since. */
  | { readonly key: string; readonly writtenAt: number };

/** What a transaction does. */
export type Operation =
  | { readonly kind: "put"; readonly key: string; readonly value: Uint8Array | string; readonly lease?: bigint }
  | { readonly kind: "delete"; readonly key: string; readonly end?: string }
  | { readonly kind: "range"; readonly range: Range };

/** A transaction: all operations, or none where a comparison does not hold. */
export interface Transaction {
  readonly compare: readonly Comparison[];
  readonly operations: readonly Operation[];
}

/** What became of a transaction. `ranges`: the answers of its range operations, in their order. */
export interface TransactionAnswer {
  readonly succeeded: boolean;
  readonly revision: number;
  /** The ID of the cluster that answered. */
  readonly cluster: string;
  readonly ranges: readonly RangeAnswer[];
}

const utf8 = new TextEncoder();
const fromUtf8 = new TextDecoder();

export function writeRange(range: Range): Uint8Array {
  return rangeInto(new BinaryWriter(), range).finish();
}

function rangeInto(writer: BinaryWriter, range: Range): BinaryWriter {
  const { key, end, limit = 0, descending = false, keysOnly = false, countOnly = false, at = 0 } = range;
  writer.tag(1, WireType.LengthDelimited).bytes(utf8.encode(key));
  if (end !== undefined) writer.tag(2, WireType.LengthDelimited).bytes(utf8.encode(end));
  if (limit > 0) writer.tag(3, WireType.Varint).int64(limit);
  if (at > 0) writer.tag(4, WireType.Varint).int64(at);
  if (descending) writer.tag(5, WireType.Varint).int32(2);
  if (keysOnly) writer.tag(8, WireType.Varint).bool(true);
  if (countOnly) writer.tag(9, WireType.Varint).bool(true);
  return writer;
}

export function readRange(bytes: Uint8Array): RangeAnswer {
  const answer = fieldsOf(bytes);
  return {
    found: answer.all(2).map(readKeyValue),
    more: answer.number(3) !== 0,
    count: answer.number(4),
    revision: readHeader(answer.bytes(1)).revision,
  };
}

function readKeyValue(bytes: Uint8Array): KeyValue {
  const keyValue = fieldsOf(bytes);
  return { key: keyValue.text(1), value: keyValue.bytes(5), writtenAt: keyValue.number(3) };
}

/** `ResponseHeader`. */
function readHeader(bytes: Uint8Array): { readonly cluster: string; readonly revision: number } {
  const header = fieldsOf(bytes);
  return { cluster: `${BigInt.asUintN(64, header.integer(1))}`, revision: header.number(3) };
}

export function writeTransaction({ compare, operations }: Transaction): Uint8Array {
  const writer = new BinaryWriter();
  for (const each of compare) nested(writer, 1, () => comparisonInto(writer, each));
  for (const each of operations) nested(writer, 2, () => operationInto(writer, each));
  return writer.finish();
}

function nested(writer: BinaryWriter, field: number, write: () => void): void {
  writer.tag(field, WireType.LengthDelimited).fork();
  write();
  writer.join();
}

/** The result is EQUAL, which is 0 and left out. */
function comparisonInto(writer: BinaryWriter, comparison: Comparison): void {
  const { key } = comparison;
  const target = "writtenAt" in comparison ? 2 : comparison.value === undefined ? 1 : 3;
  writer.tag(2, WireType.Varint).int32(target);
  writer.tag(3, WireType.LengthDelimited).bytes(utf8.encode(key));
  if ("writtenAt" in comparison) writer.tag(6, WireType.Varint).int64(comparison.writtenAt);
  else if (comparison.value === undefined) writer.tag(5, WireType.Varint).int64(0);
  else writer.tag(7, WireType.LengthDelimited).bytes(utf8.encode(comparison.value));
}

function operationInto(writer: BinaryWriter, operation: Operation): void {
  if (operation.kind === "range") nested(writer, 1, () => rangeInto(writer, operation.range));
  else if (operation.kind === "put") nested(writer, 2, () => putInto(writer, operation));
  // `DeleteRangeRequest` has the first two fields of `RangeRequest`.
  else nested(writer, 3, () => rangeInto(writer, { key: operation.key, end: operation.end }));
}

function putInto(writer: BinaryWriter, { key, value, lease = 0n }: Extract<Operation, { kind: "put" }>): void {
  writer.tag(1, WireType.LengthDelimited).bytes(utf8.encode(key));
  writer.tag(2, WireType.LengthDelimited).bytes(typeof value === "string" ? utf8.encode(value) : value);
  if (lease !== 0n) writer.tag(3, WireType.Varint).int64(lease);
}

export function readTransaction(bytes: Uint8Array): TransactionAnswer {
  const answer = fieldsOf(bytes);
  const ranges = answer.all(3).flatMap((response) => fieldsOf(response).all(1).map(readRange));
  return { succeeded: answer.number(2) !== 0, ...readHeader(answer.bytes(1)), ranges };
}

/** `LeaseGrantRequest`: a lease of this many seconds, whose ID etcd picks. */
export function writeLeaseGrant(seconds: number): Uint8Array {
  return new BinaryWriter().tag(1, WireType.Varint).int64(seconds).finish();
}

/** `LeaseRevokeRequest`, and `LeaseKeepAliveRequest`. */
export function writeLeaseId(lease: bigint): Uint8Array {
  return new BinaryWriter().tag(1, WireType.Varint).int64(lease).finish();
}

/** The ID in a `LeaseGrantResponse`. */
export function readLeaseId(bytes: Uint8Array): bigint {
  return fieldsOf(bytes).integer(2);
}

/** The seconds that a lease has left, in a `LeaseKeepAliveResponse`; 0: it is over. */
export function readLeaseTtl(bytes: Uint8Array): number {
  return fieldsOf(bytes).number(3);
}

/** `WatchRequest`: tell what changes of these keys from a revision of the store on. */
export function writeWatch({ key, end, from }: { readonly key: string; readonly end: string; readonly from: number }) {
  const writer = new BinaryWriter().tag(1, WireType.LengthDelimited).fork();
  writer.tag(1, WireType.LengthDelimited).bytes(utf8.encode(key));
  writer.tag(2, WireType.LengthDelimited).bytes(utf8.encode(end));
  writer.tag(3, WireType.Varint).int64(from);
  return writer.join().finish();
}

/** What a `WatchResponse` says: something changed, or nothing more will be told and why. */
export function readWatch(bytes: Uint8Array): { readonly hasEvents: boolean; readonly canceled: string | undefined } {
  const answer = fieldsOf(bytes);
  const hasEvents = answer.all(11).length > 0;
  if (answer.number(5) > 0) return { hasEvents, canceled: "what it missed was compacted" };
  return { hasEvents, canceled: answer.number(4) === 0 ? undefined : answer.text(6) || "etcd ended it" };
}

export function writeAuthenticate(user: string, password: string): Uint8Array {
  const writer = new BinaryWriter();
  writer.tag(1, WireType.LengthDelimited).string(user);
  return writer.tag(2, WireType.LengthDelimited).string(password).finish();
}

/** The token in an `AuthenticateResponse`. */
export function readToken(bytes: Uint8Array): string {
  return fieldsOf(bytes).text(2);
}

/** The fields of a message by their numbers; one that is not there has its default. All integers are varints. */
function fieldsOf(bytes: Uint8Array) {
  const integers = new Map<number, bigint>();
  const lists = new Map<number, Uint8Array[]>();
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (type === WireType.Varint) integers.set(field, BigInt(reader.int64()));
    else if (type !== WireType.LengthDelimited) reader.skip(type);
    else {
      const list = lists.get(field) ?? [];
      list.push(reader.bytes());
      lists.set(field, list);
    }
  }
  const all = (field: number): readonly Uint8Array[] => lists.get(field) ?? [];
  const last = (field: number) => all(field).at(-1) ?? new Uint8Array();
  return {
    integer: (field: number) => integers.get(field) ?? 0n,
    number: (field: number) => Number(integers.get(field) ?? 0n),
    bytes: last,
    text: (field: number) => fromUtf8.decode(last(field)),
    all,
  };
}
