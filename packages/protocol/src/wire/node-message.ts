import { fromBinary, toJson } from "@bufbuild/protobuf";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import { longestText } from "../model/limits.js";
import type { Node } from "../model/node.js";
import { delimited, MalformedMessage, type Span, WireReader, wireType } from "./wire-reader.js";

/** Reads `envoy.config.core.v3.Node` (v2's has the same numbers), and keeps only what servers decide by. */
export function readNode(bytes: Uint8Array, span: Span): Node {
  const reader = new WireReader(bytes, span);
  let id = "";
  let cluster = "";
  let locality = { region: "", zone: "", subZone: "" };
  let metadata: Node["metadata"] = {};
  let userAgentName = "";
  let userAgentVersion = "";
  const clientFeatures: string[] = [];
  while (!reader.atEnd) {
    const tag = reader.tag();
    switch (tag) {
      case delimited(1):
        id = shortText(reader, "node.id");
        break;
      case delimited(2):
        cluster = shortText(reader, "node.cluster");
        break;
      case delimited(3):
        metadata = readMetadata(bytes, reader.span());
        break;
      case delimited(4):
        locality = readLocality(bytes, reader.span(), "node.locality");
        break;
      case delimited(6):
        userAgentName = shortText(reader, "node.user_agent_name");
        break;
      case delimited(7):
        userAgentVersion = shortText(reader, "node.user_agent_version");
        break;
      case delimited(8):
        userAgentVersion = readBuildVersion(bytes, reader.span());
        break;
      case delimited(10):
        clientFeatures.push(shortText(reader, "node.client_features"));
        break;
      default:
        reader.skip(tag);
    }
  }
  return { id, cluster, locality, metadata, userAgentName, userAgentVersion, clientFeatures };
}

/** How many bytes of a request a node takes without its extensions, which are not kept. */
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
  const reader = new WireReader(bytes, span);
  const locality = { region: "", zone: "", subZone: "" };
  while (!reader.atEnd) {
    const tag = reader.tag();
    if (tag === delimited(1)) locality.region = shortText(reader, `${path}.region`);
    else if (tag === delimited(2)) locality.zone = shortText(reader, `${path}.zone`);
    else if (tag === delimited(3)) locality.subZone = shortText(reader, `${path}.sub_zone`);
    else reader.skip(tag);
  }
  return locality;
}

/** Text that goes to logs and pages. */
function shortText(reader: WireReader, path: string): string {
  const span = reader.span();
  checkShort(span.end - span.start, path);
  return reader.text(span);
}

/** Throws a `MalformedMessage` where a text of a node has too many bytes. */
export function checkShort(bytes: number, path: string): void {
  if (bytes <= longestText) return;
  throw new MalformedMessage(`${path} has ${bytes} bytes, and at most ${longestText} are allowed`);
}

function readMetadata(bytes: Uint8Array, { start, end }: Span): Node["metadata"] {
  try {
    // A struct may be nested deeper than the stack goes, or hold a number that JSON has not.
    return toJson(StructSchema, fromBinary(StructSchema, bytes.subarray(start, end))) as Node["metadata"];
  } catch {
    throw new MalformedMessage("node.metadata is no valid google.protobuf.Struct");
  }
}

/** `BuildVersion.version` as `1.40.0`. */
function readBuildVersion(bytes: Uint8Array, span: Span): string {
  const reader = new WireReader(bytes, span);
  const numbers = [0, 0, 0];
  while (!reader.atEnd) {
    const tag = reader.tag();
    if (tag !== delimited(1)) {
      reader.skip(tag);
      continue;
    }
    const version = new WireReader(bytes, reader.span());
    while (!version.atEnd) {
      const part = version.tag();
      const place = Math.floor(part / 8) - 1;
      if ((part & 7) === wireType.varint && place < 3) numbers[place] = version.varint();
      else version.skip(part);
    }
  }
  return numbers.join(".");
}
