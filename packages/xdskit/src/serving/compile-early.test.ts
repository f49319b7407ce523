import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { compileEarly } from "./compile-early.js";

test("what runs for the first time afterwards is compiled, and not interpreted", () => {
  setFlagsFromString("--allow-natives-syntax");
  const isBaseline = new Function("f", "return %ActiveTierIsSparkplug(f)");
  const ranOnce = (name: string) => {
    const made = new Function(`return function ${name}(a) { return a + 1 }`)();
    made(1);
    return made;
  };
  assert.equal(isBaseline(ranOnce("before")), false);
  compileEarly();
  assert.equal(isBaseline(ranOnce("after")), true);
});
