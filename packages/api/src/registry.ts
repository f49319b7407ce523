import { readFileSync } from "node:fs";
import { createFileRegistry, type DescFile, type FileRegistry, fromBinary, type Registry } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { XdskitError } from "./errors.js";

/** Every message that is known by name: Envoy's, and those of a user's own descriptor sets. */
export type { Registry };

let envoy: FileRegistry | undefined;

/** Every message of Envoy's v3 API with all extensions. Read when it is first asked for (some 80 ms); one per process. */
export function envoyRegistry(): FileRegistry {
  if (envoy === undefined) {
    // `gen/` lies beside both `src/` and `dist/`.
    const bytes = readFileSync(new URL("../gen/envoy.binpb", import.meta.url));
    envoy = createFileRegistry(fromBinary(FileDescriptorSetSchema, bytes));
  }
  return envoy;
}

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

function withFiles(known: FileRegistry, files: readonly FileDescriptorProto[]): FileRegistry {
  const protos = new Map(files.map((file) => [file.name, file]));
  const added: FileRegistry[] = [];
  const done = new Map<string, DescFile>();
  const adding = new Set<string>();
  const fileOf = (name: string, importedBy: string): DescFile => {
    // Files that are known stay as they are: one message must have one descriptor.
    const ready = known.getFile(name) ?? done.get(name);
    if (ready !== undefined) return ready;
    const proto = protos.get(name);
    if (proto === undefined) throw new Error(`it lacks ${name}, which ${importedBy} imports`);
    if (adding.has(name)) throw new Error(`${name} imports itself`);
    adding.add(name);
    const imports = new Map(proto.dependency.map((dependency) => [dependency, fileOf(dependency, name)]));
    const registry = createFileRegistry(proto, (dependency) => imports.get(dependency));
    const file = registry.getFile(name);
    if (file === undefined) throw new Error(`${name} could not be read`);
    added.push(registry);
    done.set(name, file);
    return file;
  };
  for (const name of protos.keys()) fileOf(name, "the set itself");
  // The last one wins where two files define the same message: what was known must stay what it was.
  return createFileRegistry(...added, known);
}
