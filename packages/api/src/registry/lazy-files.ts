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
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { type FileIndex, indexOf } from "./file-index.js";

type Type = DescMessage | DescEnum | DescExtension | DescService;

/**
 * A registry over a serialized, complete `google.protobuf.FileDescriptorSet`. A file is read with its imports when
 * something in it is first used: a server for clusters and endpoints needs an eighth of Envoy's files. Iterating over
 * all types or files reads everything. `onRead` gets the name of each file that is read. Throws if the bytes are not
 * such a set.
 */
export function lazyFiles(set: Uint8Array, onRead: (file: string) => void = () => {}): FileRegistry {
  return indexedFiles(indexOf(set), onRead);
}

/** The same over files that were located already. */
export function indexedFiles(
  { files, fileOf, insteadOf }: FileIndex,
  onRead: (file: string) => void = () => {},
): FileRegistry {
  const read = new Map<string, DescFile>();
  const underWay = new Set<string>();
  const types = new Map<string, Type>();

  function fileNamed(named: string): DescFile | undefined {
    const name = insteadOf.get(named) ?? named;
    const known = read.get(name);
    const bytes = files.get(name);
    if (known !== undefined || bytes === undefined) return known;
    if (underWay.has(name)) throw new Error(`${name} imports itself, by way of its imports`);
    underWay.add(name);
    const proto = fromBinary(FileDescriptorProtoSchema, bytes);
    if (insteadOf.size > 0) proto.dependency = proto.dependency.map((imported) => insteadOf.get(imported) ?? imported);
    let imports: readonly DescFile[];
    try {
      imports = proto.dependency.map((imported) => {
        const file = fileNamed(imported);
        if (file === undefined) throw new Error(`it lacks ${imported}, which ${name} imports`);
        return file;
      });
    } finally {
      underWay.delete(name);
    }
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
    // A nested type is in the file of its parent.
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
      // Any file may extend an extendable message. There are only a few of these, for options.
      if (extendee.proto.extensionRange.length === 0) return undefined;
      for (const type of everyType()) {
        if (type.kind === "extension" && type.number === no && type.extendee.typeName === extendee.typeName)
          return type;
      }
      return undefined;
    },
  };
}

/** A file as its importers see it: they do not see its own imports, except public ones. */
function withPublicImports(file: DescFile): DescFile {
  const passedOn = file.proto.publicDependency.flatMap((index) => file.dependencies[index] ?? []);
  return { ...file, dependencies: passedOn.map(withPublicImports) };
}
