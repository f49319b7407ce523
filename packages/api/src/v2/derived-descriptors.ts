import { create } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  DescriptorProtoSchema,
  type FileDescriptorProto,
  MessageOptionsSchema,
  type ServiceDescriptorProto,
  ServiceDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";

/**
 * From v3 type names to v2 type names, as descriptors write them.
 * For example: `.envoy.config.cluster.v3.Cluster` → `.envoy.api.v2.Cluster`.
 */
export type Renaming = ReadonlyMap<string, string>;

/** A message with another name, and with its fields' types renamed. */
export function renamedMessage(message: DescriptorProto, name: string, renaming: Renaming): DescriptorProto {
  return create(DescriptorProtoSchema, {
    ...message,
    name,
    // A scalar's empty type name would count as present: descriptors have presence, and strict readers refuse that.
    field: message.field.map((field) =>
      field.typeName === "" ? field : { ...field, typeName: renamed(field.typeName, renaming) },
    ),
    nestedType: message.nestedType.map((nested) => renamedMessage(nested, nested.name, renaming)),
    // The annotation with the predecessor's name belongs to v3. A map entry is one in both versions.
    options: message.options?.mapEntry ? create(MessageOptionsSchema, { mapEntry: true }) : undefined,
  });
}

/** A service with another name, and with its methods' types renamed. */
export function renamedService(
  service: ServiceDescriptorProto,
  name: string,
  renaming: Renaming,
): ServiceDescriptorProto {
  const method = service.method.map((method) => ({
    ...method,
    inputType: renamed(method.inputType, renaming),
    outputType: renamed(method.outputType, renaming),
    // They contain the REST paths of v3.
    options: undefined,
  }));
  return create(ServiceDescriptorProtoSchema, { name, method });
}

function renamed(typeName: string, renaming: Renaming): string {
  return renaming.get(typeName) ?? typeName;
}

/** Every type that a file's fields and methods name, with a leading dot. */
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
