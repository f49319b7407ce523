import { create, type JsonObject, type Message } from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import { protoCamelCase } from "@bufbuild/protobuf/reflect";
import {
  type DescriptorProto,
  DescriptorProtoSchema,
  type EnumDescriptorProto,
  EnumDescriptorProtoSchema,
  EnumOptionsSchema,
  EnumValueOptionsSchema,
  type FieldDescriptorProto,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  FieldOptionsSchema,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileOptionsSchema,
  MessageOptionsSchema,
  MethodOptionsSchema,
  OneofDescriptorProtoSchema,
  OneofOptionsSchema,
  type ServiceDescriptorProto,
  ServiceDescriptorProtoSchema,
  ServiceOptionsSchema,
} from "@bufbuild/protobuf/wkt";
import {
  type EnumFacts,
  type FieldFacts,
  type FileFacts,
  type Label,
  type Life,
  type MessageFacts,
  type Options,
  type ServiceFacts,
  scalarNumbers,
} from "./facts.js";

/** Returns the options of a descriptor, and adds the files that define them to `imports`. */
export type OptionWriter = <Shape extends Message>(
  schema: GenMessage<Shape>,
  options: JsonObject,
  imports: Set<string>,
) => Shape | undefined;

/** The file that defines a type. */
export interface KnownType {
  readonly path: string;
  readonly kind: "message" | "enum";
}

/** Elements that still exist. */
export function present<Fact extends Life>(facts: readonly Fact[]): readonly Fact[] {
  return facts.filter(({ removed }) => removed === undefined);
}

/** The descriptor of one file. Its names are looked up in `types`; throws a plain error if one is missing. */
export function fileDescriptor(
  packageName: string,
  file: FileFacts,
  types: ReadonlyMap<string, KnownType>,
  writeOptions: OptionWriter,
): FileDescriptorProto {
  return new FileDescriptorMaker(file.path, types, writeOptions).make(packageName, file);
}

class FileDescriptorMaker {
  /** Files that define the types that this one uses, or itself. */
  readonly #imports = new Set<string>();
  readonly #path: string;
  readonly #types: ReadonlyMap<string, KnownType>;
  readonly #writeOptions: OptionWriter;

  constructor(path: string, types: ReadonlyMap<string, KnownType>, writeOptions: OptionWriter) {
    this.#path = path;
    this.#types = types;
    this.#writeOptions = writeOptions;
  }

