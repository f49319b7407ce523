import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { createRegistry, createResource } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { ReadingThread } from "@xdskit/api/threads";
import { createShowResource } from "./resource-json.js";

test("a resource that the thread did not show is shown when somebody asks again", async () => {
  const long = createResource(create(ClusterSchema, { name: "a", altStatName: "x".repeat(1_000_000) }));
  const reading = new ReadingThread();
  const show = createShowResource(createRegistry(), reading);
  // The first thread ends, as if it had no memory left.
  process.once("worker", (worker) => void worker.terminate());
  await show.prepare([long]);
  assert.deepEqual(show(long), { "@type": long.type.typeUrl });
  await show.prepare([long]);
  assert.equal(show(long).name, "a");
  reading.close();
});
