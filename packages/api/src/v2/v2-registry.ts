import { create, type FileRegistry, toBinary } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { v2NameOf } from "../messages/v2-names.js";
import { createRegistry, envoyRegistry } from "../registry/registry.js";
import { resourceTypes } from "../resource-types/resource-types.js";
import { type Renaming, renamedMessage, renamedService, typesNamedIn } from "./derived-descriptors.js";

let derived: FileRegistry | undefined;

/**
 * The messages of v2, its discovery services and load reporting under their own names, derived from v3's, in addition
 * to everything of v3. Fields have the same numbers and names in both. Parts that v3 dropped are missing, and parts
 * that it added are included. It serves to read, show and reflect the messages that v2 clients receive. Made on first
 * use.
 */
export function v2Registry(): FileRegistry {
  if (derived === undefined) {
    const set = create(FileDescriptorSetSchema, { file: [...v2Files(envoyRegistry())] });
    derived = createRegistry({ descriptorSets: [toBinary(FileDescriptorSetSchema, set)] });
  }
  return derived;
}

/** One file per package: one per v3 file would make circular imports. */
function v2Files(v3: FileRegistry): readonly FileDescriptorProto[] {
  const files = new Map<string, FileDescriptorProto>();
  const fileFor = (packageName: string): FileDescriptorProto => {
    const file = files.get(packageName) ?? create(FileDescriptorProtoSchema, emptyFile(packageName));
    files.set(packageName, file);
    return file;
  };
  const renaming = renamingOf(v3);
  for (const type of v3) {
    if (type.kind !== "message" || type.parent !== undefined) continue;
    const v2Name = v2NameOf(type);
    // Some unversioned packages of that time still exist unchanged.
    if (v2Name === undefined || v3.getMessage(v2Name) !== undefined) continue;
    const { packageName, name } = splitFullName(v2Name);
    fileFor(packageName).messageType.push(renamedMessage(type.proto, name, renaming));
  }
  for (const [v3Name, v2Name] of services()) {
    const service = v3.getService(v3Name);
    if (service === undefined) continue;
    const { packageName, name } = splitFullName(v2Name);
    fileFor(packageName).service.push(renamedService(service.proto, name, renaming));
  }
  for (const file of files.values()) file.dependency = importsOf(file, v3);
  return [...files.values()];
}

function emptyFile(packageName: string) {
  return { name: fileOf(packageName), package: packageName, syntax: "proto3" };
}

function fileOf(packageName: string): string {
  return `xdskit/derived/${packageName.replaceAll(".", "/")}.proto`;
}

/** `envoy.api.v2.Cluster` → `envoy.api.v2` and `Cluster`. */
function splitFullName(fullName: string): { readonly packageName: string; readonly name: string } {
  const end = fullName.lastIndexOf(".");
  return { packageName: fullName.slice(0, end), name: fullName.slice(end + 1) };
}

/** The names of all types that a v2 message may name, as in descriptors. */
function renamingOf(v3: FileRegistry): Renaming {
  const renaming = new Map<string, string>();
  const addWithNested = (from: string, to: string, message: DescriptorProto): void => {
    renaming.set(from, to);
    for (const { name } of message.enumType) renaming.set(`${from}.${name}`, `${to}.${name}`);
    for (const nested of message.nestedType) addWithNested(`${from}.${nested.name}`, `${to}.${nested.name}`, nested);
  };
  for (const type of v3) {
    const v2Name = type.kind === "message" ? v2NameOf(type) : undefined;
    if (type.kind !== "message" || v2Name === undefined) continue;
    // An unversioned package that still exists lacks the parts that v3 added to its successor.
    if (v3.getMessage(v2Name) !== undefined) renaming.set(`.${type.typeName}`, `.${v2Name}`);
    else if (type.parent === undefined) addWithNested(`.${type.typeName}`, `.${v2Name}`, type.proto);
  }
  return renaming;
}

function services(): readonly (readonly [v3Name: string, v2Name: string])[] {
  const perType = resourceTypes.all.flatMap(({ services: { v3, v2 } }) =>
    v3 === undefined || v2 === undefined ? [] : [[v3.service, v2.service] as const],
  );
  const aggregated = (api: string): string => `envoy.service.discovery.${api}.AggregatedDiscoveryService`;
  const loadReporting = (api: string): string => `envoy.service.load_stats.${api}.LoadReportingService`;
  return [[aggregated("v3"), aggregated("v2")], [loadReporting("v3"), loadReporting("v2")], ...perType];
}

/** Messages and nested types start with a capital letter, packages do not. */
function packageOf(typeName: string): string {
  const parts = typeName.split(".");
  return parts
    .slice(
      0,
      parts.findIndex((part) => /^[A-Z]/.test(part)),
    )
    .join(".");
}

function importsOf(file: FileDescriptorProto, v3: FileRegistry): string[] {
  const imports = new Set<string>();
  for (const reference of typesNamedIn(file)) {
    const name = reference.slice(1);
    imports.add(v3.get(name)?.file.proto.name ?? fileOf(packageOf(name)));
  }
  imports.delete(file.name);
  return [...imports];
}
