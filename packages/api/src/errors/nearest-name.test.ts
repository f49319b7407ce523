import assert from "node:assert/strict";
import { test } from "node:test";
import { nearestName } from "./nearest-name.js";

test("the nearest name is one with few other letters, or the only one that goes on with more words", () => {
  const fields = ["protocol", "address", "port_value", "portValue", "named_port", "resolver_name", "resolverName"];
  for (const [written, meant] of [
    ["adress", "address"],
    ["port", "port_value"],
    ["resolver", "resolver_name"],
    ["value", undefined],
    ["named_por", "named_port"],
    ["", undefined],
  ] as const) {
    assert.equal(nearestName(written, fields), meant, written);
  }
  assert.equal(nearestName("connect", ["connect_timeout", "connect_retries"]), undefined);
});
