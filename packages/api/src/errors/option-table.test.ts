import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { XdskitError } from "./errors.js";
import { type CallWithOptions, checkCall, checkIterable, numberOptions } from "./option-table.js";

const made: CallWithOptions = {
  call: "make",
  code: "XDSKIT_SERVER_OPTION",
  example: '{ name: "a" }',
  table: {
    name: "string",
    how: ["function", "false"],
    limits: { options: numberOptions({ bytes: 1 }), or: ["off"] },
    servers: { items: { url: "string" }, texts: true },
  },
};

/** The error about options. */
function faults(options: unknown): readonly string[] {
  try {
    checkCall(made, options);
    return [];
  } catch (error) {
    if (!(error instanceof XdskitError)) throw error;
    return error.findings.map(({ message }) => message);
  }
}

describe("options of a program without types", () => {
  it("options may be left out, or be of each known kind", () => {
    for (const options of [
      {},
      { name: undefined, nobody: undefined },
      { name: "a", how: false, limits: { bytes: Number.POSITIVE_INFINITY }, servers: ["a", { url: "b" }] },
      { how: () => {}, limits: "off", servers: [] },
    ])
      assert.deepEqual(faults(options), []);
  });

  it("options must be an object", () => {
    for (const [options, found] of [
      ["S3CR3T", "a string"],
      [undefined, "nothing"],
      [null, "null"],
      [["a"], "a list"],
      [5, "a number"],
    ] as const)
      assert.deepEqual(faults(options), [`make takes an object, such as { name: "a" }, not ${found}`]);
  });

  it("an option with an unknown name is refused, with the name that was probably meant, or all names", () => {
    assert.deepEqual(faults({ nmae: "a" }), ['make: there is no option "nmae"; did you mean "name"?']);
    assert.deepEqual(faults({ limits: { byte: 1 } }), [
      'make: there is no option "limits.byte"; did you mean "bytes"?',
    ]);
    assert.deepEqual(faults({ servers: ["a", { address: "b" }] }), [
      'make: there is no option "servers[1].address"; there is url',
    ]);
    assert.deepEqual(faults({ constructor: 1 }), [
      'make: there is no option "constructor"; there is name, how, limits, servers',
    ]);
  });

  it("an option with a value of the wrong kind is refused, and the value is not shown", () => {
    assert.deepEqual(faults({ name: 5, how: true, limits: "S3CR3T", servers: [7] }), [
      "make: name must be a string, not a number",
      "make: how must be a function or false, not true",
      'make: limits must be an object or "off", not a string',
      "make: servers[0] must be an object or a string, not a number",
    ]);
    assert.deepEqual(faults({ servers: { url: "a" } }), ["make: servers must be a list, not an object"]);
  });

  it("what an option needs is missing, and what its items and its methods are is said with their place", () => {
    const table: CallWithOptions["table"] = {
      names: { items: "string" },
      steps: { items: { match: "object" }, needs: ["match"] },
      clock: { methods: ["now"] },
      bytes: "count",
    };
    const wrong = { names: ["a", 5], steps: [{}], clock: { now: 5 }, bytes: -1 };
    assert.throws(
      () => checkCall({ ...made, table, needs: ["name"] }, wrong),
      (error: XdskitError) => {
        assert.deepEqual(
          error.findings.map(({ message }) => message),
          [
            "make: names[1] must be a string, not a number",
            "make: steps[0].match is missing",
            'make: clock must have a function "now"',
            "make: bytes must be a number from 0 up, not a negative number",
            "make: name is missing",
          ],
        );
        return true;
      },
    );
  });

  it("one message is refused instead of a list", () => {
    const message = { $typeName: "envoy.config.cluster.v3.Cluster" };
    assert.throws(() => checkIterable({ ...made, call: "set", example: "[cluster]" }, message, "a list"), {
      message: "set takes a list, such as [cluster], not one envoy.config.cluster.v3.Cluster [XDSKIT_SERVER_OPTION]",
    });
    checkIterable(made, new Set(), "a list");
  });
});
