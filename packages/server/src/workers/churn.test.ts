import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { playChurn } from "../testing/churn.js";

/** See CONTRIBUTING.md. Times are milliseconds. */
const {
  SEED = "1",
  CHANGES = "8",
  HOGS = "0",
  STALL = "60",
  LATE = "10",
  LOST = "30000",
  WORKERS = "1,2",
} = process.env;

describe("no change is lost on its way to a stream, whatever else happens", () => {
  for (const workers of WORKERS.split(",").map(Number)) {
    it(`seed ${SEED}, workers ${workers}`, async (t) => {
      const played = await playChurn({
        workers,
        seed: Number(SEED),
        changes: Number(CHANGES),
        hogs: Number(HOGS),
        stallMs: Number(STALL),
        lateMs: Number(LATE),
        lostMs: Number(LOST),
      });
      assert.equal(played.changes, Number(CHANGES));
      t.diagnostic(JSON.stringify(played));
    });
  }
});
