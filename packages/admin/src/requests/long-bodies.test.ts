import assert from "node:assert/strict";
import { test } from "node:test";
import { runningApi } from "../testing/running-api.js";

const each = (count: number, make: (index: number) => string, separator = "") =>
  Array.from({ length: count }, (_, index) => make(index)).join(separator);
const cluster = '"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster"';
const json = "application/json";
const yaml = "application/yaml";

/** Bodies of a few bytes for each value, which took seconds of everybody, with the status of the answer. */
const bodies: readonly (readonly [what: string, type: string, make: () => string, status: number])[] = [
  ["lists", json, () => `{"upsert":[${each(5_000_000, () => "[]", ",")}]}`, 400],
  ["things that are no resources", json, () => `{"upsert":[${each(500_000, () => "[]", ",")}]}`, 400],
  ["unknown keys", json, () => `{${each(300_000, (i) => `"k${i}":1`, ",")}}`, 400],
  ["unknown fields", json, () => `{"upsert":[{${cluster},${each(200_000, (i) => `"k${i}":1`, ",")}}]}`, 422],
  ["things that are no names", json, () => `{"delete":[${each(500_000, () => "[]", ",")}]}`, 400],
  ["lines in a text", yaml, () => `a: "${"x\n".repeat(500_000)}"`, 400],
  ["comments", yaml, () => `${"#\n".repeat(800_000)}upsert: []`, 400],
  ["documents", yaml, () => "---\n".repeat(100_000), 400],
  ["anchors", yaml, () => `upsert: [${"&a a,".repeat(400_000)}1]`, 400],
  ["empty resources", "application/x-protobuf", () => "\x12\0".repeat(3_000_000), 400],
];

for (const [what, type, make, expected] of bodies) {
  test(`a body of many ${what} leaves turns to others, and the answer says where it is wrong`, async () => {
    await using api = await runningApi();
    const body = make();
    // The thread is there.
    await api.ask("POST", "layers/api/changes", `{"upsert":[${" ".repeat(100_000)}]}`, { "content-type": json });
    let turns = 0;
    const counting = setInterval(() => {
      turns += 1;
    }, 1);
    const { status, body: answer } = await api.ask("POST", "layers/api/changes", body, { "content-type": type });
    clearInterval(counting);
    assert.equal(status, expected, JSON.stringify(answer).slice(0, 1_000));
    const [finding] = answer.findings;
    assert.equal(finding.file, "body");
    if (type !== "application/x-protobuf") assert.ok(finding.line >= 1 && finding.column >= 1);
    assert.ok(answer.findings.length <= 100);
    assert.ok(turns >= 10, `${turns} turns`);
  });
}
