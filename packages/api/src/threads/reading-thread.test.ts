import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { resourceTypes } from "../resource-types/resource-types.js";
import { ReadingThread } from "./reading-thread.js";

const url = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

function threadOf(t: TestContext): ReadingThread {
  const thread = new ReadingThread();
  t.after(() => thread.close());
  return thread;
}

function yaml(count: number): Uint8Array {
  const of = (index: number) => `- { "@type": ${url}, name: c${index}, connect_timeout: 1s, alt_stat_name: a }\n`;
  return Buffer.from(Array.from({ length: count }, (_, index) => of(index)).join(""));
}

/** A body whose reading takes many seconds. */
function unknownFields(count: number): Uint8Array {
  const fields = Array.from({ length: count }, (_, index) => `"k${index}":1`).join();
  return Buffer.from(`{"upsert":[{"@type":"${url}",${fields}}]}`);
}

const how = { form: "json", keys: { resources: "upsert", named: "delete", fields: [] }, name: "body" } as const;

test("a body that takes too long to read is refused, and the next one is read by another thread", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const thread = threadOf(t);
  const body = unknownFields(1_200_000);
  const mebibytes = body.length / 1024 ** 2;
  const evil = thread.request(body, how);
  const next = thread.request(Buffer.from(`{"upsert":[]${" ".repeat(5 * 1024 ** 2)}}`), how);
  // Its turn has come, and its limit is set.
  await new Promise((resolve) => setImmediate(resolve));
  t.mock.timers.tick(200_000);
  const { findings } = await evil;
  const seconds = Math.ceil(30 + 4 * mebibytes);
  const message = `is not read: it takes more than ${seconds} s to read; send less at once`;
  assert.deepEqual(findings, [{ code: "XDSKIT_SYNTAX", severity: "error", message, file: "body" }]);
  assert.deepEqual((await next).findings, []);
});

test("a long answer of a REST server is read in the thread, at the same limits", async (t) => {
  let threads = 0;
  process.once("worker", () => {
    threads += 1;
  });
  const type = resourceTypes.byTypeUrl(url)?.type ?? assert.fail();
  const body = Buffer.from(`{"versionInfo":"1","resources":[${"[],".repeat(2_000_000)}[]]}`);
  const read = await threadOf(t).response(body, { type });
  assert.match(read.kind === "problem" ? read.message : read.kind, /more than 2000000 fields, items, lists/);
  assert.equal(threads, 1);
});

test("long texts do not wait for a very long one", async (t) => {
  const thread = threadOf(t);
  const order: string[] = [];
  const read = async (name: string, count: number) => {
    const { resources } = await thread.file(`${name}.yaml`, yaml(count));
    assert.equal(resources.length, count);
    order.push(name);
  };
  await Promise.all([read("very long", 12_000), read("long", 1_000), read("last", 500)]);
  assert.deepEqual(order, ["long", "last", "very long"]);
});
