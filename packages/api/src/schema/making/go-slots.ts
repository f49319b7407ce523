import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { DescriptorProto, FieldDescriptorProto, FileDescriptorProto } from "@bufbuild/protobuf/wkt";
import type { Slot } from "../slots.js";

/**
 * The fields where extensions stand, below a folder of generated Go files: their comments name the categories
 * (`[#extension-category: envoy.tracers]`). By the full names of fields; those of a oneof have its comment.
 */
export function goSlotsIn(folder: string, files: readonly FileDescriptorProto[]): readonly Slot[] {
  const messages = new Map<string, readonly GoMessage[]>();
  for (const file of files)
    messages.set(
      file.name,
      file.messageType.flatMap((one) => goMessages(one, file.package)),
    );
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .sort()
    .flatMap((name) => {
      const text = name.endsWith(".pb.go") ? readFileSync(join(folder, name), "utf8") : "";
      if (!text.includes("#extension-category")) return [];
      const source = /^\/\/ source: (\S+)$/m.exec(text)?.[1] ?? "";
      return slotsIn(text, messages.get(source) ?? []);
    });
}

interface GoMessage {
  /** `HttpConnectionManager_UpgradeConfig` */
  readonly goName: string;
  readonly fullName: string;
  readonly proto: DescriptorProto;
}

function goMessages(proto: DescriptorProto, scope: string, around = ""): readonly GoMessage[] {
  const goName = `${around}${proto.name}`;
  const fullName = `${scope}.${proto.name}`;
  return [{ goName, fullName, proto }, ...proto.nestedType.flatMap((one) => goMessages(one, fullName, `${goName}_`))];
}

const structure =
  /^type (?<struct>\w+) struct \{$|^\t\/\/ ?(?<comment>.*)$|`protobuf:"[^"]*\bname=(?<field>\w+)|`protobuf_oneof:"(?<oneof>\w+)"/gm;

function slotsIn(text: string, messages: readonly GoMessage[]): readonly Slot[] {
  const slots: Slot[] = [];
  let struct = "";
  let comment = "";
  for (const { groups = {} } of text.matchAll(structure)) {
    if (groups.struct !== undefined) struct = groups.struct;
    if (groups.comment !== undefined) {
      comment += `${groups.comment}\n`;
      continue;
    }
    const categories = categoriesIn(comment);
    comment = "";
    // The field of a oneof has a struct of its own: `Filter_TypedConfig`.
    const owner =
      messages.find(({ goName }) => goName === struct) ??
      messages.find(({ goName }) => goName === struct.replace(/_[^_]*$/, ""));
    if (categories.length === 0 || owner === undefined) continue;
    const { field: fields, oneofDecl: oneofs } = owner.proto;
    // Outside of a oneof the index is only a default.
    const oneofOf = (one: FieldDescriptorProto) =>
      Object.hasOwn(one, "oneofIndex") ? oneofs[one.oneofIndex]?.name : undefined;
    for (const one of fields)
      if (one.name === groups.field || (groups.oneof !== undefined && oneofOf(one) === groups.oneof))
        slots.push({ field: `${owner.fullName}.${one.name}`, categories });
  }
  return slots;
}

function categoriesIn(comment: string): readonly string[] {
  return [...comment.matchAll(/\[#extension-category:([^\]]*)\]/g)].flatMap(([, list = ""]) =>
    list.split(",").map((one) => one.trim()),
  );
}
