import { create, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { envoySchema, getOrInsert, maxFindings, type RedactedBody, redactJson, type Steps } from "@xdskit/api";
import type { NodeSchema } from "@xdskit/api/envoy/config/core/v3/base";
import type { Node } from "@xdskit/protocol";
import type { NodeRevision, SourceTrouble } from "../../contracts/nodes/node-status.js";
import { newestOf, type ReportedStream, streamsByNode } from "../../contracts/nodes/reported-stream.js";
import type { Moment } from "../node-status/moment.js";
import { typeReport } from "../node-status/type-report.js";
import { entriesBehind, resourceEntries, type TypeOnStream } from "./resource-entries.js";
import { revisionsEntry, serverEntry } from "./server-entry.js";
import { type StatusEntry, writeEntry } from "./status-entry.js";
import type { StatusRequest } from "./status-request.js";
import { typeEntries } from "./type-entries.js";

/** The inputs of an answer. */
export interface StatusSource {
  /** Open streams, in the order in which they were opened. */
  readonly streams: Iterable<ReportedStream>;
  readonly redacted: RedactedBody;
  now(): Moment;
  /** Sources whose newest content is not served. */
  troubles(): readonly SourceTrouble[];
  /** The largest answer, in bytes. */
  readonly maxBytes: number;
}

/** An answer would be larger than the limit. */
export class AnswerTooLarge extends Error {}

/** One server's report about one node, as fields of a `ClientConfig`. */
export interface StatusPart {
  readonly id: string;
  readonly node: Uint8Array;
  readonly entries: readonly Uint8Array[];
}

/** Some nodes of all, by id. */
export interface StatusCut {
  /** Those behind this id. */
  readonly after: string;
  /** It ends with the node that brings it to this many bytes. */
  readonly bytes: number;
}

/** Of nodes, by id. */
export type RevisionsById = ReadonlyMap<string, readonly NodeRevision[]>;

interface AnswerLimits {
  readonly maxBytes: number;
  readonly request: StatusRequest;
}

/** Describes nodes step by step. `hasMore`: the cut left nodes out. */
export type StatusParts = Steps<{ readonly parts: readonly StatusPart[]; readonly hasMore: boolean }>;

/**
 * Describes the state of each node, step by step, so that streams get their turn in between. Each stream is looked at
 * when its turn comes; a step holds on to immutable sets only. Throws AnswerTooLarge.
 */
export function* statusParts(source: StatusSource, request: StatusRequest, cut?: StatusCut): StatusParts {
  const parts: StatusPart[] = [];
  const writer = new BinaryWriter();
  let bytes = 0;
  /** Takes the written bytes. */
  const take = (): Uint8Array => {
    const part = writer.finish();
    bytes += part.byteLength;
    if (bytes > source.maxBytes) throw new AnswerTooLarge(tooLarge(source.maxBytes, request));
    return part;
  };
  // Reading and writing a content costs more than naming it.
  const perStep = request.contents ? 4 : 32;
  for (const { node, open } of nodesOf(source, cut)) {
    yield;
    if (!request.matches(node)) continue;
    if (cut !== undefined && bytes > cut.bytes) return { parts, hasMore: true };
    writeNode(writer, node);
    const written = take();
    const entries: Uint8Array[] = [];
    let steps = 0;
    for (const stream of open) {
      for (const entry of entriesOf(stream, source, request)) {
        if (entry !== undefined) writeEntry(writer, entry);
        if (++steps % perStep > 0) continue;
        entries.push(take());
        yield;
      }
    }
    entries.push(take());
    parts.push({ id: node.id, node: written, entries });
  }
  return { parts, hasMore: false };
}

/**
 * A `ClientStatusResponse` of the servers' reports, with one `ClientConfig` for each node. Throws AnswerTooLarge,
 * unless all of it is one server's report.
 */
export function statusAnswer(
  servers: readonly (readonly StatusPart[])[],
  troubles: readonly SourceTrouble[],
  { maxBytes, request, revisions }: AnswerLimits & { readonly revisions?: RevisionsById | undefined },
): Uint8Array {
  const byId = new Map<string, Uint8Array[]>();
  for (const { id, node, entries } of servers.flat()) {
    getOrInsert(byId, id, () => [node]).push(...entries);
  }
  for (const [id, fields] of byId) {
    const known = revisions?.get(id);
    if (known === undefined) continue;
    const writer = new BinaryWriter();
    writeEntry(writer, revisionsEntry(known));
    fields.push(writer.finish());
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (const fields of byId.values()) {
    const size = fields.reduce((sum, { byteLength }) => sum + byteLength, 0);
    const header = new BinaryWriter().tag(1, WireType.LengthDelimited).uint32(size).finish();
    bytes += header.byteLength + size;
    if (bytes > maxBytes) throw new AnswerTooLarge(tooLarge(maxBytes, request));
    chunks.push(header, ...fields);
  }
  if (request.summary && troubles.length > 0) {
    const writer = new BinaryWriter().tag(1, WireType.LengthDelimited).fork();
    writeEntry(writer, serverEntry(troubles));
    chunks.push(writer.join().finish());
  }
  return Buffer.concat(chunks);
}

/** The nodes, as their newest streams describe them, with all their streams. `cut`: sorted by id, behind one. */
function nodesOf({ streams }: StatusSource, cut: StatusCut | undefined) {
  const nodes = Array.from(streamsByNode(streams).values(), (open) => ({ node: newestOf(open).node, open }));
  if (cut === undefined) return nodes;
  return nodes.filter(({ node }) => node.id > cut.after).sort((a, b) => (a.node.id < b.node.id ? -1 : 1));
}

function* entriesOf(
  stream: ReportedStream,
  { redacted, now }: StatusSource,
  { contents, summary }: StatusRequest,
): Iterable<StatusEntry | undefined> {
  // Its stream may have ended meanwhile.
  const { opened, snapshot, newest, rollout, heldBackWhy, outOfSyncSince, lagFrom } = stream;
  if (opened === undefined) return;
  const targets = { snapshot, newest, rollout, heldBackWhy, outOfSyncSince, lagFrom };
  const moment = now();
  const statuses = stream.status();
  for (const status of statuses) {
    const of: TypeOnStream = { status, targets, moment, variant: opened.method.variant };
    if (!summary) {
      yield* resourceEntries(of, contents ? redacted : undefined);
      continue;
    }
    const report = typeReport(status, targets, statuses, moment);
    yield* typeEntries(report, status.inFlightCount);
    // Most clients have everything, and need no search.
    if (report.behind === 0 && report.rejected === undefined && report.names <= report.resources) continue;
    let listed = 0;
    for (const entry of entriesBehind(of)) {
      yield entry;
      if (entry !== undefined && ++listed === maxFindings) break;
    }
  }
}

/** Writes it as a field of its `ClientConfig`. */
function writeNode(writer: BinaryWriter, node: Node): void {
  const { id, cluster, locality, metadata, userAgentName, userAgentVersion, clientFeatures } = node;
  const schema = envoySchema<typeof NodeSchema>("envoy.config.core.v3.Node");
  const message = create(schema, {
    id,
    cluster,
    locality,
    userAgentName,
    clientFeatures: [...clientFeatures],
    metadata: redactJson(metadata) as NonNullable<Parameters<typeof create<typeof NodeSchema>>[1]>["metadata"],
    userAgentVersionType: { case: "userAgentVersion", value: userAgentVersion },
  });
  writer.tag(1, WireType.LengthDelimited).bytes(toBinary(schema, message));
}

function tooLarge(maxBytes: number, { contents }: StatusRequest): string {
  const without = contents ? ", or without contents (exclude_resource_contents)" : "";
  return `the answer has more than ${maxBytes} bytes: ask for fewer nodes (node_matchers)${without}`;
}
