import assert from "node:assert/strict";
import { it } from "node:test";
import { createMemoryStore } from "../tables/memory-store.js";
import { ReportedRevisions } from "./reported-revisions.js";
import { RevisionWriter } from "./revision-writer.js";
import { Rollbacks } from "./rollbacks.js";

it("a writer that is paused runs no task, and stays paused", async () => {
  const store = await createMemoryStore();
  const writer = new RevisionWriter({
    store,
    describe: () => undefined,
    retention: { revisions: 1, since: 0 },
    onProblem: () => {},
    rollbacks: new Rollbacks(),
    revisions: new ReportedRevisions(store, () => {}),
    follow: () => {},
  });
  assert.equal(await writer.alone(async () => "done"), "done");
  await writer.stop("paused");
  assert.equal(await writer.alone(async () => "done"), undefined);
  assert.equal(writer.state, "paused");
  await writer.stop("closed");
});
