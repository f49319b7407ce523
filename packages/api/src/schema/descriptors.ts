import {
  create,
  createFileRegistry,
  type DescFile,
  type FileRegistry,
  fromJson,
  type Registry,
} from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import {
  type FileDescriptorProto,
  FileDescriptorSetSchema,
  file_google_protobuf_any,
  file_google_protobuf_descriptor,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
} from "@bufbuild/protobuf/wkt";
import type { MessageFacts, PackageFacts } from "./facts.js";
import { fileDescriptor, type KnownType, type OptionWriter, present } from "./file-descriptor.js";

/** Protobuf's own files, which the table does not repeat. */
const protobufFiles: readonly DescFile[] = [
  file_google_protobuf_any,
  file_google_protobuf_descriptor,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
];

/**
 * The descriptors of the table without removed elements: every file after its imports, including protobuf's own. A file
 * imports exactly the files of the names in it. Throws a plain error if a name cannot be resolved.
 */
export function descriptorsOf(packages: readonly PackageFacts[]): readonly FileDescriptorProto[] {
  const files = packages.flatMap(({ name, files }) => files.map((file) => ({ packageName: name, file })));
  const types = typesOf(packages);
  const build = (options: OptionWriter) =>
    inOrder(files.map(({ packageName, file }) => fileDescriptor(packageName, file, types, options)));
  // Options are extensions that the table itself defines: their definitions must be known before they can be written.
  const bare = createFileRegistry(create(FileDescriptorSetSchema, { file: [...build(() => undefined)] }));
  return build(optionWriter(bare));
}

function optionWriter(registry: FileRegistry): OptionWriter {
  return (schema, options, imports) => {
    const names = Object.keys(options);
    if (names.length === 0) return undefined;
    for (const name of names) {
      const file = name.startsWith("[") ? registry.getExtension(name.slice(1, -1))?.file : undefined;
      if (file !== undefined) imports.add(file.proto.name);
    }
    return fromJson(schema, options, { registry: registry as Registry });
  };
}

/** The file of each message and enum, by full name. */
function typesOf(packages: readonly PackageFacts[]): ReadonlyMap<string, KnownType> {
  const types = new Map<string, KnownType>();
  const addAll = (path: string, prefix: string, { messages, enums }: Pick<MessageFacts, "messages" | "enums">) => {
    for (const { name } of present(enums)) types.set(`${prefix}.${name}`, { path, kind: "enum" });
    for (const message of present(messages)) {
      types.set(`${prefix}.${message.name}`, { path, kind: "message" });
      addAll(path, `${prefix}.${message.name}`, message);
    }
  };
  for (const file of protobufFiles) {
    for (const { kind, typeName } of nestedTypes(file)) {
      if (kind === "message" || kind === "enum") types.set(typeName, { path: file.proto.name, kind });
    }
  }
  for (const { name, files } of packages) for (const file of files) addAll(file.path, name, file);
  return types;
}

/** Every file after its imports, including protobuf's own. Throws a plain error if one is missing. */
export function inOrder(files: readonly FileDescriptorProto[]): FileDescriptorProto[] {
  const byPath = new Map([...protobufFiles.map(({ proto }) => proto), ...files].map((file) => [file.name, file]));
  const ordered = new Set<FileDescriptorProto>();
  const add = (path: string, importedBy: string): void => {
    const file = byPath.get(path);
    if (file === undefined) throw new Error(`${importedBy} imports ${path}, which the table lacks`);
    if (ordered.has(file)) return;
    for (const imported of file.dependency) add(imported, path);
    ordered.add(file);
  };
  for (const { name } of files) add(name, "the table");
  return [...ordered];
}
