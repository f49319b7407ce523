import { clearField, type FileRegistry, fromJson, type JsonValue, toBinary, toJson } from "@bufbuild/protobuf";
import { protoCamelCase } from "@bufbuild/protobuf/reflect";
import { type FileDescriptorProto, FileDescriptorProtoSchema, FileOptionsSchema } from "@bufbuild/protobuf/wkt";
import { withJsonNames } from "../table.js";

/**
 * The files of one package in protobuf's JSON, which `readTable` reads. Options for other languages and the JSON names
 * that follow from a field's name are left out. Throws a plain error if anything else would be lost: an option that
 * nothing in `registry` defines.
 */
export function formatPackage(files: readonly FileDescriptorProto[], registry: FileRegistry): string {
  const inOrder = [...files].sort((a, b) => (a.name < b.name ? -1 : 1));
  return `${text({ file: inOrder.map((file) => jsonOf(file, registry)) })}\n`;
}

function jsonOf(file: FileDescriptorProto, registry: FileRegistry): JsonValue {
  for (const field of FileOptionsSchema.fields) {
    if (file.options && /^(go|java|csharp|objc|cc)_/.test(field.name)) clearField(file.options, field);
  }
  const json = toJson(FileDescriptorProtoSchema, withJsonNames(file), { registry, useProtoFieldName: true });
  const again = fromJson(FileDescriptorProtoSchema, json, { registry });
  const [before, after] = [file, again].map((each) => toBinary(FileDescriptorProtoSchema, each).length);
  if (before !== after) throw new Error(`${file.name} has options that no file of the table defines`);
  return json;
}

/** A longer list has a line for each part. */
const listLength = 160;

/** A line for most fields and values, so that a difference shows what a new version brings. */
function text(value: JsonValue, indent = ""): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inside = `${indent} `;
  const parts = Array.isArray(value)
    ? value.map((each) => text(each, inside))
    : Object.entries(value)
        .filter(([key, each]) => key !== "json_name" || each !== protoCamelCase(String(value.name)))
        .map(([key, each]) => `${JSON.stringify(key)}: ${text(each, inside)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const line = `${open}${parts.join(", ")}${close}`;
  if (!line.includes("\n") && (line.length <= listLength || !Array.isArray(value))) return line;
  return `${open}\n${parts.map((part) => inside + part).join(",\n")}\n${indent}${close}`;
}
