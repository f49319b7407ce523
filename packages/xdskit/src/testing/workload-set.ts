import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  DescriptorProtoSchema,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { envoyRegistry } from "@xdskit/api";

/** Fields by their numbers: a text, or the message of the name. */
type Fields = Readonly<Record<string, readonly [number: number, message?: string]>>;

function message(name: string, fields: Fields, oneof?: string): DescriptorProto {
  return create(DescriptorProtoSchema, {
    name,
    field: Object.entries(fields).map(([field, [number, type]]) => ({
      name: field,
      jsonName: field,
      number,
      label: FieldDescriptorProto_Label.OPTIONAL,
      type: type === undefined ? FieldDescriptorProto_Type.STRING : FieldDescriptorProto_Type.MESSAGE,
      ...(type === undefined ? {} : { typeName: `.istio.workload.${type}` }),
      ...(oneof === undefined ? {} : { oneofIndex: 0 }),
    })),
    ...(oneof === undefined ? {} : { oneofDecl: [{ name: oneof }] }),
  });
}

/**
 * A descriptor set such as one of Istio's API for its ambient mode: an address, which has no name, is a workload or a
 * service, which have one.
 */
export const workloadSet = toBinary(
  FileDescriptorSetSchema,
  create(FileDescriptorSetSchema, {
    file: [
      create(FileDescriptorProtoSchema, {
        name: "workload/workload.proto",
        package: "istio.workload",
        syntax: "proto3",
        messageType: [
          message("Address", { workload: [1, "Workload"], service: [2, "Service"] }, "type"),
          message("Workload", { uid: [20], name: [1], namespace: [2] }),
          message("Service", { name: [1], hostname: [3] }),
        ],
      }),
    ],
  }),
);

/** Wrapped for its name. */
export const addressYaml = (
  name: string,
  namespace = "default",
) => `"@type": type.googleapis.com/envoy.service.discovery.v3.Resource
name: ${name}
resource:
  "@type": type.googleapis.com/istio.workload.Address
  workload: { uid: uid-${name}, name: ${name}, namespace: ${namespace} }
`;

/** Envoy's file of clusters as it may be tomorrow: with a field more. */
export function newerClusterSet(): Uint8Array {
  const name = "envoy/config/cluster/v3/cluster.proto";
  const { proto } = envoyRegistry().getFile(name) as NonNullable<
    ReturnType<ReturnType<typeof envoyRegistry>["getFile"]>
  >;
  const file = fromBinary(FileDescriptorProtoSchema, toBinary(FileDescriptorProtoSchema, proto));
  const cluster = file.messageType.find((message) => message.name === "Cluster");
  const label = FieldDescriptorProto_Label.OPTIONAL;
  const type = FieldDescriptorProto_Type.STRING;
  const field = { name: "of_tomorrow", jsonName: "ofTomorrow", number: 9_999, label, type };
  cluster?.field.push(create(FieldDescriptorProtoSchema, field));
  return toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: [file] }));
}
