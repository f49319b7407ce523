import {
  createFileRegistry,
  type DescEnum,
  type DescExtension,
  type DescFile,
  type DescMessage,
  type DescService,
  type FileRegistry,
  fromBinary,
} from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { WireType } from "@bufbuild/protobuf/wire";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";

type Type = DescMessage | DescEnum | DescExtension | DescService;

/**
 * A registry over a serialized `google.protobuf.FileDescriptorSet` that has every import. A file is read when something in it is first asked for, and with it
 * what it imports: a server for clusters and endpoints needs an eighth of Envoy's files. Who walks over all types or files reads all.
 * `onRead` hears the name of each file that is read. Throws where the bytes are no such set.
 */
export function lazyFiles(set: Uint8Array, onRead: (file: string) => void = () => {}): FileRegistry {
  const { files, fileOf } = indexOf(set);
  const read = new Map<string, DescFile>();
  const types = new Map<string, Type>();

  function fileNamed(name: string): DescFile | undefined {
    const known = read.get(name);
    const bytes = files.get(name);
    if (known !== undefined || bytes === undefined) return known;
    const proto = fromBinary(FileDescriptorProtoSchema, bytes);
    const imports = proto.dependency.map((imported) => {
      const file = fileNamed(imported);
      if (file === undefined) throw new Error(`it lacks ${imported}, which ${name} imports`);
      return file;
    });
    const visible = new Map(imports.map((file) => [file.proto.name, withPublicImports(file)]));
    const file = createFileRegistry(proto, (imported) => visible.get(imported)).getFile(name);
    if (file === undefined) throw new Error(`${name} holds another file`);
    file.dependencies.splice(0, file.dependencies.length, ...imports);
    read.set(name, file);
    for (const type of nestedTypes(file)) types.set(type.typeName, type);
    onRead(name);
    return file;
  }

  function get(typeName: string): Type | undefined {
    const known = types.get(typeName);
    if (known !== undefined) return known;
    // What is nested in a message is in the message's file.
    for (let name = typeName; ; name = name.slice(0, name.lastIndexOf("."))) {
      const file = fileOf.get(name);
      if (file !== undefined) return read.has(file) || fileNamed(file) === undefined ? undefined : types.get(typeName);
      if (!name.includes(".")) return undefined;
    }
  }

  function* everyFile(): Generator<DescFile> {
    for (const name of files.keys()) yield fileNamed(name) as DescFile;
  }

  function* everyType(): Generator<Type> {
    for (const file of everyFile()) yield* nestedTypes(file);
  }

  const ofKind = <Kind extends Type["kind"]>(kind: Kind, typeName: string) => {
    const type = get(typeName);
    return type?.kind === kind ? (type as Extract<Type, { kind: Kind }>) : undefined;
  };
  return {
    kind: "registry",
    [Symbol.iterator]: everyType,
    get files() {
      return everyFile();
    },
    getFile: fileNamed,
    get,
    getMessage: (typeName) => ofKind("message", typeName),
    getEnum: (typeName) => ofKind("enum", typeName),
    getService: (typeName) => ofKind("service", typeName),
    getExtension: (typeName) => ofKind("extension", typeName),
    getExtensionFor(extendee, no) {
      // Any file may extend a message that says it may be extended; of those there are a few, for options.
      if (extendee.proto.extensionRange.length === 0) return undefined;
      for (const type of everyType()) {
        if (type.kind === "extension" && type.number === no && type.extendee.typeName === extendee.typeName)
          return type;
      }
      return undefined;
    },
  };
}

/** A file as those that import it see it: what lies behind its own imports is none of theirs, unless it passes them on. */
function withPublicImports(file: DescFile): DescFile {
  const passedOn = file.proto.publicDependency.flatMap((index) => file.dependencies[index] ?? []);
  return { ...file, dependencies: passedOn.map(withPublicImports) };
}

interface Index {
  /** Each file's bytes, by its name, in the set's order. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** The name of the file, by the full name of each type that is not nested in another. */
  readonly fileOf: ReadonlyMap<string, string>;
}

/** Field numbers of `FileDescriptorSet`, of `FileDescriptorProto` and, the name, of all that is in one. */
const fields = { file: 1, name: 1, package: 2, message: 4, enum: 5, service: 6, extension: 7 } as const;

/** Reads no more than where files begin and the names in them: this is done at every start. */
function indexOf(set: Uint8Array): Index {
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
  return { files, fileOf };
}

function nameIn(buffer: Buffer, start: number, end: number): string {
  let name = "";
  eachPart(buffer, start, end, (field, start, end) => {
    if (field === fields.name) name = buffer.toString("utf8", start, end);
    return field !== fields.name;
  });
  return name;
}

/** Calls `visit` for each field with a length, strings and messages, until it returns false. */
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
