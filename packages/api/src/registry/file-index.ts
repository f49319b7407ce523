import { MalformedMessage, type Span, WireReader, wireType } from "../wire/wire-reader.js";

/** Where the files of a `google.protobuf.FileDescriptorSet` are, and which file defines a type. */
export interface FileIndex {
  /** Each file's bytes by name, in the order of the set. */
  readonly files: Map<string, Uint8Array>;
  /** The file's name by the full name of each top-level type. */
  readonly fileOf: Map<string, string>;
  /** The replacement for an imported file that no longer exists. */
  readonly insteadOf: Map<string, string>;
}

/** Field numbers of `FileDescriptorSet` and `FileDescriptorProto`, and of the name in everything inside. */
const fields = { file: 1, name: 1, package: 2, message: 4, enum: 5, service: 6, extension: 7 } as const;

/**
 * Reads only the positions of files and the names in them, since this happens at every start. Throws if the bytes are
 * not such a set.
 */
export function indexOf(set: Uint8Array): FileIndex {
  try {
    return index(set);
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error;
    throw new Error(`this is not a descriptor set: ${error.message}`, { cause: error });
  }
}

function index(set: Uint8Array): FileIndex {
  const files = new Map<string, Uint8Array>();
  const fileOf = new Map<string, string>();
  eachPart(set, { start: 0, end: set.length }, (field, part) => {
    if (field !== fields.file) return;
    let name = "";
    let prefix = "";
    const types: string[] = [];
    eachPart(set, part, (field, inner, reader) => {
      if (field === fields.name) name = reader.text(inner);
      else if (field === fields.package) prefix = `${reader.text(inner)}.`;
      else if (field >= fields.message && field <= fields.extension) types.push(nameIn(set, inner));
    });
    files.set(name, set.subarray(part.start, part.end));
    for (const type of types) fileOf.set(`${prefix}${type}`, name);
  });
  return { files, fileOf, insteadOf: new Map() };
}

function nameIn(set: Uint8Array, span: Span): string {
  let name = "";
  eachPart(set, span, (field, part, reader) => {
    if (field === fields.name) name = reader.text(part);
    return field !== fields.name;
  });
  return name;
}

/** Calls `visit` for each length-delimited field until it returns false. */
function eachPart(
  set: Uint8Array,
  span: Span,
  visit: (field: number, part: Span, reader: WireReader) => unknown,
): void {
  const reader = new WireReader(set, span);
  while (!reader.atEnd) {
    const tag = reader.tag();
    if ((tag & 7) !== wireType.lengthDelimited) reader.skip(tag);
    else if (visit(tag >>> 3, reader.span(), reader) === false) return;
  }
}
