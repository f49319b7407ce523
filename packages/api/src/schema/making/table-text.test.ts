import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, fromJson, type JsonObject } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { registryOf, withJsonNames } from "../table.js";
import { formatPackage } from "./table-text.js";

const file = (json: JsonObject): FileDescriptorProto =>
  withJsonNames(fromJson(FileDescriptorProtoSchema, { package: "acme.v1", syntax: "proto3", ...json }));

const things = () =>
  file({
    name: "acme.proto",
    messageType: [
      {
        name: "Thing",
        field: [
          { name: "good_name", number: 1, type: "TYPE_STRING", label: "LABEL_OPTIONAL" },
          { name: "other_name", number: 2, type: "TYPE_STRING", label: "LABEL_OPTIONAL", jsonName: "OTHER" },
        ],
      },
    ],
    options: { goPackage: "acme.example/v1", deprecated: true },
  });

describe("the text of a package", () => {
  it("the text is protobuf's JSON, without JSON names that follow from the names and without Go's options", () => {
    const text = formatPackage([things()], registryOf([things()]));
    assert.doesNotMatch(text, /goodName|go_package/);
    const again = fromJson(FileDescriptorSetSchema, JSON.parse(text) as JsonObject).file.map(withJsonNames);
    const expected = things();
    expected.options = create(FileDescriptorProtoSchema, { options: { deprecated: true } }).options;
    assert.deepEqual(again, [expected]);
  });

  it("the text is refused if it would lose an option that nothing defines", () => {
    const odd = things();
    const message = odd.messageType[0];
    assert.ok(message);
    message.options = create(FileDescriptorProtoSchema, { messageType: [{ options: {} }] }).messageType[0]?.options;
    assert.ok(message.options);
    message.options.$unknown = [{ no: 50_000, wireType: 0, data: Uint8Array.of(1) }];
    assert.throws(() => formatPackage([odd], registryOf([things()])), /acme\.proto has options that no file/);
  });
});
