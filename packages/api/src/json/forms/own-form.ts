import type { DescMessage } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";

const ownForms: ReadonlySet<string> = new Set(
  ["Any", "Duration", "FieldMask", "ListValue", "Struct", "Timestamp", "Value"].map(
    (name) => `google.protobuf.${name}`,
  ),
);

/** Whether a message's JSON is something other than an object with its fields. */
export function hasOwnJsonForm(schema: DescMessage): boolean {
  return ownForms.has(schema.typeName) || isWrapperDesc(schema);
}
