import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { create, createFileRegistry, type DescFile, type FileRegistry, fromJsonString } from "@bufbuild/protobuf";
import { protoCamelCase } from "@bufbuild/protobuf/reflect";
import {
  type DescriptorProto,
  type FieldDescriptorProto,
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

/** The table's folder, beside both `src/` and `dist/`. */
export const tableFolder = new URL("../../schema/", import.meta.url);
/** Below it, a descriptor set for each proto package, named after it. */
export const packageFolder = new URL("packages/", tableFolder);
/** The versions of Envoy that introduced elements, by full name (`making/since-by-name.ts`). */
export const sinceFile = new URL("since.json", tableFolder);

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
 * The descriptors in a table, by default that of Envoy's API: every file after its imports, including protobuf's own.
 * Throws a plain error if the table is malformed.
 */
export function readTable(folder = packageFolder): readonly FileDescriptorProto[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  const paths = names.sort().map((name) => fileURLToPath(new URL(name, folder)));
  const texts = new Map(paths.map((path) => [path, readFileSync(path, "utf8")]));
  // Options are extensions that the table itself defines: their definitions must be known before they can be read.
  const registry = registryOf([...texts].flatMap(([path, text]) => readPackage(path, text)));
  return inOrder([...texts].flatMap(([path, text]) => readPackage(path, text, registry)));
}

/** The files of one package; without their options if there is no registry of these. */
function readPackage(path: string, text: string, registry?: FileRegistry): readonly FileDescriptorProto[] {
  try {
    const { file } = fromJsonString(
      FileDescriptorSetSchema,
      text,
      registry ? { registry } : { ignoreUnknownFields: true },
    );
    return file.map(withJsonNames);
  } catch (cause) {
    throw new Error(`${path}: ${(cause as Error).message}`, { cause });
  }
}

/** Adds the JSON names of fields that the table leaves out, since they follow from the names. */
export function withJsonNames(file: FileDescriptorProto): FileDescriptorProto {
  const add = (fields: readonly FieldDescriptorProto[], messages: readonly DescriptorProto[]): void => {
    for (const field of fields) field.jsonName ||= protoCamelCase(field.name);
    for (const message of messages) add(message.field, message.nestedType);
  };
  add(file.extension, file.messageType);
  return file;
}

/** Throws a plain error if a file imports one that is missing. */
export function registryOf(files: readonly FileDescriptorProto[]): FileRegistry {
  return createFileRegistry(create(FileDescriptorSetSchema, { file: inOrder(files) }));
}

/** Every file after its imports, including protobuf's own. */
function inOrder(files: readonly FileDescriptorProto[]): FileDescriptorProto[] {
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
