import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { longSteps } from "./long-steps.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));

describe("the steps of npm run test:long", () => {
  it("name programs and test files that exist, at least one of each kind", () => {
    const steps = longSteps("50") as readonly { readonly what: string; readonly args: readonly string[] }[];
    for (const { what, args } of steps) {
      const paths = args.filter((arg) => /\.(?:mjs|ts)$/.test(arg));
      for (const path of paths) assert.ok(existsSync(`${root}${path}`), `${what}: ${path}`);
      assert.ok(paths.length > (args.includes("scripts/test.mjs") ? 1 : 0), what);
    }
  });

  it("play every test that takes an effort", () => {
    const [random] = longSteps("50") as readonly { readonly args: readonly string[] }[];
    for (const name of ["testing/model/model", "testing/twins/twins", "server/ordering/ordering"])
      assert.ok(random?.args.includes(`packages/protocol/src/${name}.test.ts`), name);
  });
});
