import { create } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  DescriptorProtoSchema,
  type FileDescriptorProto,
  MessageOptionsSchema,
  type ServiceDescriptorProto,
  ServiceDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";

/** From the names of types in v3 to those in v2, as descriptors write them: `.envoy.config.cluster.v3.Cluster` → `.envoy.api.v2.Cluster`. */
export type Renaming = ReadonlyMap<string, string>;

/** A message under another name, with the fields of the types that `renaming` says. */
export function renamedMessage(message: DescriptorProto, name: string, renaming: Renaming): DescriptorProto {
  return create(DescriptorProtoSchema, {
    ...message,
    name,
    // Set to an empty name, the type of a scalar would be there and be none: descriptors have presence, and strict readers refuse that.
    field: message.field.map((field) =>
      field.typeName === "" ? field : { ...field, typeName: renamed(field.typeName, renaming) },
    ),
    nestedType: message.nestedType.map((nested) => renamedMessage(nested, nested.name, renaming)),
    // The annotation that names the predecessor is v3's; that a message is the entry of a map holds in both.
    options: message.options?.mapEntry ? create(MessageOptionsSchema, { mapEntry: true }) : undefined,
  });
}

/** A service under another name, with methods of the types that `renaming` says. */
export function renamedService(
  service: ServiceDescriptorProto,
  name: string,
  renaming: Renaming,
): ServiceDescriptorProto {
  const method = service.method.map((method) => ({
    ...method,
    inputType: renamed(method.inputType, renaming),
    outputType: renamed(method.outputType, renaming),
    // They hold the REST paths of v3.
    options: undefined,
  }));
  return create(ServiceDescriptorProtoSchema, { name, method });
}

function renamed(typeName: string, renaming: Renaming): string {
  return renaming.get(typeName) ?? typeName;
}

/** Every type that the fields and methods of a file name, with a dot before. */
export function typesNamedIn(file: FileDescriptorProto): ReadonlySet<string> {
  const types = new Set<string>();
  const addMessage = (message: DescriptorProto): void => {
    for (const field of message.field) if (field.typeName !== "") types.add(field.typeName);
    for (const nested of message.nestedType) addMessage(nested);
  };
  for (const message of file.messageType) addMessage(message);
  for (const { method } of file.service)
    for (const { inputType, outputType } of method) types.add(inputType).add(outputType);
  return types;
}
