import assert from "node:assert/strict";
import { test } from "node:test";
import { openEtcdStore } from "./open-etcd-store.js";

// As a program without types would call it.
const refused = (options: unknown, message: RegExp) =>
  assert.rejects(async () => openEtcdStore(options as never), { code: "XDSKIT_STORE", message });

test("a wrong option is refused by its name, and no password is shown", async () => {
  await refused(undefined, /^openEtcdStore takes an object, such as .*, not nothing \[/);
  await refused({}, /^openEtcdStore: endpoints is missing/);
  await refused({ endpoints: ["a:1"] }, /^openEtcdStore: prefix is missing \[/);
  await refused({ endpoints: "a:1", prefix: "/a" }, /^openEtcdStore: endpoints must be a list, not a string \[/);
  const given = { endpoints: [], prefix: "/a" };
  await refused({ ...given, user: "S3CR3T" }, /^openEtcdStore: user must be an object, not a string \[/);
  await refused({ ...given, timeout: 1 }, /"timeout"; did you mean "timeoutMs"/);
});
