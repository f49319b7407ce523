import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";

// From sources: the script and the page stand in the source tree.
describe("docs/scale.md", () => {
  it("has the figures that the model computes from what was measured", () => {
    const model = fileURLToPath(new URL("../scale/model.mjs", import.meta.url));
    const { status, stderr } = spawnSync(process.execPath, [model, "--check"], { encoding: "utf8" });
    assert.deepEqual({ status, stderr }, { status: 0, stderr: "" });
  });

  it("plans more memory for more proxies, and a time for each fleet", async () => {
    const { assumed, planOf } = await import(new URL("../scale/model.mjs", import.meta.url).href);
    const measured = JSON.parse(readFileSync(new URL("../scale/measured.json", import.meta.url), "utf8"));
    const plans = assumed.fleets.map((proxies: number) => planOf(proxies, measured));
    const memory = plans.map(({ memoryGb }: { memoryGb: number }) => memoryGb);
    assert.deepEqual(
      memory,
      memory.toSorted((a: number, b: number) => a - b),
    );
    for (const plan of plans) {
      for (const [name, value] of Object.entries(plan)) assert.ok(Number.isFinite(value), `${name} is ${value}`);
      const carried = plan.streams * (plan.relays === 0 ? plan.replicas : plan.relays);
      assert.ok(carried >= plan.proxies, `${plan.proxies} proxies, of which ${carried} are carried`);
    }
  });
});
