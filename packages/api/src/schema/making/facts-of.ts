import {
  type DescExtension,
  type DescMessage,
  type FileRegistry,
  isFieldSet,
  type JsonObject,
  type JsonValue,
  type Message,
  ScalarType,
  toJson,
} from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import { protoCamelCase } from "@bufbuild/protobuf/reflect";
import {
  type DescriptorProto,
  type EnumDescriptorProto,
  EnumOptionsSchema,
  EnumValueOptionsSchema,
  type FieldDescriptorProto,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  FieldOptionsSchema,
  type FileDescriptorProto,
  FileOptionsSchema,
  MessageOptionsSchema,
  MethodOptionsSchema,
  OneofOptionsSchema,
  type ServiceDescriptorProto,
  ServiceOptionsSchema,
} from "@bufbuild/protobuf/wkt";
import {
  type EnumFacts,
  type FieldFacts,
  type FileFacts,
  type Label,
  type MessageFacts,
  type Options,
  type ServiceFacts,
  scalarNumbers,
} from "../facts.js";

/** Options for code generators of other languages. */
export function ofOtherLanguages(option: string): boolean {
  return /^(go|java|csharp|objc|cc)[_A-Z]/.test(option);
}

/**
 * The facts of a file. `registry` has the extensions for its options; without it options are left out. Throws a plain
 * error if the table has no form for something in the file.
 */
export function factsOf(file: FileDescriptorProto, registry?: FileRegistry): FileFacts {
  if (file.syntax !== "proto3" && file.syntax !== "proto2" && file.syntax !== "")
    throw new Error(`${file.name} is of an edition, which the table has no form for`);
  const optionsOf = optionReader(file, registry);
  const extended = [...new Set(file.extension.map(({ extendee }) => extendee))];

  function fieldFacts(field: FieldDescriptorProto, message?: DescriptorProto): FieldFacts {
    const entry = message?.nestedType.find(
      ({ name, options }) => options?.mapEntry && field.typeName.endsWith(`.${message.name}.${name}`),
    );
    const [key, value] = entry?.field ?? [];
    const isInOneof = isFieldSet(field, FieldDescriptorProtoSchema.field.oneofIndex) && !field.proto3Optional;
    return {
      number: field.number,
      name: field.name,
      label: labelOf(field),
      type: typeFactOf(value ?? field),
      ...(key === undefined ? {} : { mapKey: typeFactOf(key) }),
      ...(isInOneof ? { oneof: message?.oneofDecl[field.oneofIndex]?.name } : {}),
      ...(field.jsonName === "" || field.jsonName === protoCamelCase(field.name) ? {} : { jsonName: field.jsonName }),
      ...(field.defaultValue === "" ? {} : { defaultValue: field.defaultValue }),
      options: optionsOf(FieldOptionsSchema, field.options),
    };
  }

  function messageFacts(message: DescriptorProto): MessageFacts {
    if (message.extension.length + message.extensionRange.length > 0)
      throw new Error(`${file.name}: ${message.name} has extensions of its own, which the table has no form for`);
    return {
      name: message.name,
      options: optionsOf(MessageOptionsSchema, message.options),
      fields: message.field.map((field) => fieldFacts(field, message)),
      oneofs: message.oneofDecl
        .filter((_, index) => !message.field.some((field) => field.proto3Optional && field.oneofIndex === index))
        .map(({ name, options }) => ({ name, options: optionsOf(OneofOptionsSchema, options) })),
      reserved: [...message.reservedRange.map(({ start, end }) => rangeOf(start, end - 1)), ...message.reservedName],
      messages: message.nestedType.filter(({ options }) => !options?.mapEntry).map(messageFacts),
      enums: message.enumType.map(enumFacts),
    };
  }

  function enumFacts({ name, options, value, reservedRange, reservedName }: EnumDescriptorProto): EnumFacts {
    const values = value.map(({ name, number, options }) => ({
      number,
      name,
      options: optionsOf(EnumValueOptionsSchema, options),
    }));
    const reserved = [...reservedRange.map(({ start, end }) => rangeOf(start, end)), ...reservedName];
    return { name, options: optionsOf(EnumOptionsSchema, options), values, reserved };
  }

  function serviceFacts({ name, options, method }: ServiceDescriptorProto): ServiceFacts {
    const methods = method.map((each) => ({
      name: each.name,
      input: each.inputType.slice(1),
      output: each.outputType.slice(1),
      streamsInput: each.clientStreaming,
      streamsOutput: each.serverStreaming,
      options: optionsOf(MethodOptionsSchema, each.options),
    }));
    return { name, options: optionsOf(ServiceOptionsSchema, options), methods };
  }

  return {
    path: file.name,
    syntax: file.syntax === "proto3" ? "proto3" : "proto2",
    options: optionsOf(FileOptionsSchema, file.options),
    publicImports: file.publicDependency.map((index) => file.dependency[index] ?? ""),
    extensions: extended.map((extendee) => ({
      extended: extendee.slice(1),
      fields: file.extension.filter((each) => each.extendee === extendee).map((each) => fieldFacts(each)),
    })),
    messages: file.messageType.map(messageFacts),
    enums: file.enumType.map(enumFacts),
    services: file.service.map(serviceFacts),
  };
}

