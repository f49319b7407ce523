import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { systemClock } from "@xdskit/api";
import { createMemoryStore } from "../../../stores/tables/memory-store.js";
import { waitFor } from "../../../testing/basics/wait-for.js";
import { endingSessions } from "../../../testing/ending-sessions.js";
import { rejectedPrefix } from "../records/record.js";
import { RejectedContents } from "./rejected-contents.js";

describe("rejected contents", () => {
  it("are told anew, and all end at the close, when a session hears late that it is over", async () => {
    const store = await createMemoryStore();
    const { shared, opened } = endingSessions(store.shared);
    const problem = () => assert.fail("no store was away");
    const rejected = new RejectedContents({ shared, clock: systemClock, onChanged: () => {}, problem });
    let told = "";
    const watch = shared.watch(rejectedPrefix, {
      entriesChanged: (entries) => {
        told = entries
          .map(({ value }) => (JSON.parse(value) as { group: string }).group)
          .sort()
          .join();
      },
      away: problem,
    });
    const content = { type: "type", key: "a", node: "n", message: "", since: 0 };
    rejected.tell("one", [content]);
    await waitFor("the first is told", () => told === "one");
    await opened[0]?.session.close();
    rejected.tell("two", [content]);
    await waitFor("the second is told", () => told === "two");
    opened[0]?.lost();
    await waitFor("both are told", () => told === "one,two");
    await rejected.close();
    assert.deepEqual(
      opened.map(({ session }) => session.isOver),
      [true, true],
    );
    watch.close();
    await store.close();
  });
});