  make(packageName: string, file: FileFacts): FileDescriptorProto {
    const made = create(FileDescriptorProtoSchema, {
      name: file.path,
      package: packageName,
      // Descriptors do not say it for proto2.
      ...(file.syntax === "proto3" ? { syntax: "proto3" } : {}),
      messageType: present(file.messages).map((each) => this.#message(each, `${packageName}.${each.name}`)),
      enumType: present(file.enums).map((each) => this.#enumeration(each)),
      service: present(file.services).map((each) => this.#service(each)),
      extension: file.extensions.flatMap(({ extended, fields }) =>
        fields.map((facts) => {
          this.#known(extended);
          const proto = this.#field(facts);
          proto.extendee = `.${extended}`;
          if (facts.label === "optional") proto.proto3Optional = true;
          return proto;
        }),
      ),
      options: this.#options(FileOptionsSchema, file.options),
    });
    for (const path of file.publicImports) this.#imports.add(path);
    this.#imports.delete(file.path);
    made.dependency = [...this.#imports].sort();
    made.publicDependency = file.publicImports.map((path) => made.dependency.indexOf(path));
    return made;
  }

  #field({ number, name, type, label, jsonName, defaultValue, options }: FieldFacts): FieldDescriptorProto {
    const scalar = scalarNumbers[type];
    return create(FieldDescriptorProtoSchema, {
      number,
      name,
      label: labels[label],
      ...(scalar === undefined
        ? {
            type: FieldDescriptorProto_Type[this.#known(type).kind === "enum" ? "ENUM" : "MESSAGE"],
            typeName: `.${type}`,
          }
        : { type: scalar as FieldDescriptorProto_Type }),
      jsonName: jsonName ?? protoCamelCase(name),
      ...(defaultValue === undefined ? {} : { defaultValue }),
      options: this.#options(FieldOptionsSchema, options),
    });
  }

  #message(facts: MessageFacts, fullName: string): DescriptorProto {
    const made = create(DescriptorProtoSchema, {
      name: facts.name,
      oneofDecl: facts.oneofs.map(({ name, options: its }) => ({
        name,
        options: this.#options(OneofOptionsSchema, its),
      })),
      nestedType: present(facts.messages).map((each) => this.#message(each, `${fullName}.${each.name}`)),
      enumType: present(facts.enums).map((each) => this.#enumeration(each)),
      options: this.#options(MessageOptionsSchema, facts.options),
      reservedName: facts.reserved.filter((each) => !isRange(each)),
      // The end of a message's range is exclusive, that of an enum's is inclusive.
      reservedRange: facts.reserved.filter(isRange).map((each) => rangeOf(each, 1)),
    });
    for (const each of present(facts.fields)) {
      const proto = this.#field(each);
      if (each.oneof !== undefined) proto.oneofIndex = facts.oneofs.findIndex(({ name }) => name === each.oneof);
      if (each.mapKey !== undefined) {
        const entry = this.#mapEntry(each, each.mapKey);
        made.nestedType.push(entry);
        proto.type = FieldDescriptorProto_Type.MESSAGE;
        proto.typeName = `.${fullName}.${entry.name}`;
      }
      if (each.label === "optional") {
        proto.proto3Optional = true;
        proto.oneofIndex = made.oneofDecl.length;
        made.oneofDecl.push(create(OneofDescriptorProtoSchema, { name: `_${each.name}` }));
      }
      made.field.push(proto);
    }
    return made;
  }

  #mapEntry(facts: FieldFacts, mapKey: string): DescriptorProto {
    const camel = protoCamelCase(facts.name);
    const part = (number: number, name: string, type: string) =>
      this.#field({ number, name, type, label: "", options: {} });
    return create(DescriptorProtoSchema, {
      name: `${camel.slice(0, 1).toUpperCase()}${camel.slice(1)}Entry`,
      field: [part(1, "key", mapKey), part(2, "value", facts.type)],
      options: { mapEntry: true },
    });
  }

  #enumeration(facts: EnumFacts): EnumDescriptorProto {
    return create(EnumDescriptorProtoSchema, {
      name: facts.name,
      value: present(facts.values).map(({ number, name, options: its }) => ({
        number,
        name,
        options: this.#options(EnumValueOptionsSchema, its),
      })),
      options: this.#options(EnumOptionsSchema, facts.options),
      reservedName: facts.reserved.filter((each) => !isRange(each)),
      reservedRange: facts.reserved.filter(isRange).map((each) => rangeOf(each, 0)),
    });
  }

  #service(facts: ServiceFacts): ServiceDescriptorProto {
    const typed = (type: string): string => {
      this.#known(type);
      return `.${type}`;
    };
    return create(ServiceDescriptorProtoSchema, {
      name: facts.name,
      method: present(facts.methods).map(({ name, input, output, streamsInput, streamsOutput, options: its }) => ({
        name,
        inputType: typed(input),
        outputType: typed(output),
        ...(streamsInput ? { clientStreaming: true } : {}),
        ...(streamsOutput ? { serverStreaming: true } : {}),
        options: this.#options(MethodOptionsSchema, its),
      })),
      options: this.#options(ServiceOptionsSchema, facts.options),
    });
  }

  #options<Shape extends Message>(schema: GenMessage<Shape>, facts: Options): Shape | undefined {
    return this.#writeOptions(schema, facts, this.#imports);
  }

  #known(type: string): KnownType {
    const found = this.#types.get(type);
    if (found === undefined) throw new Error(`${this.#path} names ${type}, which the table lacks`);
    this.#imports.add(found.path);
    return found;
  }
}

function isRange(reserved: string): boolean {
  return /^\d/.test(reserved);
}

function rangeOf(reserved: string, behind: number): { readonly start: number; readonly end: number } {
  const [first, last = first] = reserved.split("-").map(Number);
  return { start: first ?? 0, end: (last ?? 0) + behind };
}

const labels: Readonly<Record<Label, FieldDescriptorProto_Label>> = {
  "": FieldDescriptorProto_Label.OPTIONAL,
  optional: FieldDescriptorProto_Label.OPTIONAL,
  required: FieldDescriptorProto_Label.REQUIRED,
  repeated: FieldDescriptorProto_Label.REPEATED,
};
