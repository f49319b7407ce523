import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  DescriptorProtoSchema,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { createRegistry, descriptorSetOf, envoyRegistry, ownFilesOf } from "./registry.js";

/** A file with one message that has one field of each given message type. */
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

/** One of Envoy's files with different content. */
function changedFile(name: string, change: (file: FileDescriptorProto) => void): FileDescriptorProto {
  const file = envoyRegistry().getFile(name) ?? assert.fail(name);
  const copy = fromBinary(FileDescriptorProtoSchema, toBinary(FileDescriptorProtoSchema, file.proto));
  change(copy);
  return copy;
}

const messageOf = (file: FileDescriptorProto, name: string) =>
  file.messageType.find((message) => message.name === name) ?? assert.fail(name);

test("a file of a set replaces the built-in one of its name, and all importing files see it", () => {
  const newer = changedFile(clusterFile, (file) => {
    messageOf(file, "Cluster").field.push(
      create(FieldDescriptorProtoSchema, {
        name: "of_tomorrow",
        jsonName: "ofTomorrow",
        number: 9999,
        label: FieldDescriptorProto_Label.OPTIONAL,
        type: FieldDescriptorProto_Type.STRING,
      }),
    );
    file.messageType.push(create(DescriptorProtoSchema, { name: "Tomorrow" }));
  });
  const registry = createRegistry({ descriptorSets: [set(newer, file("mine.proto", "Mine", {}, []))] });
  const cluster = registry.getMessage("envoy.config.cluster.v3.Cluster");
  assert.ok(cluster?.field.ofTomorrow);
  assert.ok(registry.getMessage("envoy.config.cluster.v3.Tomorrow"));
  assert.ok(registry.getMessage("example.Mine"));
  const dump = registry.getMessage("envoy.config.bootstrap.v3.Bootstrap.StaticResources");
  assert.equal(dump?.field.clusters?.message, cluster);
  assert.equal(envoyRegistry().getMessage("envoy.config.cluster.v3.Cluster")?.field.ofTomorrow, undefined);

  const again = createRegistry({ descriptorSets: [descriptorSetOf(registry) ?? assert.fail()] });
  assert.ok(again.getMessage("envoy.config.cluster.v3.Cluster")?.field.ofTomorrow);
  assert.deepEqual(
    ownFilesOf(again).map(({ proto }) => proto.name),
    [clusterFile, "mine.proto"],
  );
});

test("a set may remove something that no other file uses", () => {
  const older = changedFile(clusterFile, (file) => {
    const message = messageOf(file, "Cluster");
    message.field = message.field.filter(({ name }) => name !== "connect_timeout");
  });
  const registry = createRegistry({ descriptorSets: [set(older)] });
  assert.equal(registry.getMessage("envoy.config.cluster.v3.Cluster")?.field.connectTimeout, undefined);
});

test("a file of a set takes the place of one of another name that defines the same types", () => {
  const elsewhere = changedFile(clusterFile, (file) => {
    file.name = `api/${clusterFile}`;
    file.messageType.push(create(DescriptorProtoSchema, { name: "Tomorrow" }));
  });
  const registry = createRegistry({ descriptorSets: [set(elsewhere)] });
  const cluster = registry.getMessage("envoy.config.cluster.v3.Cluster");
  assert.equal(cluster?.file.proto.name, elsewhere.name);
  assert.equal(
    registry.getMessage("envoy.config.bootstrap.v3.Bootstrap.StaticResources")?.field.clusters?.message,
    cluster,
  );
  assert.equal([...registry.files].filter(({ proto }) => proto.name.endsWith(clusterFile)).length, 1);
  const again = createRegistry({ descriptorSets: [descriptorSetOf(registry) ?? assert.fail()] });
  assert.ok(again.getMessage("envoy.config.cluster.v3.Tomorrow"));
});

const percentFile = "envoy/type/v3/percent.proto";

/** Envoy's percent.proto under another name, with one more message. */
const percentAt = (name: string, message: string) =>
  changedFile(percentFile, (file) => {
    file.name = name;
    file.messageType.push(create(DescriptorProtoSchema, { name: message }));
  });

for (const last of ["two/percent.proto", percentFile]) {
  test(`a file that takes another's place gives way to one of a later set: ${last}`, () => {
    const sets = [set(percentAt("one/percent.proto", "One")), set(percentAt(last, "Two"))];
    const mine = file("mine.proto", "Mine", { percent: ".envoy.type.v3.Percent" }, [percentFile]);
    const later = file("late.proto", "Late", { percent: ".envoy.type.v3.Percent" }, ["one/percent.proto"]);
    const registry = createRegistry({ descriptorSets: [...sets, set(mine, later)] });
    const percent = registry.getMessage("envoy.type.v3.Percent") ?? assert.fail();
    assert.equal(percent.file.proto.name, last);
    assert.equal(registry.getMessage("example.Mine")?.field.percent?.message, percent);
    assert.equal(registry.getMessage("example.Late")?.field.percent?.message, percent);
    const common = registry.getMessage("envoy.config.cluster.v3.Cluster.CommonLbConfig");
    assert.equal(common?.field.healthyPanicThreshold?.message, percent);
    assert.deepEqual(
      ownFilesOf(registry).map(({ proto }) => proto.name),
      [last, "mine.proto", "late.proto"],
    );
    assert.ok([...registry.files].every(({ proto }) => proto.name !== "one/percent.proto"));
  });
}

