import assert from "node:assert/strict";
import { test } from "node:test";
import { Logins } from "./logins.js";

test("the first call, and the first after an hour of silence, is a login; 10,000 callers are known", () => {
  const logins = new Logins();
  const minute = 60_000;
  assert.ok(logins.isLogin("token ci", "10.0.0.1", 0));
  assert.ok(!logins.isLogin("token ci", "10.0.0.1", 59 * minute));
  assert.ok(!logins.isLogin("token ci", "10.0.0.1", 118 * minute));
  assert.ok(logins.isLogin("token ci", "10.0.0.2", 118 * minute));
  assert.ok(logins.isLogin("token ci", "10.0.0.1", 178 * minute));
  for (let at = 0; at < 9_999; at++) assert.ok(logins.isLogin(`user ${at}`, "unix", 178 * minute));
  assert.ok(!logins.isLogin("token ci", "10.0.0.1", 178 * minute));
  assert.ok(logins.isLogin("token ci", "10.0.0.2", 178 * minute));
});
