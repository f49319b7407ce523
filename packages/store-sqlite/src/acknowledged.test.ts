import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { Acknowledged } from "./acknowledged.js";

it("says at least what each of two writers was told is safe, however their notes fall together", async () => {
  const folder = await mkdtemp(join(tmpdir(), "xdskit-acknowledged-"));
  const [one, another] = [0, 1].map(() => new Acknowledged(join(folder, "revisions.db"))) as [
    Acknowledged,
    Acknowledged,
  ];
  try {
    for (let number = 1; number < 100; number += 2) {
      await Promise.all([one.note("store", number + 1), another.note("store", number)]);
      assert.equal((await one.read())?.number, number + 1);
    }
  } finally {
    one.close();
    another.close();
    await rm(folder, { recursive: true });
  }
});
