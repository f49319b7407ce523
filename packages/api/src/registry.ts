import {
  create,
  createFileRegistry,
  type DescFile,
  type FileRegistry,
  type Registry,
  toBinary,
} from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { type Overlay, overlaid } from "./descriptor-sets.js";
import { XdskitError } from "./errors.js";
import { type FileIndex, indexOf } from "./file-index.js";
import { generatedFile } from "./generated-file.js";
import { indexedFiles } from "./lazy-files.js";

/** Every message that is known by name: Envoy's, and those of a user's own descriptor sets. */
export type { Registry };

let envoyFiles: FileIndex | undefined;
let envoy: FileRegistry | undefined;

function envoyIndex(): FileIndex {
  envoyFiles ??= indexOf(generatedFile("envoy.binpb"));
  return envoyFiles;
}

/** Every message of Envoy's v3 API with all extensions; one per process. Its files are read as their types are asked for: walking over all takes some 100 ms. */
export function envoyRegistry(): FileRegistry {
  envoy ??= indexedFiles(envoyIndex());
  return envoy;
}

/** What `createRegistry` adds to Envoy's messages. */
export interface RegistryOptions {
  /**
   * Serialized `google.protobuf.FileDescriptorSet`s of the user's own messages, as `buf build -o` or `protoc --descriptor_set_out`
   * write them. Imports of Envoy's files need not be included. A file of the same name as one of Envoy's, or of a set before, takes its place, but for those of protobuf itself.
   */
  readonly descriptorSets?: readonly Uint8Array[];
}

/** The names of the files that a registry was made of besides Envoy's. */
const ownFiles = new WeakMap<Registry, ReadonlySet<string>>();

/**
 * A registry of Envoy's messages and those of the user's descriptor sets.
 * Throws XDSKIT_DESCRIPTOR_SET when a set is not one, imports a file that neither it nor an earlier set has, or does not fit to the files that it does not replace.
 */
export function createRegistry(options: RegistryOptions = {}): FileRegistry {
  let registry = envoyRegistry();
  let index = envoyIndex();
  const names = new Set<string>();
  for (const set of options.descriptorSets ?? []) {
    const over = overlaidOrThrow(index, set);
    if (over.own.length === 0) continue;
    ({ registry, index } = over);
    for (const name of over.own) names.add(name);
  }
  if (names.size > 0) ownFiles.set(registry, names);
  return registry;
}

function overlaidOrThrow(index: FileIndex, set: Uint8Array): Overlay {
  try {
    return overlaid(index, set);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw XdskitError.of("XDSKIT_DESCRIPTOR_SET", `not a usable descriptor set: ${reason}`, {}, { cause });
  }
}

/** The files of a registry that came of a user's descriptor sets. Of one that `createRegistry` did not make, those that Envoy's registry does not have. */
export function ownFilesOf(registry: Registry): readonly DescFile[] {
  const envoys = envoyRegistry();
  if (registry === envoys) return [];
  const own = ownFiles.get(registry);
  if (own !== undefined) {
    // The name of a file that gave way to one of a later set leads to that one.
    return [...new Set(Array.from(own).flatMap((name) => (registry as FileRegistry).getFile(name) ?? []))];
  }
  const files = new Set<DescFile>();
  const add = (file: DescFile): void => {
    if (files.has(file) || envoys.getFile(file.proto.name) !== undefined) return;
    for (const imported of file.dependencies) add(imported);
    files.add(file);
  };
  for (const type of registry) add(type.file);
  return [...files];
}

/**
 * A registry with more files, which may import each other and what is known already; in any order. A file that is known by its name stays as it is.
 * Throws a plain error where an import is missing, and where a message is defined that another file defines already.
 */
export function withFiles(known: FileRegistry, files: readonly FileDescriptorProto[]): FileRegistry {
  const all = Array.from(known.files, (file) => file.proto);
  const done = new Set(all.map((file) => file.name));
  const waiting = new Map(files.map((file) => [file.name, file]));
  const add = (name: string, importedBy: string): void => {
    if (done.has(name)) return;
    const file = waiting.get(name);
    if (file === undefined) throw new Error(`it lacks ${name}, which ${importedBy} imports`);
    waiting.delete(name);
    for (const imported of file.dependency) add(imported, name);
    refuseKnownTypes(file, known);
    done.add(name);
    all.push(file);
  };
  for (const { name } of files) add(name, "the set itself");
  return createFileRegistry(create(FileDescriptorSetSchema, { file: all }));
}

/**
 * What a registry has besides Envoy's own files, as a serialized `google.protobuf.FileDescriptorSet`: what `createRegistry` needs to make the same registry in another
 * thread or process. Undefined where there is nothing.
 */
export function descriptorSetOf(registry: Registry): Uint8Array | undefined {
  const file = ownFilesOf(registry).map(({ proto }) => proto);
  return file.length === 0 ? undefined : toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file }));
}

/** Two versions of a message under one name would be mixed up. Usually it is Envoy's own file, compiled with another root folder. */
function refuseKnownTypes(file: FileDescriptorProto, known: FileRegistry): void {
  for (const { name } of [...file.messageType, ...file.enumType, ...file.service]) {
    const fullName = file.package === "" ? name : `${file.package}.${name}`;
    const before = known.get(fullName);
    if (before !== undefined)
      throw new Error(`${file.name} defines ${fullName}, which ${before.file.proto.name} defines`);
  }
}
