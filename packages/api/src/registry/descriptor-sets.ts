import { type FileRegistry, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  type FieldDescriptorProto,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import { messageOf } from "../errors/findings.js";
import { type FileIndex, indexOf } from "./file-index.js";
import { indexedFiles } from "./lazy-files.js";

/** The part of a registry that a descriptor set adds. */
export interface Overlay {
  readonly registry: FileRegistry;
  readonly index: FileIndex;
  /** The files of the set that differ from the built-in files of their names. */
  readonly own: readonly string[];
}

/** Files of protobuf itself: every program has them, and they do not change. */
const isOfProtobuf = (name: string) => name.startsWith("google/protobuf/");

/**
 * Lays a serialized `google.protobuf.FileDescriptorSet` over the known files. A file replaces the file of its name and
 * those that define the same types; everything else stays. Throws a plain error that names file and symbol if the two
 * do not fit: now, and not when somebody needs the type.
 */
export function overlaid(below: FileIndex, set: Uint8Array): Overlay {
  const above = indexOf(set);
  if (above.files.size === 0) throw new Error("it holds no file");
  const own = [...above.files].flatMap(([name, bytes]) => (isNew(name, bytes, below) ? [name] : []));
  const gone = givingWay(own, above, below);
  const index: FileIndex = { files: new Map(), fileOf: new Map(), insteadOf: insteadOfGone(gone, below, own) };
  for (const [name, bytes] of below.files) if (!gone.has(name)) index.files.set(name, bytes);
  for (const [type, file] of below.fileOf) if (!gone.has(file)) index.fileOf.set(type, file);
  for (const name of own) {
    index.files.set(name, above.files.get(name) as Uint8Array);
    for (const type of typesOfFile(protoOf(name, above))) index.fileOf.set(type, name);
  }
  const isOwn = new Set(own);
  const protos = new Map([...own, ...importersOf(gone, below, isOwn)].map((name) => [name, protoOf(name, index)]));
  for (const { name, dependency } of protos.values()) {
    const missing = dependency.find((imported) => !index.files.has(index.insteadOf.get(imported) ?? imported));
    if (missing !== undefined) throw new Error(`it lacks ${missing}, which ${name} imports`);
  }
  for (const proto of protos.values()) mustResolve(proto, protos, { below, index, gone });
  const registry = indexedFiles(index);
  for (const name of protos.keys()) link(registry, name, isOwn.has(name));
  return { registry, index, own };
}

/** The known files that a file of the set replaces, by its name. */
function givingWay(own: readonly string[], above: FileIndex, below: FileIndex): ReadonlyMap<string, string> {
  const gone = new Map(own.filter((name) => below.files.has(name)).map((name) => [name, name]));
  const defined = new Map<string, string>();
  for (const name of own) {
    for (const type of typesOfFile(protoOf(name, above))) {
      // Two versions of a message under one name would be mixed up.
      const other = defined.get(type) ?? below.fileOf.get(type);
      if (other !== undefined && (defined.has(type) || isOfProtobuf(other)))
        throw new Error(`${name} defines ${type}, which ${other} defines`);
      defined.set(type, name);
      // The same API compiled with another root folder, or a copy of a part of Envoy's.
      if (other !== undefined && !gone.has(other)) gone.set(other, name);
    }
  }
  return gone;
}

/** The replacement of each file that is gone, by this set or an earlier one. */
function insteadOfGone(
  gone: ReadonlyMap<string, string>,
  { insteadOf: before }: FileIndex,
  own: readonly string[],
): Map<string, string> {
  const insteadOf = new Map(gone);
  for (const [file, instead] of before) insteadOf.set(file, gone.get(instead) ?? instead);
  // A file of the set keeps its own name, even if a file of that name was replaced.
  for (const name of own) insteadOf.delete(name);
  return insteadOf;
}

/** A file that is identical to the known one replaces nothing. */
function isNew(name: string, bytes: Uint8Array, { files }: FileIndex): boolean {
  const before = files.get(name);
  if (before === undefined) return true;
  return !isOfProtobuf(name) && !Buffer.from(comparable(before)).equals(comparable(bytes));
}

/** Without options for code generators, and without derived data. */
function comparable(bytes: Uint8Array): Uint8Array {
  const file = fromBinary(FileDescriptorProtoSchema, bytes);
  file.options = undefined;
  file.sourceCodeInfo = undefined;
  const plain = ({ field, extension, nestedType }: DescriptorProto) => {
    for (const each of [...field, ...extension]) each.jsonName = "";
    for (const each of nestedType) plain(each);
  };
  for (const message of file.messageType) plain(message);
  for (const extension of file.extension) extension.jsonName = "";
  return toBinary(FileDescriptorProtoSchema, file);
}

function protoOf(name: string, { files }: FileIndex): FileDescriptorProto {
  return fromBinary(FileDescriptorProtoSchema, files.get(name) as Uint8Array);
}

/** The full names of types that are not nested. */
function typesOfFile({ package: prefix, messageType, enumType, service, extension }: FileDescriptorProto): string[] {
  const all = [...messageType, ...enumType, ...service, ...extension];
  return all.map(({ name }) => (prefix === "" ? name : `${prefix}.${name}`));
}

/** Unchanged files that import one that is replaced or returns, also through public imports. */
function importersOf(gone: ReadonlyMap<string, string>, below: FileIndex, own: ReadonlySet<string>): readonly string[] {
  const back = [...own].filter((name) => below.insteadOf.has(name));
  if (gone.size === 0 && back.length === 0) return [];
  const protos = new Map([...below.files.keys()].map((name) => [name, protoOf(name, below)]));
  const passing = new Set([...gone.keys(), ...back]);
  const imports = (imported: string | undefined, name: string) =>
    imported === name || (imported !== undefined && below.insteadOf.get(imported) === name);
  // Files that import it also see its public imports.
  for (const name of passing) {
    for (const [other, { dependency, publicDependency }] of protos)
      if (publicDependency.some((index) => imports(dependency[index], name))) passing.add(other);
  }
  return [...protos]
    .filter(
      ([name, { dependency }]) =>
        !own.has(name) &&
        !gone.has(name) &&
        dependency.some((imported) => passing.has(imported) || passing.has(below.insteadOf.get(imported) ?? imported)),
    )
    .map(([name]) => name);
}

/** Everything that a file names still exists, and not only did before. */
function mustResolve(
  file: FileDescriptorProto,
  read: ReadonlyMap<string, FileDescriptorProto>,
  { below, index, gone }: { below: FileIndex; index: FileIndex; gone: ReadonlyMap<string, string> },
): void {
  for (const { place, type } of typesIn(file)) {
    const owner = ownerOf(type, index);
    const proto = owner === undefined ? undefined : read.get(owner);
    // An unchanged file still has everything that it had.
    if (owner !== undefined && (proto === undefined || hasType(proto, type))) continue;
    const before = ownerOf(type, below);
    const instead = before === undefined ? undefined : gone.get(before);
    const lacks =
      instead === undefined
        ? "which no file has"
        : `which ${before === instead ? `the built-in ${before}` : before} has, and not ${instead} of the descriptor set, which takes its place`;
    throw new Error(`${file.name}: ${place} is of type ${type}, ${lacks}`);
  }
}

function ownerOf(type: string, { fileOf }: FileIndex): string | undefined {
  for (let name = type; name !== ""; name = name.slice(0, Math.max(0, name.lastIndexOf(".")))) {
    const file = fileOf.get(name);
    if (file !== undefined) return file;
  }
  return undefined;
}

function hasType({ package: prefix, messageType, enumType }: FileDescriptorProto, type: string): boolean {
  let names = (prefix === "" ? type : type.slice(prefix.length + 1)).split(".");
  let messages = messageType;
  let enums = enumType;
  for (;;) {
    const [first, ...more] = names;
    if (more.length === 0 && enums.some(({ name }) => name === first)) return true;
    const message = messages.find(({ name }) => name === first);
    if (message === undefined || more.length === 0) return message !== undefined;
    names = more;
    messages = message.nestedType;
    enums = message.enumType;
  }
}

/** A type that a descriptor names, and where. */
interface TypeAtPlace {
  readonly place: string;
  readonly type: string;
}

/** Every type that a file names, by full name, and where. */
function* typesIn(file: FileDescriptorProto): Iterable<TypeAtPlace> {
  const prefix = file.package === "" ? "" : `${file.package}.`;
  yield* typesOf(prefix, file.extension);
  for (const message of file.messageType) yield* typesInMessage(prefix, message);
  for (const { name, method } of file.service) {
    for (const { name: called, inputType, outputType } of method) {
      for (const type of [inputType, outputType]) yield { place: `${prefix}${name}.${called}`, type: type.slice(1) };
    }
  }
}

function* typesInMessage(prefix: string, message: DescriptorProto): Iterable<TypeAtPlace> {
  const inner = `${prefix}${message.name}.`;
  yield* typesOf(inner, [...message.field, ...message.extension]);
  for (const nested of message.nestedType) yield* typesInMessage(inner, nested);
}

function* typesOf(prefix: string, fields: readonly FieldDescriptorProto[]): Iterable<TypeAtPlace> {
  for (const { name, typeName, extendee } of fields) {
    for (const type of [typeName, extendee])
      if (type.startsWith(".")) yield { place: `${prefix}${name}`, type: type.slice(1) };
  }
}

function link(registry: FileRegistry, name: string, isOwn: boolean): void {
  try {
    registry.getFile(name);
  } catch (cause) {
    const reason = messageOf(cause);
    throw new Error(isOwn ? reason : `the built-in ${name} does not fit to it: ${reason}`, { cause });
  }
}
