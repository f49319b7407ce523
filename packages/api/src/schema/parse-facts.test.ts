import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parsePackage } from "./parse-facts.js";
import { formatPackage } from "./write-facts.js";

/** One element of each kind in a table. */
const everything = `package acme.v1
file acme/v1/options.proto syntax=proto2
  public acme/v1/thing.proto
  extend google.protobuf.FieldOptions
    5001 tag string default="a b"
file acme/v1/thing.proto status=FROZEN
  message Thing since=1.36 was=acme.v0.Thing
    1 name string json=NAME deprecated acme.v1.tag="true" {string: {in: ["a{ b", "\\"c\\""], min_len: 1}}
    2 size optional uint32 since=1.38
    3 labels map<string,Thing.Kind>
    oneof value required
      4 text repeated string
      5 thing Thing packed=false
    6 gone google.protobuf.Any removed=1.40
    reserved 7 10-12 hosts
    message Part
    message Old removed=1.40
    enum Kind allow_alias
      0 NONE
      -1 ODD deprecated_at=3.0
      2 LATE since=1.39
      reserved 3-4 FORMER
  service Things resource=acme.v1.Thing
    rpc Watch stream Thing -> stream Thing http={post: "/things", body: "*"}
    rpc Get Thing -> google.protobuf.Empty
message Former removed=1.37
enum Outdated removed=1.37
`;

describe("the text of a package", () => {
  it("the text of a package is written as it was read", () => {
    assert.equal(formatPackage(parsePackage(everything, "acme.v1.txt")), everything);
  });

  it("the text of a package gives the options as protobuf's JSON has them", () => {
    const [name] = parsePackage(everything, "acme.v1.txt").files[1]?.messages[0]?.fields ?? [];
    assert.deepEqual(name?.options, {
      deprecated: true,
      "[acme.v1.tag]": "true",
      "[validate.rules]": { string: { in: ["a{ b", '"c"'], min_len: 1 } },
    });
  });

  for (const [mistake, line, problem] of [
    ["file a.proto", 1, /expected package NAME/],
    ["package a\nmessages A", 2, /expected file, message or enum/],
    ["package a\nfile a.proto\n  mesage A", 3, /expected public, extend, message, enum or service/],
    ["package a\nfile a.proto\n      message A", 3, /indented by 6 spaces/],
    ["package a\nfile a.proto\n  message A\n    x 1 string", 4, /expected a field: NUMBER NAME TYPE/],
    ["package a\nfile a.proto\n  message A\n    1 x text", 4, /text is no type/],
    ["package a\nfile a.proto\n  message A\n    1 x string {string: }", 4, /cannot read \{string: \}/],
    ["package a\nfile a.proto\n  enum A\n    NONE", 4, /expected a value: NUMBER NAME/],
    ["package a\nfile a.proto\n  service A\n    rpc Get A", 4, /expected a method: rpc NAME/],
  ] as const) {
    it(`the reader says that ${JSON.stringify(mistake)} is wrong at line ${line}`, () => {
      assert.throws(
        () => parsePackage(mistake, "a.txt"),
        ({ message }: Error) => message.startsWith(`a.txt:${line}: `) && problem.test(message),
      );
    });
  }
});
