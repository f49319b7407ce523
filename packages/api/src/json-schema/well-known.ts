/** A JSON Schema (draft-07, which editors read), or a part of one. */
export type JsonSchema = { readonly [keyword: string]: unknown };

const number: JsonSchema = { type: ["number", "string"] };
const unsigned: JsonSchema = { type: ["integer", "string"], minimum: 0, pattern: "^\\d+$" };
const signed: JsonSchema = { type: ["integer", "string"], pattern: "^-?\\d+$" };

const schemas: Readonly<Record<string, JsonSchema>> = {
  Any: { type: "object", required: ["@type"], properties: { "@type": { type: "string" } } },
  Duration: { type: "string", pattern: "^-?\\d+(\\.\\d{1,9})?s$" },
  Empty: { type: "object" },
  FieldMask: { type: "string" },
  ListValue: { type: "array" },
  Struct: { type: "object" },
  Timestamp: { type: "string" },
  Value: {},
  BoolValue: { type: "boolean" },
  BytesValue: { type: "string" },
  DoubleValue: number,
  FloatValue: number,
  Int32Value: signed,
  Int64Value: signed,
  StringValue: { type: "string" },
  UInt32Value: unsigned,
  UInt64Value: unsigned,
};

/** The schema of a message of protobuf itself that has a form of its own in JSON; undefined for other messages. */
export function wellKnownSchema(typeName: string): JsonSchema | undefined {
  const prefix = "google.protobuf.";
  return typeName.startsWith(prefix) ? schemas[typeName.slice(prefix.length)] : undefined;
}
