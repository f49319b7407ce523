import assert from "node:assert/strict";
import fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readWholeFile } from "./read-file.js";

test("a file that was written a moment before it was read is read again, however long the reading took", async (t) => {
  const folder = fs.mkdtempSync(join(tmpdir(), "xdskit-"));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const file = join(folder, "a.yaml");
  fs.writeFileSync(file, "a");
  let now = Math.floor(fs.statSync(file).mtimeMs) + 1;
  t.mock.method(Date, "now", () => now);
  const reading = readWholeFile(file, 100);
  now += 1_000;
  const soon = await reading;
  assert.equal(soon.kind === "read" && soon.doubtful, true);
  const later = await readWholeFile(file, 100);
  assert.equal(later.kind === "read" && later.doubtful, false);
});
