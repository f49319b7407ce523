import type { JsonObject } from "@bufbuild/protobuf";

/** When something came and went, as minor versions of Envoy, such as `1.36`. Neither: it was there in the oldest version that was read, and is still. */
export interface Life {
  /** The first version that was read and has it. */
  readonly since?: string;
  /** The first version that was read and has it no more. */
  readonly removed?: string;
}

/** Options of the protos, as protobuf's JSON has them: `{ "deprecated": true, "[validate.rules]": { "string": { "min_len": 1 } } }`. */
export type Options = JsonObject;

/** What has a name, options and a life. */
export interface Named extends Life {
  readonly name: string;
  readonly options: Options;
}

/** How often a field may be there: `optional` where a proto3 file says so, `required` where a proto2 file does, "" for all other single values. */
export type Label = "" | "optional" | "required" | "repeated";

/** A field, or an extension. */
export interface FieldFacts extends Named {
  readonly number: number;
  readonly label: Label;
  /** A scalar's name, such as `uint32`, or the full name of a message or an enum; of a map, that of its values. */
  readonly type: string;
  /** The scalar that a map's keys are. */
  readonly mapKey?: string;
  readonly oneof?: string;
  /** Only where it is not what protobuf makes of the name. */
  readonly jsonName?: string;
  /** proto2's, as descriptors write it. */
  readonly defaultValue?: string;
}

/** A oneof; its fields name it. Those that proto3 makes for `optional` are none. */
export interface OneofFacts {
  readonly name: string;
  readonly options: Options;
}

/** Names and numbers that must not be used, since something that is gone had them: `hosts`, `7`, or `8-10`. */
export type Reserved = readonly string[];

/** A message. One that was removed has nothing in it. */
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

/** An enum. One that was removed has no values. */
export interface EnumFacts extends Named {
  readonly reserved: Reserved;
  readonly values: readonly ValueFacts[];
}

/** A method of a service; its messages by their full names. */
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

/** Fields that a file adds to a message of another. */
export interface ExtensionFacts {
  /** The full name of the message. */
  readonly extended: string;
  readonly fields: readonly FieldFacts[];
}

/** One proto file. What it imports follows from what it names, but for what it passes on. */
export interface FileFacts {
  readonly path: string;
  readonly syntax: "proto2" | "proto3";
  readonly options: Options;
  /** The paths of files that it imports publicly. */
  readonly publicImports: readonly string[];
  readonly extensions: readonly ExtensionFacts[];
  readonly messages: readonly MessageFacts[];
  readonly enums: readonly EnumFacts[];
  readonly services: readonly ServiceFacts[];
}

/** One proto package: one file of the table. */
export interface PackageFacts {
  readonly name: string;
  readonly files: readonly FileFacts[];
  /** What no file of the package has any more. */
  readonly removedMessages: readonly MessageFacts[];
  readonly removedEnums: readonly EnumFacts[];
}

/** The words that a field's type may be, besides names of messages and enums; in the order of their numbers in descriptors, which have groups and messages between them. */
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
