import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { createMemoryStore } from "./memory-store.js";

test("a session is alive for its time, whatever the clock of the machine is set to", async (t) => {
  const store = await createMemoryStore();
  t.after(() => store.close());
  const session = await store.shared.session({ ttlMs: 10_000, lost: () => assert.fail("it is lost") });
  await store.shared.put({ key: "mine", value: "1", expected: undefined, session });
  const now = Date.now();
  t.after(() => mock.timers.reset());
  for (const hours of [1, -1]) {
    mock.timers.enable({ apis: ["Date"], now: now + hours * 3_600_000 });
    const found = await store.shared.list("");
    assert.deepEqual([session.isOver, found.map(({ key }) => key)], [false, ["mine"]], `${hours} h`);
    mock.timers.reset();
  }
});
