import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createFileRegistry, type DescFile, fromBinary } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { lazyFiles } from "./lazy-files.js";

const bytes = readFileSync(new URL("../../gen/envoy.binpb", import.meta.url));

function recorded() {
  const read: string[] = [];
  return { read, registry: lazyFiles(bytes, (file) => read.push(file)) };
}

test("a type costs its file and the imports of that, once", () => {
  const { read, registry } = recorded();
  assert.deepEqual(read, []);
  const runtime = registry.getMessage("envoy.service.runtime.v3.Runtime");
  assert.equal(runtime?.file.proto.name, "envoy/service/runtime/v3/rtds.proto");
  assert.ok(read.length < 40, `${read.length} files`);
  const before = read.length;
  assert.equal(registry.getMessage("envoy.service.runtime.v3.Runtime"), runtime);
  assert.equal(registry.getFile("envoy/service/runtime/v3/rtds.proto"), runtime.file);
  assert.equal(read.length, before);

  for (const name of ["cluster.v3.Cluster", "endpoint.v3.ClusterLoadAssignment"]) {
    assert.ok(registry.getMessage(`envoy.config.${name}`));
  }
  assert.ok(registry.getMessage("envoy.config.cluster.v3.Cluster.CommonLbConfig.ZoneAwareLbConfig"));
  assert.ok(read.length < 80, `${read.length} files`);
  assert.equal(new Set(read).size, read.length);
});

test("a missing type costs nothing", () => {
  const { read, registry } = recorded();
  for (const name of ["example.Mine", "Mine", "", ".", "envoy.config.cluster.v3.Clusters", "google.protobuf.Nothing"]) {
    assert.equal(registry.get(name), undefined);
    assert.equal(registry.getMessage(name), undefined);
  }
  assert.equal(registry.getFile("mine.proto"), undefined);
  assert.deepEqual(read, []);
  const cluster = registry.getMessage("envoy.config.cluster.v3.Cluster") ?? assert.fail();
  assert.equal(registry.get("envoy.config.cluster.v3.Cluster.Nothing"), undefined);
  assert.equal(registry.getEnum("envoy.config.cluster.v3.Cluster"), undefined);
  const before = read.length;
  assert.equal(registry.getExtensionFor(cluster, 1), undefined);
  assert.equal(read.length, before);
});

test("a lazy registry gives the same as one that has read everything", () => {
  const whole = createFileRegistry(fromBinary(FileDescriptorSetSchema, bytes));
  const { registry } = recorded();
  // From the last file to the first, so that imports are read in another order.
  for (const file of [...whole.files].reverse()) {
    const lazy = registry.getFile(file.proto.name) ?? assert.fail(file.proto.name);
    assert.deepEqual(summary(lazy), summary(file));
    for (const imported of lazy.dependencies) assert.equal(registry.getFile(imported.proto.name), imported);
  }
  const namesOf = (types: Iterable<{ readonly typeName: string }>) => Array.from(types, ({ typeName }) => typeName);
  assert.deepEqual(new Set(namesOf(registry)), new Set(namesOf(whole)));
  assert.deepEqual(
    Array.from(registry.files, ({ name }) => name),
    Array.from(whole.files, ({ name }) => name),
  );
  for (const type of whole) {
    assert.equal(registry.get(type.typeName)?.kind, type.kind);
    if (type.kind === "message") assert.equal(registry.getMessage(type.typeName)?.fields.length, type.fields.length);
    if (type.kind === "extension") {
      const extendee = registry.getMessage(type.extendee.typeName) ?? assert.fail(type.extendee.typeName);
      assert.equal(registry.getExtensionFor(extendee, type.number)?.typeName, type.typeName);
    }
  }
});

/** The names of everything in a file, with the types of fields. */
function summary(file: DescFile) {
  return {
    name: file.name,
    imports: file.dependencies.map(({ name }) => name),
    types: Array.from(nestedTypes(file), (type) =>
      type.kind === "message"
        ? [type.typeName, ...type.fields.map((field) => `${field}: ${field.message?.typeName ?? field.enum?.typeName}`)]
        : [type.typeName],
    ),
  };
}

test("fields lead to the types that the registry has", () => {
  const { registry } = recorded();
  for (const type of registry) {
    if (type.kind !== "message") continue;
    for (const { message } of type.fields) if (message) assert.equal(registry.getMessage(message.typeName), message);
  }
});

test("bytes that are no descriptor set are an error", () => {
  for (const wrong of [Uint8Array.of(0x0a, 0x05, 0x01), Uint8Array.of(0x0b), Uint8Array.of(0x80)]) {
    assert.throws(() => lazyFiles(wrong), /a descriptor set/);
  }
});
