import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { DescriptorProto, EnumDescriptorProto, FileDescriptorProto } from "@bufbuild/protobuf/wkt";
import { plainComment } from "./plain-comment.js";
import { protoComments } from "./proto-comments.js";

/**
 * The comments of all proto files below some folders, as plain text, for what the descriptors have. The files may be of
 * another version of the API than the descriptors: what only one of them has is left out.
 */
export function readComments(
  folders: readonly string[],
  files: readonly FileDescriptorProto[],
): Readonly<Record<string, string>> {
  const names = namesIn(files);
  const found: Record<string, string> = {};
  for (const path of folders.flatMap(protosIn).sort())
    for (const [name, comment] of protoComments(readFileSync(path, "utf8"))) {
      const text = names.has(name) ? plainComment(comment) : "";
      if (text !== "") found[name] = text;
    }
  return found;
}

function protosIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".proto"))
    .map((name) => join(folder, name));
}

/** The full names of all messages, fields, enums and values. */
function namesIn(files: readonly FileDescriptorProto[]): ReadonlySet<string> {
  const names = new Set<string>();
  const addEnums = (enums: readonly EnumDescriptorProto[], scope: string) => {
    for (const { name, value } of enums) {
      names.add(`${scope}.${name}`);
      for (const one of value) names.add(`${scope}.${name}.${one.name}`);
    }
  };
  const addMessages = (messages: readonly DescriptorProto[], scope: string) => {
    for (const { name, field, nestedType, enumType } of messages) {
      const own = `${scope}.${name}`;
      names.add(own);
      for (const one of field) names.add(`${own}.${one.name}`);
      addMessages(nestedType, own);
      addEnums(enumType, own);
    }
  };
  for (const file of files) {
    addMessages(file.messageType, file.package);
    addEnums(file.enumType, file.package);
  }
  return names;
}
