import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startEnvoyJudge } from "./corpus/envoy-judge.js";
import { eventually } from "./harness/basics/wait.js";

test("an Envoy that does not start leaves no server and no files", { timeout: 120_000 }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "xdskit-judge-"));
  const before = process.env.TMPDIR;
  t.after(async () => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    await rm(folder, { recursive: true, force: true });
  });
  process.env.TMPDIR = folder;
  // It ends at once: it has no such options.
  await assert.rejects(startEnvoyJudge(process.execPath), /Envoy ended: .*bad option/s);
  assert.deepEqual(await readdir(folder), []);
  await eventually("the end of the server", () => !process.getActiveResourcesInfo().includes("TCPServerWrap"));
});
