import assert from "node:assert/strict";
import { test } from "node:test";
import { checkCall } from "@xdskit/api";
import { relayCall } from "./option-table.js";
import { createRelay } from "./relay.js";

// As a program without types would call it.
const refused = (options: unknown, message: RegExp) =>
  assert.rejects(async () => createRelay(options as never), { code: "XDSKIT_RELAY_OPTION", message });

test("every option of createRelay is refused by its name if it is unknown, missing, or of no kind that it takes", async () => {
  await refused(undefined, /^createRelay takes an object, such as .*, not nothing/);
  await refused({}, /^createRelay: server is missing/);
  await refused({ serevr: 1 }, /"serevr"; did you mean "server"/);
  for (const option of Object.keys(relayCall.table)) {
    const { call, code, table } = relayCall;
    assert.throws(() => checkCall({ call, code, table, example: "" }, { [option]: Symbol("S3CR3T") }), {
      code: "XDSKIT_RELAY_OPTION",
      message: new RegExp(`^createRelay: ${option} must be .*, not a symbol`),
    });
  }
});
