import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { createRegistry, descriptorSetOf, envoyRegistry } from "./registry.js";

/** A file with one message, which has one field of each of the given message types. */
function file(name: string, message: string, fields: Readonly<Record<string, string>>, imports: readonly string[]) {
  return create(FileDescriptorProtoSchema, {
    name,
    package: "example",
    syntax: "proto3",
    dependency: [...imports],
    messageType: [
      {
        name: message,
        field: Object.entries(fields).map(([field, typeName], index) => ({
          name: field,
          number: index + 1,
          label: FieldDescriptorProto_Label.OPTIONAL,
          type: FieldDescriptorProto_Type.MESSAGE,
          typeName,
        })),
      },
    ],
  });
}

function set(...files: ReturnType<typeof file>[]): Uint8Array {
  return toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: files }));
}

const clusterFile = "envoy/config/cluster/v3/cluster.proto";

test("Envoy's registry is read once and knows extensions", () => {
  const registry = envoyRegistry();
  assert.equal(envoyRegistry(), registry);
  assert.ok(registry.getMessage("envoy.config.listener.v3.Listener"));
  assert.ok(registry.getMessage("envoy.extensions.filters.http.router.v3.Router"));
});

test("a user's own messages join Envoy's", () => {
  const mine = set(file("my/filter.proto", "MyFilter", { cluster: ".envoy.config.cluster.v3.Cluster" }, [clusterFile]));
  const registry = createRegistry({ descriptorSets: [mine] });
  const field = registry.getMessage("example.MyFilter")?.fields[0];
  assert.ok(field?.message);
  assert.equal(registry.getMessage("envoy.config.cluster.v3.Cluster"), field.message);
  assert.equal(envoyRegistry().getMessage("example.MyFilter"), undefined);
});

test("files of a set may come in any order and be imported by several", () => {
  const registry = createRegistry({
    descriptorSets: [
      set(
        file("top.proto", "Top", { left: ".example.Left", base: ".example.Base" }, ["base.proto", "left.proto"]),
        file("left.proto", "Left", { base: ".example.Base" }, ["base.proto"]),
        file("base.proto", "Base", {}, []),
      ),
    ],
  });
  const base = registry.getMessage("example.Base");
  assert.ok(base);
  assert.equal(registry.getMessage("example.Top")?.field.base?.message, base);
  assert.equal(registry.getMessage("example.Left")?.field.base?.message, base);
});

test("a later set may import what an earlier one brought", () => {
  const registry = createRegistry({
    descriptorSets: [
      set(file("base.proto", "Base", {}, [])),
      set(file("top.proto", "Top", { base: ".example.Base" }, ["base.proto"])),
    ],
  });
  assert.equal(registry.getMessage("example.Top")?.fields[0]?.message, registry.getMessage("example.Base"));
});

test("a set that includes a file of Envoy's in another version does not replace it", () => {
  const imposter = file(clusterFile, "Imposter", {}, []);
  const registry = createRegistry({ descriptorSets: [set(imposter, file("mine.proto", "Mine", {}, []))] });
  assert.equal(registry.getMessage("example.Imposter"), undefined);
  assert.ok(registry.getMessage("example.Mine"));
  assert.ok(registry.getMessage("envoy.config.cluster.v3.Cluster"));
});

for (const [what, bytes, pattern] of [
  ["bytes that are no descriptor set", new Uint8Array([0xff, 0xff, 0xff]), /not a usable descriptor set/],
  ["an empty file", new Uint8Array(), /holds no file/],
  [
    "a set without something imported",
    set(file("a.proto", "A", {}, ["gone.proto"])),
    /lacks gone\.proto, which a\.proto/,
  ],
  [
    "files that import each other",
    set(file("a.proto", "A", {}, ["b.proto"]), file("b.proto", "B", {}, ["a.proto"])),
    /lacks a\.proto, which b\.proto imports/,
  ],
  [
    "a message of Envoy's from elsewhere",
    set(
      create(FileDescriptorProtoSchema, {
        name: "api/cluster.proto",
        package: "envoy.config.cluster.v3",
        messageType: [{ name: "Cluster" }],
      }),
    ),
    /cluster\.proto defines envoy\.config\.cluster\.v3\.Cluster, which envoy/,
  ],
  ["a field of a message that is nowhere", set(file("a.proto", "A", { x: ".example.Nowhere" }, [])), /Nowhere/],
] as const) {
  test(`${what}: refused with a code`, () => {
    assert.throws(() => createRegistry({ descriptorSets: [bytes] }), {
      code: "XDSKIT_DESCRIPTOR_SET",
      message: pattern,
    });
  });
}

test("what a registry has beside Envoy's messages makes the same registry again", () => {
  const base = file("base.proto", "Base", { cluster: ".envoy.config.cluster.v3.Cluster" }, [clusterFile]);
  const top = file("top.proto", "Top", { base: ".example.Base" }, ["base.proto"]);
  const own = descriptorSetOf(createRegistry({ descriptorSets: [set(top, base)] }));
  assert.ok(own && own.length < 1_000, "it holds Envoy's files");
  const again = createRegistry({ descriptorSets: [own] });
  assert.equal(again.getMessage("example.Top")?.fields[0]?.message?.typeName, "example.Base");
  assert.equal(descriptorSetOf(envoyRegistry()), undefined);
});
