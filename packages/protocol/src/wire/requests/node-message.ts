import { fromBinary, toJson } from "@bufbuild/protobuf";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import {
  delimited,
  embedded,
  type FieldReader,
  listField,
  MalformedMessage,
  messageReader,
  type Span,
  single,
  uint32,
  WireReader,
  wireType,
} from "@xdskit/api/wire";
import { longestText } from "../../model/basics/limits.js";
import type { Node } from "../../model/basics/node.js";

const readFields = messageReader<Node>({
  id: shortText(1, "node.id"),
  cluster: shortText(2, "node.cluster"),
  locality: single(delimited(4), { region: "", zone: "", subZone: "" }, (reader) =>
    readLocality(reader.bytes, reader.span(), "node.locality"),
  ),
  metadata: single(delimited(3), {}, readMetadata),
  userAgentName: shortText(6, "node.user_agent_name"),
  userAgentVersion: single([delimited(7), delimited(8)], "", (reader, _, tag) =>
    tag === delimited(7) ? readShortText(reader, "node.user_agent_version") : readBuildVersion(reader),
  ),
  clientFeatures: listField(delimited(10), (reader) => readShortText(reader, "node.client_features")),
});

/** Reads `envoy.config.core.v3.Node` (v2's has the same numbers), and keeps only the fields that servers decide by. */
export function readNode(bytes: Uint8Array, span: Span): Node {
  return readFields(bytes, span);
}

/** The number of bytes of a request that a node takes without its extensions, which are not kept. */
export function nodeLength(bytes: Uint8Array, span: Span): number {
  const reader = new WireReader(bytes, span);
  let length = 0;
  while (!reader.atEnd) {
    const tag = reader.tag();
    if ((tag & 7) !== wireType.lengthDelimited) {
      reader.skip(tag);
      continue;
    }
    const { start, end } = reader.span();
    if (tag !== delimited(9)) length += 2 + end - start;
  }
  return length;
}

/** Reads `envoy.config.core.v3.Locality`, which is at `path`. Throws `MalformedMessage`. */
export function readLocality(bytes: Uint8Array, span: Span, path: string): Node["locality"] {
  return readLocalityAt(bytes, span, path);
}

const readLocalityAt = messageReader<Node["locality"], string>({
  region: single(delimited(1), "", (reader, path) => readShortText(reader, `${path}.region`)),
  zone: single(delimited(2), "", (reader, path) => readShortText(reader, `${path}.zone`)),
  subZone: single(delimited(3), "", (reader, path) => readShortText(reader, `${path}.sub_zone`)),
});

function shortText(field: number, path: string): FieldReader<string> {
  return single(delimited(field), "", (reader) => readShortText(reader, path));
}

/** Text that goes to logs and pages. */
function readShortText(reader: WireReader, path: string): string {
  const span = reader.span();
  checkShort(span.end - span.start, path);
  return reader.text(span);
}

/** Throws a `MalformedMessage` if a text of a node has too many bytes. */
export function checkShort(bytes: number, path: string): void {
  if (bytes <= longestText) return;
  throw new MalformedMessage(`${path} has ${bytes} bytes, and at most ${longestText} are allowed`);
}

function readMetadata(reader: WireReader): Node["metadata"] {
  const { start, end } = reader.span();
  try {
    // A struct may be nested deeper than the stack goes, or hold a number that JSON has not.
    return toJson(StructSchema, fromBinary(StructSchema, reader.bytes.subarray(start, end))) as Node["metadata"];
  } catch {
    throw new MalformedMessage("node.metadata is no valid google.protobuf.Struct");
  }
}

const readNumbers = messageReader({ major: uint32(1), minor: uint32(2), patch: uint32(3) });
const readVersion = messageReader({
  numbers: embedded(1, { major: 0, minor: 0, patch: 0 }, readNumbers),
});

/** `BuildVersion.version` as `1.40.0`. */
function readBuildVersion(reader: WireReader): string {
  const { major, minor, patch } = readVersion(reader.bytes, reader.span()).numbers;
  return [major, minor, patch].join(".");
}