for (const [what, name] of [
  ["the file that took the place of a built-in one", "one/percent.proto"],
  ["a built-in file that gave way, with something else in it,", percentFile],
] as const) {
  test(`a set that brings ${what} again without a part that others need is refused with a code`, () => {
    const sets = [set(percentAt("one/percent.proto", "One")), set(file(name, "Imposter", {}, []))];
    assert.throws(() => createRegistry({ descriptorSets: sets }), {
      code: "XDSKIT_DESCRIPTOR_SET",
      message: /envoy\/[\w/]+\.proto.*envoy\.type\.v3\.\w*Percent/,
    });
  });
}

test("the later one of two sets with a file of one name counts", () => {
  const sets = [set(file("a.proto", "One", {}, [])), set(file("a.proto", "Two", {}, []))];
  const registry = createRegistry({ descriptorSets: sets });
  assert.equal(registry.getMessage("example.One"), undefined);
  assert.ok(registry.getMessage("example.Two"));
});

test("a set's copies of Envoy's and protobuf's files replace nothing if they are equal", () => {
  const proto = "google/protobuf/any.proto";
  const same = [clusterFile, "envoy/config/core/v3/base.proto"].map((name) =>
    changedFile(name, (file) => {
      file.options = undefined;
      for (const { field } of file.messageType) for (const each of field) each.jsonName = "";
    }),
  );
  const any = changedFile(proto, (file) => file.messageType.push(create(DescriptorProtoSchema, { name: "Own" })));
  const registry = createRegistry({ descriptorSets: [set(...same, any, file("mine.proto", "Mine", {}, [proto]))] });
  assert.deepEqual(
    ownFilesOf(registry).map(({ proto }) => proto.name),
    ["mine.proto"],
  );
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
    /a\.proto imports itself, by way of its imports/,
  ],
  [
    "a message of Envoy's from elsewhere, without others of its file that are needed",
    set(
      create(FileDescriptorProtoSchema, {
        name: "api/cluster.proto",
        package: "envoy.config.cluster.v3",
        messageType: [{ name: "Cluster" }],
      }),
    ),
    /envoy\/[\w/]+\.proto: envoy[\w.]+ is of type envoy\.config\.cluster\.v3\.[\w.]+, which envoy\/config\/cluster\/v3\/cluster\.proto has, and not api\/cluster\.proto of the/,
  ],
  [
    "a file in the place of one that others need",
    set(file(clusterFile, "Imposter", {}, [])),
    /envoy\/[\w/]+\.proto: envoy[\w.]+ is of type envoy\.config\.cluster\.v3\.[\w.]+, which the built-in envoy\/config\/cluster\/v3\/cluster\.proto has, and not envoy\/config\/cluster\/v3\/cluster\.proto of the descriptor set/,
  ],
  [
    "a file that uses what the one that it brings along does not have",
    set(
      file(clusterFile, "Imposter", {}, []),
      file("mine.proto", "Mine", { cluster: ".envoy.config.cluster.v3.Cluster" }, [clusterFile]),
    ),
    /mine\.proto: example\.Mine\.cluster is of type envoy\.config\.cluster\.v3\.Cluster, which the built-in envoy\/config\/cluster\/v3\/cluster\.proto has, and not/,
  ],
  [
    "a message of protobuf's own",
    set(
      create(FileDescriptorProtoSchema, {
        name: "any.proto",
        package: "google.protobuf",
        messageType: [{ name: "Any" }],
      }),
    ),
    /any\.proto defines google\.protobuf\.Any, which google\/protobuf\/any\.proto defines/,
  ],
  [
    "two files with a message of one name",
    set(file("a.proto", "A", {}, []), file("b.proto", "A", {}, [])),
    /b\.proto defines example\.A, which a\.proto defines/,
  ],
  ["a field of a message that is nowhere", set(file("a.proto", "A", { x: ".example.Nowhere" }, [])), /Nowhere/],
] as const) {
  test(`a set is refused with a code (${what})`, () => {
    assert.throws(() => createRegistry({ descriptorSets: [bytes] }), {
      code: "XDSKIT_DESCRIPTOR_SET",
      message: pattern,
    });
  });
}

test("the parts of a registry beside Envoy's messages make the same registry again", () => {
  const base = file("base.proto", "Base", { cluster: ".envoy.config.cluster.v3.Cluster" }, [clusterFile]);
  const top = file("top.proto", "Top", { base: ".example.Base" }, ["base.proto"]);
  const own = descriptorSetOf(createRegistry({ descriptorSets: [set(top, base)] }));
  assert.ok(own && own.length < 1_000, "it holds Envoy's files");
  const again = createRegistry({ descriptorSets: [own] });
  assert.equal(again.getMessage("example.Top")?.fields[0]?.message?.typeName, "example.Base");
  assert.equal(descriptorSetOf(envoyRegistry()), undefined);
});
