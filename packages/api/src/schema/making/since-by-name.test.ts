import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { sinceByName } from "./since-by-name.js";

/** A field such as `1 x string`. */
function field(text: string) {
  const [number, name = "", type = ""] = text.split(" ");
  return { number: Number(number), name, label: "LABEL_OPTIONAL", type: `TYPE_${type.toUpperCase()}` };
}

function message(name: string, fields: readonly string[], nestedType: JsonValue[] = []) {
  return { name, field: fields.map(field), nestedType };
}

/** A file of the package acme with these messages. */
function files(messageType: JsonValue[], enumType: JsonValue[] = []): readonly FileDescriptorProto[] {
  return [fromJson(FileDescriptorProtoSchema, { name: "acme.proto", package: "acme", messageType, enumType })];
}

function since(...readings: readonly (readonly [string, typeof none, typeof none?])[]) {
  const given = readings.map(([version, own, contrib = []]) => ({ version, files: own, contrib }));
  return Object.fromEntries(sinceByName(given));
}

const none: readonly FileDescriptorProto[] = [];

describe("the versions of Envoy that introduced elements", () => {
  it("the first version with a part is the one that introduced it, unless the oldest has it", () => {
    const zero = { name: "NONE", number: 0 };
    const old = files([message("A", ["1 x string"])], [{ name: "E", value: [zero] }]);
    const now = files(
      [message("A", ["1 x string", "2 y string"])],
      [{ name: "E", value: [zero, { name: "ONE", number: 1 }] }],
    );
    assert.deepEqual(since(["1.32", old], ["1.35", now], ["1.36", now]), { "acme.A.y": "1.35", "acme.E.ONE": "1.35" });
  });

  it("a field does not repeat the version of its message", () => {
    const now = files([message("A", ["1 x string"], [message("B", ["1 y string"])])]);
    assert.deepEqual(since(["1.32", none], ["1.35", now]), { "acme.A": "1.35" });
  });

  it("a removed part is not there", () => {
    const old = files([message("A", ["1 x string"]), message("B", ["1 z string"])]);
    assert.deepEqual(since(["1.32", old], ["1.35", files([message("A", [])])]), {});
  });

  it("a part that was gone for some versions is as old as its return", () => {
    const [present, gone] = [files([message("A", ["1 x string"])]), files([message("A", [])])];
    assert.deepEqual(since(["1.32", present], ["1.35", gone], ["1.36", present]), { "acme.A.x": "1.36" });
  });

  it("a field with another type or number is another field", () => {
    const old = files([message("A", ["1 x string", "2 y string"])]);
    const now = files([message("A", ["1 x bytes", "3 y string"])]);
    assert.deepEqual(since(["1.32", old], ["1.35", now]), { "acme.A.x": "1.35", "acme.A.y": "1.35" });
  });

  it("a map is one field, which is another one if its values have another type", () => {
    const mapOf = (type: string) => {
      const entry = { ...message("XEntry", ["1 key string", `2 value ${type}`]), options: { mapEntry: true } };
      const x = { ...field("1 x message"), label: "LABEL_REPEATED", typeName: ".acme.A.XEntry" };
      return files([{ name: "A", field: [x], nestedType: [entry] }]);
    };
    assert.deepEqual(since(["1.32", mapOf("string")], ["1.35", mapOf("bytes")]), { "acme.A.x": "1.35" });
  });

  it("versions whose contrib part is not published prove nothing about contrib", () => {
    const extension = files([message("A", ["1 x string"])]);
    assert.deepEqual(since(["1.32", none, extension], ["1.35", none], ["1.36", none, extension]), {});
  });

  it("an extension that has left contrib is as old as it was there", () => {
    const [extension, other] = [files([message("A", ["1 x string"])]), files([message("Other", [])])];
    assert.deepEqual(since(["1.32", none, extension], ["1.35", extension, other]), { "acme.Other": "1.35" });
  });
});
