import { WireType } from "@bufbuild/protobuf/wire";

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
  const buffer = Buffer.from(set.buffer, set.byteOffset, set.byteLength);
  const files = new Map<string, Uint8Array>();
  const fileOf = new Map<string, string>();
  eachPart(buffer, 0, buffer.length, (field, start, end) => {
    if (field !== fields.file) return;
    let name = "";
    let prefix = "";
    const types: string[] = [];
    eachPart(buffer, start, end, (field, start, end) => {
      if (field === fields.name) name = buffer.toString("utf8", start, end);
      else if (field === fields.package) prefix = `${buffer.toString("utf8", start, end)}.`;
      else if (field >= fields.message && field <= fields.extension) types.push(nameIn(buffer, start, end));
    });
    files.set(name, set.subarray(start, end));
    for (const type of types) fileOf.set(`${prefix}${type}`, name);
  });
  return { files, fileOf, insteadOf: new Map() };
}

function nameIn(buffer: Buffer, start: number, end: number): string {
  let name = "";
  eachPart(buffer, start, end, (field, start, end) => {
    if (field === fields.name) name = buffer.toString("utf8", start, end);
    return field !== fields.name;
  });
  return name;
}

/** Calls `visit` for each length-delimited field until it returns false. */
function eachPart(
  buffer: Buffer,
  start: number,
  end: number,
  visit: (field: number, start: number, end: number) => unknown,
): void {
  let position = start;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; position < end; factor *= 128) {
      const byte = buffer[position++] as number;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
    throw new Error("a descriptor set ends too early");
  };
  while (position < end) {
    const tag = varint();
    const wireType = tag & 7;
    if (wireType === WireType.Varint) varint();
    else if (wireType === WireType.LengthDelimited) {
      const length = varint();
      position += length;
      if (position > end) throw new Error("a descriptor set ends too early");
      if (visit(tag >>> 3, position - length, position) === false) return;
    } else throw new Error(`a descriptor set has a field of wire type ${wireType}`);
  }
}
