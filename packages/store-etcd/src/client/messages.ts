import type { MessageInitShape } from "@bufbuild/protobuf";
import type { KeyValue as EtcdKeyValue } from "../../gen/kv_pb.js";
import {
  Compare_CompareTarget,
  type CompareSchema,
  RangeRequest_SortOrder,
  type RangeResponse,
  type RequestOpSchema,
  type TxnRequestSchema,
  type TxnResponse,
} from "../../gen/rpc_pb.js";

/*
 * What the store says to etcd and hears of it, and how that stands in etcd's messages: keys are bytes there, and
 * revisions 64-bit integers.
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

/** How all requests name keys. */
export const keysOf = ({ key, end = "" }: { readonly key: string; readonly end?: string | undefined }) => ({
  key: utf8.encode(key),
  rangeEnd: utf8.encode(end),
});

export function rangeRequest(range: Range) {
  const { limit = 0, descending = false, keysOnly = false, countOnly = false, at = 0 } = range;
  const sortOrder = descending ? RangeRequest_SortOrder.DESCEND : RangeRequest_SortOrder.NONE;
  return { ...keysOf(range), limit: BigInt(limit), revision: BigInt(at), sortOrder, keysOnly, countOnly };
}

export function rangeAnswer({ header, kvs, more, count }: RangeResponse): RangeAnswer {
  return { found: kvs.map(keyValueOf), more, count: Number(count), revision: Number(header?.revision ?? 0n) };
}

function keyValueOf({ key, value, modRevision }: EtcdKeyValue): KeyValue {
  return { key: fromUtf8.decode(key), value, writtenAt: Number(modRevision) };
}

export function txnRequest({ compare, operations }: Transaction): MessageInitShape<typeof TxnRequestSchema> {
  return {
    compare: compare.map(compareOf),
    success: operations.map((operation) => ({ request: requestOf(operation) })),
  };
}

/** The result is EQUAL, which is 0. */
function compareOf(comparison: Comparison): MessageInitShape<typeof CompareSchema> {
  const key = utf8.encode(comparison.key);
  const { VALUE, CREATE, MOD } = Compare_CompareTarget;
  if ("writtenAt" in comparison)
    return { key, target: MOD, targetUnion: { case: "modRevision", value: BigInt(comparison.writtenAt) } };
  if (comparison.value === undefined)
    return { key, target: CREATE, targetUnion: { case: "createRevision", value: 0n } };
  return { key, target: VALUE, targetUnion: { case: "value", value: utf8.encode(comparison.value) } };
}

function requestOf(operation: Operation): MessageInitShape<typeof RequestOpSchema>["request"] {
  if (operation.kind === "range") return { case: "requestRange", value: rangeRequest(operation.range) };
  if (operation.kind === "delete") return { case: "requestDeleteRange", value: keysOf(operation) };
  const { key, value, lease = 0n } = operation;
  const bytes = typeof value === "string" ? utf8.encode(value) : value;
  return { case: "requestPut", value: { key: utf8.encode(key), value: bytes, lease } };
}

export function transactionAnswer({ header, succeeded, responses }: TxnResponse): TransactionAnswer {
  const ranges = responses.flatMap(({ response }) => (response.case === "responseRange" ? [response.value] : []));
  const { revision = 0n, clusterId = 0n } = header ?? {};
  return { succeeded, revision: Number(revision), cluster: `${clusterId}`, ranges: ranges.map(rangeAnswer) };
}
