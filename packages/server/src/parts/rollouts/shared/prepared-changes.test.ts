import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { envoyRegistry, resourceTypes } from "@xdskit/api";
import { fullSettings } from "../../../settings/rollout-settings.js";
import { newCourse } from "../course/course.js";
import type { RecordedChange, RolloutRecord } from "../records/record.js";
import { PreparedChanges } from "./prepared-changes.js";

const [failing, slow] = ["failing", "slow"].map((group): RolloutRecord => {
  const course = newCourse(fullSettings({ steps: [{ count: 1 }] }));
  return { group, id: 1, writes: 1, change: "c", past: [], startedAt: 0, since: 0, course };
});
if (failing === undefined || slow === undefined) throw new Error("no records");

describe("what a start reads for the rollouts of all groups", () => {
  it("is read for one group although it cannot be read for another one", async () => {
    const content: RecordedChange = { type: "t", key: "a", from: "1", wanted: "2" };
    let answer = (): void => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const prepared = new PreparedChanges({
      store: {
        content: async () => {
          await answered;
          return undefined;
        },
      },
      registry: envoyRegistry(),
      types: resourceTypes,
      problem: () => {},
      records: {
        all: [failing, slow],
        list: (record) => (record.group === "slow" ? Promise.resolve([content]) : Promise.reject(new Error("away"))),
        read: () => Promise.resolve(),
      },
    });
    const read = prepared.readAll(() => false);
    setTimeout(answer, 50);
    await assert.rejects(read, /away/);
    assert.equal(prepared.of(slow)?.kind, "read");
    assert.equal(prepared.of(failing)?.kind, "failed");
  });
});
