import assert from "node:assert/strict";
import { test } from "node:test";
import { checkCall } from "@xdskit/api";
import { createAdminApi } from "../create-admin-api.js";
import { adminCall } from "./option-table.js";

// As a program without types would call it.
const refused = (options: unknown, message: RegExp) =>
  assert.rejects(async () => createAdminApi(options as never), { code: "XDSKIT_ADMIN_OPTION", message });

test("every option of createAdminApi is refused by its name if it is unknown, missing, or of no kind that it takes", async () => {
  await refused(undefined, /^createAdminApi takes an object, such as .*, not nothing/);
  await refused({}, /^createAdminApi: server is missing/);
  await refused({ serevr: 1 }, /"serevr"; did you mean "server"/);
  for (const option of Object.keys(adminCall.table)) {
    const { call, code, table } = adminCall;
    assert.throws(() => checkCall({ call, code, table, example: "" }, { [option]: Symbol("S3CR3T") }), {
      code: "XDSKIT_ADMIN_OPTION",
      message: new RegExp(`^createAdminApi: ${option} must be .*, not a symbol`),
    });
  }
});
