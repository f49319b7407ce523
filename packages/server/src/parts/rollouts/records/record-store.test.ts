import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { SharedKeys, SharedPut } from "../../../contracts/stores/shared-keys.js";
import { fullSettings } from "../../../settings/rollout-settings.js";
import { createMemoryStore } from "../../../stores/tables/memory-store.js";
import { withMethods } from "../../../testing/with-methods.js";
import { newCourse } from "../course/course.js";
import { courseKey, courses, listPrefix, listsOf, type RecordedChange } from "./record.js";
import { type NextRecord, RecordStore } from "./record-store.js";

const next: NextRecord = {
  id: 1,
  change: "c",
  past: [],
  startedAt: 0,
  since: 0,
  course: newCourse(fullSettings({ steps: [{ count: 1 }] })),
};

/** Two servers that know the record after three writes, and the value that it had after the first one. */
async function afterThreeWrites(t: TestContext) {
  const store = await createMemoryStore();
  const { shared } = store;
  const open = () => new RecordStore(shared, { recordChanged() {}, reported() {}, away() {} });
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

describe("the record of a rollout", () => {
  it("has the same endless times at every server", async (t) => {
    const store = await createMemoryStore();
    const open = () => new RecordStore(store.shared, { recordChanged() {}, reported() {}, away() {} });
    const [one, two] = [open(), open()];
    t.after(async () => {
      one.close();
      two.close();
      await store.close();
    });
    const settings = fullSettings({ steps: [{ count: 1 }], soakMs: Infinity, timeoutMs: Infinity });
    assert.ok(await one.write("g", undefined, { ...next, course: newCourse(settings) }, []));
    await two.read();
    assert.deepEqual(two.of("g")?.course.settings, settings);
    assert.ok(await two.write("g", two.of("g"), next));
    await one.read();
    assert.deepEqual(one.of("g")?.course.settings, next.course.settings);
  });
});

/** A large change: its list needs several values. */
const many: readonly RecordedChange[] = Array.from({ length: 6_000 }, (_, at) => {
  return { type: "type.googleapis.com/a", key: `resource-${at}-${"x".repeat(40)}`, wanted: "1" };
});

/** Two servers of which the second one waits within its writes until it is let go on. */
async function withSlowOne(t: TestContext, waitsAt: (put: SharedPut) => boolean) {
  const store = await createMemoryStore();
  const { shared } = store;
  let [hasReached, goOn] = [() => {}, () => {}];
  const reached = new Promise<void>((resolve) => (hasReached = resolve));
  const released = new Promise<void>((resolve) => (goOn = resolve));
  const put: SharedKeys["put"] = async (asked) => {
    if (waitsAt(asked)) {
      hasReached();
      await released;
    }
    return await shared.put(asked);
  };
  const open = (keys: SharedKeys) => new RecordStore(keys, { recordChanged() {}, reported() {}, away() {} });
  const [quick, slow] = [open(shared), open(withMethods(shared, { put }))];
  t.after(async () => {
    quick.close();
    slow.close();
    await store.close();
  });
  return { shared, quick, slow, reached, goOn };
}

describe("the lists of two servers that propose a change at once", () => {
  it("are one list if they propose the same change, in whatever order they have it", async (t) => {
    const isSecondPart = ({ key }: SharedPut) => key === `${listPrefix({ group: "g", change: "c" })}1`;
    const { quick, slow, reached, goOn } = await withSlowOne(t, isSecondPart);
    const late = slow.write("g", undefined, next, many.toReversed());
    await reached;
    assert.ok(await quick.write("g", undefined, next, many));
    goOn();
    assert.equal(await late, false);
    const list = await quick.list(quick.of("g") ?? assert.fail());
    assert.deepEqual(new Set(list?.map(({ key }) => key)), new Set(many.map(({ key }) => key)));
    assert.equal(list?.length, many.length);
  });

  it("go if another change came first", async (t) => {
    const { shared, quick, slow, reached, goOn } = await withSlowOne(t, ({ key }) => key === courseKey("g"));
    const late = slow.write("g", undefined, { ...next, change: "other" }, many);
    await reached;
    assert.ok(await quick.write("g", undefined, next, many.slice(0, 1)));
    goOn();
    assert.equal(await late, false);
    const keys = (await shared.list(listsOf("g"))).map(({ key }) => key);
    assert.deepEqual(keys, [`${listPrefix({ group: "g", change: "c" })}0`]);
  });
});
