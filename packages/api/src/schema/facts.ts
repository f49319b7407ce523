import type { JsonObject } from "@bufbuild/protobuf";

/**
 * The versions of Envoy in which an element appeared and disappeared, without the patch, such as `1.36`. Neither: the
 * oldest version had it, and it still exists.
 */
export interface Life {
  /** The first version with it. */
  readonly since?: string;
  /** The first version without it again. */
  readonly removed?: string;
}

/**
 * Options of the protos, as protobuf's JSON has them: `{ "deprecated": true, "[validate.rules]": { "string": {
 * "min_len": 1 } } }`.
 */
export type Options = JsonObject;

/** An element with a name, options and a life. */
export interface Named extends Life {
  readonly name: string;
  readonly options: Options;
}

/**
 * The label of a field: `optional` if a proto3 file says so, `required` if a proto2 file does, "" for other singular
 * fields.
 */
export type Label = "" | "optional" | "required" | "repeated";

/** A field, or an extension. */
export interface FieldFacts extends Named {
  readonly number: number;
  readonly label: Label;
  /** A scalar's name, such as `uint32`, or the full name of a message or enum. For a map, the type of its values. */
  readonly type: string;
  /** The key type of a map. */
  readonly mapKey?: string;
  readonly oneof?: string;
  /** Only if it differs from protobuf's default. */
  readonly jsonName?: string;
  /** proto2's default, as in descriptors. */
  readonly defaultValue?: string;
}

/** A oneof, which its fields name. The synthetic ones of proto3's `optional` are not listed. */
export interface OneofFacts {
  readonly name: string;
  readonly options: Options;
}

/** Reserved names and numbers, since removed elements had them: `hosts`, `7`, or `8-10`. */
export type Reserved = readonly string[];

/** A message. A removed one is empty. */
export interface MessageFacts extends Named {
  readonly reserved: Reserved;
  readonly fields: readonly FieldFacts[];
  readonly oneofs: readonly OneofFacts[];
  readonly messages: readonly MessageFacts[];
  readonly enums: readonly EnumFacts[];
}

/** One value of an enum. */
export interface ValueFacts extends Named {
  readonly number: number;
}

/** An enum. A removed one has no values. */
export interface EnumFacts extends Named {
  readonly reserved: Reserved;
  readonly values: readonly ValueFacts[];
}

/** A method of a service, with the full names of its messages. */
export interface MethodFacts extends Named {
  readonly input: string;
  readonly output: string;
  readonly streamsInput: boolean;
  readonly streamsOutput: boolean;
}

/** A service. */
export interface ServiceFacts extends Named {
  readonly methods: readonly MethodFacts[];
}

/** Fields that a file adds to a message of another file. */
export interface ExtensionFacts {
  /** The full name of the message. */
  readonly extended: string;
  readonly fields: readonly FieldFacts[];
}

/** One proto file. Its imports follow from the names in it, except for public imports. */
export interface FileFacts {
  readonly path: string;
  readonly syntax: "proto2" | "proto3";
  readonly options: Options;
  /** The paths of public imports. */
  readonly publicImports: readonly string[];
  readonly extensions: readonly ExtensionFacts[];
  readonly messages: readonly MessageFacts[];
  readonly enums: readonly EnumFacts[];
  readonly services: readonly ServiceFacts[];
}

/** One proto package, which is one file of the table. */
export interface PackageFacts {
  readonly name: string;
  readonly files: readonly FileFacts[];
  /** Elements that the package has lost. */
  readonly removedMessages: readonly MessageFacts[];
  readonly removedEnums: readonly EnumFacts[];
}

/** The scalar types, in the order of their numbers in descriptors, where groups and messages come between them. */
export const scalarNumbers: Readonly<Record<string, number>> = {
  double: 1,
  float: 2,
  int64: 3,
  uint64: 4,
  int32: 5,
  fixed64: 6,
  fixed32: 7,
  bool: 8,
  string: 9,
  bytes: 12,
  uint32: 13,
  sfixed32: 15,
  sfixed64: 16,
  sint32: 17,
  sint64: 18,
};
