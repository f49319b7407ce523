import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { fullSettings } from "../../settings/rollout-settings.js";
import { createMemoryStore } from "../../stores/tables/memory-store.js";
import { newCourse } from "../course.js";
import { courseKey, courses } from "./record.js";
import { type NextRecord, RecordStore } from "./record-store.js";

const next: NextRecord = {
  ...{ id: 1, change: "c", past: [], startedAt: 0, since: 0 },
  course: newCourse(fullSettings({ steps: [{ count: 1 }] })),
};

/** Two servers that know the record after three writes, and the value that it had after the first one. */
async function afterThreeWrites(t: TestContext) {
  const store = await createMemoryStore();
  const { shared } = store;
  const open = () => new RecordStore(shared, { heard() {}, told() {}, away() {} });
  const [one, two] = [open(), open()];
  t.after(async () => {
    one.close();
    two.close();
    await store.close();
  });
  await one.write("g", undefined, next, []);
  const [first] = await shared.list(courses);
  for (let writes = 2; writes <= 3; writes += 1) assert.ok(await one.write("g", one.of("g"), next));
  await known(two, 3);
  return { shared, one, two, first: first?.value ?? assert.fail() };
}

async function known(records: RecordStore, writes: number | undefined): Promise<void> {
  for (let tries = 0; records.of("g")?.writes !== writes; tries += 1) {
    assert.ok(tries < 1_000, `${records.of("g")?.writes} writes are known, not ${writes}`);
    await delay(10);
  }
}

describe("the records of rollouts in a store that is restored from a backup", () => {
  it("go back with it, and can be written again", async (t) => {
    const { shared, one, two, first } = await afterThreeWrites(t);
    await shared.put({ key: courseKey("g"), value: first, expected: "any" });
    await Promise.all([known(one, 1), known(two, 1)]);
    assert.ok(await two.write("g", two.of("g"), next));
    await known(one, 2);
  });

  it("go with it", async (t) => {
    const { shared, one, two } = await afterThreeWrites(t);
    await shared.remove(courseKey("g"), "any");
    await Promise.all([known(one, undefined), known(two, undefined)]);
    assert.ok(await two.write("g", undefined, next, []));
    await known(one, 1);
  });

  it("are found out by a writer that has not heard of it", async (t) => {
    const { shared, one, first } = await afterThreeWrites(t);
    one.close();
    await shared.put({ key: courseKey("g"), value: first, expected: "any" });
    assert.equal(await one.write("g", one.of("g"), next), false);
    assert.equal(one.of("g")?.writes, 1);
    assert.ok(await one.write("g", one.of("g"), next));
  });
});
