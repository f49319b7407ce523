import { create, type DescFile, type FileRegistry, type Registry, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { XdskitError } from "../errors/errors.js";
import { messageOf } from "../errors/findings.js";
import { type Overlay, overlaid } from "./descriptor-sets.js";
import { type FileIndex, indexOf } from "./file-index.js";
import { generatedFile } from "./generated-file.js";
import { indexedFiles } from "./lazy-files.js";

/** All known messages by name: Envoy's, and those of the user's descriptor sets. */
export type { Registry };

let envoyFiles: FileIndex | undefined;
let envoy: FileRegistry | undefined;

function envoyIndex(): FileIndex {
  envoyFiles ??= indexOf(generatedFile("envoy.binpb"));
  return envoyFiles;
}

/**
 * Every message of Envoy's v3 API with all extensions; one per process. Its files are read when their types are first
 * used. Iterating over everything takes some 100 ms.
 */
export function envoyRegistry(): FileRegistry {
  envoy ??= indexedFiles(envoyIndex());
  return envoy;
}

/** The user's messages that `createRegistry` adds to Envoy's. */
export interface RegistryOptions {
  /**
   * Serialized `google.protobuf.FileDescriptorSet`s of the user's own messages, as written by `buf build -o` or `protoc
   * --descriptor_set_out`. Imports of Envoy's files may be left out. A file replaces the file of its name in Envoy's
   * API or an earlier set, except for files of protobuf itself.
   */
  readonly descriptorSets?: readonly Uint8Array[];
}

/** The names of a registry's files besides Envoy's. */
const ownFiles = new WeakMap<Registry, ReadonlySet<string>>();

/**
 * A registry of Envoy's messages and of the user's descriptor sets. Throws XDSKIT_DESCRIPTOR_SET if a set is malformed,
 * imports a file that neither it nor an earlier set has, or does not match the files that it keeps.
 *
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 * import { createRegistry } from "@xdskit/api";
 *
 * const registry = createRegistry({ descriptorSets: [readFileSync("own.binpb")] });
 * ```
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
    const reason = messageOf(cause);
    throw XdskitError.of("XDSKIT_DESCRIPTOR_SET", `not a usable descriptor set: ${reason}`, {}, { cause });
  }
}

/**
 * The files of a registry that came from a user's descriptor sets. If `createRegistry` did not make it: the files that
 * Envoy's registry does not have.
 */
export function ownFilesOf(registry: Registry): readonly DescFile[] {
  const envoys = envoyRegistry();
  if (registry === envoys) return [];
  const own = ownFiles.get(registry);
  if (own !== undefined) {
    // The name of a replaced file leads to its replacement.
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
 * The files of a registry besides Envoy's, as a serialized `google.protobuf.FileDescriptorSet`: `createRegistry` makes
 * the same registry from it in another thread or process. Undefined if there is nothing.
 */
export function descriptorSetOf(registry: Registry): Uint8Array | undefined {
  const file = ownFilesOf(registry).map(({ proto }) => proto);
  return file.length === 0 ? undefined : toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file }));
}
