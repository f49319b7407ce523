import assert from "node:assert/strict";
import { once } from "node:events";
import { it } from "node:test";
import { callListener } from "./call-listener.js";

it("a listener that throws, at once or later, causes a warning", async () => {
  for (const listener of [
    () => {
      throw new Error("mine");
    },
    async () => {
      throw new Error("mine");
    },
  ]) {
    const warned = once(process, "warning");
    callListener("a listener", listener);
    const [warning] = await warned;
    assert.equal(warning.message, "a listener threw: Error: mine");
  }
});
