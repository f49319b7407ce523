import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { describe, it } from "node:test";
import { XdskitError } from "@xdskit/api";
import { openSqliteStore } from "@xdskit/store-sqlite";
import { testFolder } from "../../testing/folder.js";
import { openAndRead, openState } from "./state.js";

const info = { author: "a test", cause: { kind: "api", caller: "a test" }, message: "", time: 1_000 } as const;

describe("a state that cannot be read at the start", () => {
  it("stays where it is and is not used if it is not damaged", async () => {
    await using folder = await testFolder();
    const options = { option: folder.path, own: "own", problem: () => {} };
    const { store, directory = "" } = await openState(options);
    await store?.commit([{ layer: "a", parent: undefined, kind: "patch", upsert: [], always: true }], info);
    await store?.close();
    const error = XdskitError.of("XDSKIT_STORE", "it cannot be read: too many readers");
    const { state, found } = await openAndRead(options, async (opened) => {
      if (opened.store !== undefined) throw error;
      return opened.trouble?.message;
    });
    assert.match(
      found ?? "",
      /^what was written over the API before is not served.*it cannot be read: too many readers/,
    );
    assert.equal(state.store, undefined);
    assert.ok(!readdirSync(directory).some((name) => name.includes("set-aside")));
    const { store: kept } = await openSqliteStore(directory);
    assert.ok(await kept.head("a"));
    await kept.close();
  });
});