function rangeOf(first: number, last: number): string {
  return first === last ? String(first) : `${first}-${last}`;
}

function labelOf({ label, proto3Optional }: FieldDescriptorProto): Label {
  if (label === FieldDescriptorProto_Label.REPEATED) return "repeated";
  if (label === FieldDescriptorProto_Label.REQUIRED) return "required";
  return proto3Optional ? "optional" : "";
}

const scalarNames = new Map(Object.entries(scalarNumbers).map(([name, number]) => [number, name]));

function typeFactOf({ name, type, typeName }: FieldDescriptorProto): string {
  if (type === FieldDescriptorProto_Type.MESSAGE || type === FieldDescriptorProto_Type.ENUM) return typeName.slice(1);
  const scalar = scalarNames.get(type);
  if (scalar === undefined) throw new Error(`${name} is of a type that the table has no word for: ${type}`);
  return scalar;
}

function optionReader(file: FileDescriptorProto, registry?: FileRegistry) {
  return <Shape extends Message>(schema: GenMessage<Shape>, options: Shape | undefined): Options => {
    if (options === undefined || registry === undefined) return {};
    for (const { no } of options.$unknown ?? []) {
      if (registry.getExtensionFor(schema, no) === undefined)
        throw new Error(`${file.name}: nobody defines option ${no} of ${schema.typeName}`);
    }
    const json = toJson(schema, options, { registry, useProtoFieldName: true }) as JsonObject;
    const facts: Options = {};
    for (const [name, value] of Object.entries(json)) {
      if (ofOtherLanguages(name)) continue;
      const extension = name.startsWith("[") ? registry.getExtension(name.slice(1, -1)) : undefined;
      facts[name] = extension?.message === undefined ? value : withNumbers(value, extension.message);
    }
    return facts;
  };
}

const long = new Set([ScalarType.INT64, ScalarType.UINT64, ScalarType.SINT64, ScalarType.FIXED64, ScalarType.SFIXED64]);

/** With 64-bit integers as numbers if they are small enough, where JSON has strings: `min_len: 1`. */
function withNumbers(json: JsonValue, schema: DescMessage | DescExtension["message"]): JsonValue {
  if (schema === undefined || typeof json !== "object" || json === null || Array.isArray(json)) return json;
  const entries = Object.entries(json).map(([name, value]) => {
    const field = schema.fields.find((each) => each.name === name);
    const each = (item: JsonValue): JsonValue => {
      if (field?.scalar !== undefined)
        return long.has(field.scalar) && Number.isSafeInteger(Number(item)) ? Number(item) : item;
      return withNumbers(item, field?.message);
    };
    return [name, Array.isArray(value) ? value.map(each) : each(value)];
  });
  return Object.fromEntries(entries) as JsonObject;
}
