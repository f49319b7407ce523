import {
  create,
  createFileRegistry,
  type DescFile,
  type FileRegistry,
  fromBinary,
  type Registry,
  toBinary,
} from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { XdskitError } from "./errors.js";
import { generatedFile } from "./generated-file.js";
import { lazyFiles } from "./lazy-files.js";

/** Every message that is known by name: Envoy's, and those of a user's own descriptor sets. */
export type { Registry };

let envoy: FileRegistry | undefined;

/** Every message of Envoy's v3 API with all extensions; one per process. Its files are read as their types are asked for: walking over all takes some 100 ms. */
export function envoyRegistry(): FileRegistry {
  if (envoy === undefined) {
    envoy = lazyFiles(generatedFile("envoy.binpb"));
  }
  return envoy;
}

/** What `createRegistry` adds to Envoy's messages. */
export interface RegistryOptions {
  /**
   * Serialized `google.protobuf.FileDescriptorSet`s of the user's own extensions, as `buf build -o` or `protoc --descriptor_set_out`
   * write them. Imports of Envoy's files need not be included; where they are, Envoy's own are used instead.
   */
  readonly descriptorSets?: readonly Uint8Array[];
}

/**
 * A registry of Envoy's messages and those of the user's descriptor sets.
 * Throws XDSKIT_DESCRIPTOR_SET when a set is not one, or imports a file that neither it nor an earlier set has.
 */
export function createRegistry(options: RegistryOptions = {}): FileRegistry {
  return (options.descriptorSets ?? []).reduce(withDescriptorSet, envoyRegistry());
}

function withDescriptorSet(known: FileRegistry, bytes: Uint8Array): FileRegistry {
  try {
    const files = fromBinary(FileDescriptorSetSchema, bytes).file;
    if (files.length === 0) throw new Error("it holds no file");
    return withFiles(known, files);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw XdskitError.of("XDSKIT_DESCRIPTOR_SET", `not a usable descriptor set: ${reason}`, {}, { cause });
  }
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
 * The files of a registry that Envoy's own lacks, as a serialized `google.protobuf.FileDescriptorSet`: what `createRegistry` needs to make the same registry in another
 * thread or process. Undefined where there are none.
 */
export function descriptorSetOf(registry: Registry): Uint8Array | undefined {
  const envoys = envoyRegistry();
  if (registry === envoys) return undefined;
  const file: FileDescriptorProto[] = [];
  const seen = new Set<string>();
  const add = ({ proto, dependencies }: DescFile): void => {
    if (seen.has(proto.name)) return;
    seen.add(proto.name);
    if (envoys.getFile(proto.name) !== undefined) return;
    for (const imported of dependencies) add(imported);
    file.push(proto);
  };
  for (const type of registry) add(type.file);
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
