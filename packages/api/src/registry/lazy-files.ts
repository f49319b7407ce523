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
import { type FileDescriptorProto, FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
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
export function indexedFiles(index: FileIndex, onRead: (file: string) => void = () => {}): FileRegistry {
  const reading = new ReadFiles(index, onRead);

  function* everyFile(): Generator<DescFile> {
    for (const name of index.files.keys()) yield reading.file(name) as DescFile;
  }

  function* everyType(): Generator<Type> {
    for (const file of everyFile()) yield* nestedTypes(file);
  }

  const ofKind = <Kind extends Type["kind"]>(kind: Kind, typeName: string) => {
    const type = reading.type(typeName);
    return type?.kind === kind ? (type as Extract<Type, { kind: Kind }>) : undefined;
  };
  return {
    kind: "registry",
    [Symbol.iterator]: everyType,
    get files() {
      return everyFile();
    },
    getFile: (name) => reading.file(name),
    get: (typeName) => reading.type(typeName),
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

/** The files that were read, each once, with all that they import. */
class ReadFiles {
  readonly #index: FileIndex;
  readonly #onRead: (file: string) => void;
  readonly #read = new Map<string, DescFile>();
  readonly #underWay = new Set<string>();
  readonly #types = new Map<string, Type>();

  constructor(index: FileIndex, onRead: (file: string) => void) {
    this.#index = index;
    this.#onRead = onRead;
  }

  /** Reads it if that is not done yet. Undefined: there is none of that name. */
  file(named: string): DescFile | undefined {
    const { files, insteadOf } = this.#index;
    const name = insteadOf.get(named) ?? named;
    const known = this.#read.get(name);
    const bytes = files.get(name);
    if (known !== undefined || bytes === undefined) return known;
    const proto = fromBinary(FileDescriptorProtoSchema, bytes);
    if (insteadOf.size > 0) proto.dependency = proto.dependency.map((imported) => insteadOf.get(imported) ?? imported);
    const imports = this.#imports(name, proto);
    const visible = new Map(imports.map((file) => [file.proto.name, withPublicImports(file)]));
    const file = createFileRegistry(proto, (imported) => visible.get(imported)).getFile(name);
    if (file === undefined) throw new Error(`${name} holds another file`);
    file.dependencies.splice(0, file.dependencies.length, ...imports);
    this.#read.set(name, file);
    for (const type of nestedTypes(file)) this.#types.set(type.typeName, type);
    this.#onRead(name);
    return file;
  }

  #imports(name: string, { dependency }: FileDescriptorProto): readonly DescFile[] {
    if (this.#underWay.has(name)) throw new Error(`${name} imports itself, by way of its imports`);
    this.#underWay.add(name);
    try {
      return dependency.map((imported) => {
        const file = this.file(imported);
        if (file === undefined) throw new Error(`it lacks ${imported}, which ${name} imports`);
        return file;
      });
    } finally {
      this.#underWay.delete(name);
    }
  }

  /** Reads its file if that is not done yet. */
  type(typeName: string): Type | undefined {
    const known = this.#types.get(typeName);
    if (known !== undefined) return known;
    const { fileOf } = this.#index;
    // A nested type is in the file of its parent.
    for (let name = typeName; ; name = name.slice(0, name.lastIndexOf("."))) {
      const file = fileOf.get(name);
      if (file !== undefined)
        return this.#read.has(file) || this.file(file) === undefined ? undefined : this.#types.get(typeName);
      if (!name.includes(".")) return undefined;
    }
  }
}

/** A file as its importers see it: they do not see its own imports, except public ones. */
function withPublicImports(file: DescFile): DescFile {
  const passedOn = file.proto.publicDependency.flatMap((index) => file.dependencies[index] ?? []);
  return { ...file, dependencies: passedOn.map(withPublicImports) };
}
