import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createRejections } from "./node-rejections.js";

const type = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

describe("createRejections", () => {
  it("the first rejection of a version is distinguished from repetitions, for each node and type", () => {
    const { first } = createRejections();
    for (const node of ["n1", "n2", `${"x".repeat(1_000)}1`, `${"x".repeat(1_000)}2`]) {
      for (const of of [type, `${type}2`]) {
        assert.deepEqual(
          ["1", "1", "2"].map((version) => first(node, of, version)),
          [true, false, true],
        );
      }
    }
  });

  it("a rejection that comes back after another version was accepted is told again", () => {
    const rejections = createRejections();
    const first = () => rejections.first("n", type, "bad");
    assert.deepEqual([first(), rejections.size], [true, 1]);
    // A delta client acknowledges something else of the same version.
    rejections.accepted("n", type, "bad");
    rejections.accepted("other", type, "good");
    assert.equal(first(), false);
    rejections.accepted("n", type, "good");
    assert.deepEqual([rejections.size, first()], [0, true]);
  });

  it("the oldest rejections beyond the limit are forgotten", () => {
    const { first } = createRejections(2);
    for (const node of ["n1", "n2", "n3"]) first(node, type, "1");
    assert.deepEqual([first("n3", type, "1"), first("n1", type, "1")], [false, true]);
  });

  it("little is kept of a node, however long its id is", () => {
    setFlagsFromString("--expose-gc");
    const collect: () => void = runInNewContext("gc");
    const used = () => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    const rejections = createRejections();
    const before = used();
    for (let node = 0; node < 500; node++) rejections.first(`${"x".repeat(100_000)}${node}`, type, "1");
    const kept = used() - before;
    assert.ok(kept < 5_000_000, `${kept} bytes are kept of 500 nodes`);
    assert.equal(rejections.first(`${"x".repeat(100_000)}0`, type, "1"), false);
  });
});
