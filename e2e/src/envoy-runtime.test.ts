import assert from "node:assert/strict";
import { test } from "node:test";
import type { ResourceText } from "./harness/basics/config-folder.js";
import { someVariants } from "./harness/basics/effort.js";
import { answering, listener, typeUrl } from "./harness/basics/resources.js";
import { eventually } from "./harness/basics/wait.js";
import { type StageOptions, setStage } from "./harness/peers/stage.js";
import { get } from "./harness/traffic/traffic.js";

const runtime = (layer: Record<string, unknown>): ResourceText => ({
  "@type": typeUrl("envoy.service.runtime.v3.Runtime"),
  name: "runtime",
  layer,
});

/** A bootstrap whose runtime has a static value, and above it what comes by RTDS. */
const layered: StageOptions["bootstrap"] = ({ source }) => ({
  layered_runtime: {
    layers: [
      { name: "static", static_layer: { "example.both": 1 } },
      { name: "rtds", rtds_layer: { name: "runtime", rtds_config: source } },
    ],
  },
});

/** Requests are answered with 503 as far as `example.broken` (percent) says. */
const files: StageOptions["files"] = ({ port }) => ({
  "listeners.yaml": [
    listener({
      name: "ingress",
      port,
      routes: {
        route_config: {
          name: "inline",
          virtual_hosts: [
            {
              name: "all",
              domains: ["*"],
              routes: [
                {
                  match: {
                    prefix: "",
                    runtime_fraction: { default_value: { numerator: 0 }, runtime_key: "example.broken" },
                  },
                  direct_response: { status: 503 },
                },
                ...(answering("all", "hello").routes as unknown[]),
              ],
            },
          ],
        },
      },
    }),
  ],
});

for (const variant of someVariants) {
  test(`Envoy's runtime, ${variant}`, { timeout: 60_000 }, async (t) => {
    const stage = await setStage(t, {
      variant,
      service: "runtime",
      bootstrap: layered,
      files: (props) => ({ ...files(props), "runtime.yaml": [runtime({ "example.both": 2, "example.text": "one" })] }),
    });
    if (stage === undefined) return;
    const { scene, folder, admin, port } = stage;
    const sees = (expected: Record<string, string>): Promise<unknown> =>
      eventually(`the runtime ${JSON.stringify(expected)}`, async () => {
        const values = Object.fromEntries([...(await admin.runtime())].filter(([key]) => key.startsWith("example.")));
        assert.deepEqual(values, expected);
        return true;
      });

    const answersWith = (status: number): Promise<unknown> =>
      eventually(`an answer with ${status}`, async () => (await get(port)).status === status);

    await scene.step("has the values from its boot on", async () => {
      await sees({ "example.both": "2", "example.text": "one" });
    });

    await scene.step("takes a value that is changed, one that comes and one that goes", async () => {
      await folder.put({ "runtime.yaml": [runtime({ "example.both": 3, "example.broken": 100 })] });
      await sees({ "example.both": "3", "example.broken": "100" });
      await answersWith(503);
      await folder.put({ "runtime.yaml": [runtime({ "example.both": 3 })] });
      await sees({ "example.both": "3" });
      await answersWith(200);
    });

    await scene.step("takes values that come after the whole layer was away", async () => {
      await folder.remove("runtime.yaml");
      // SotW cannot say that it is gone (rule 74): Envoy keeps what it had.
      if (variant.endsWith("delta")) await sees({ "example.both": "1" });
      await folder.put({ "runtime.yaml": [runtime({ "example.both": 4 })] });
      await sees({ "example.both": "4" });
    });
  });
}

for (const variant of ["ads-delta", "per-type-delta"] as const) {
  test(`Envoy boots at once if its runtime does not exist, ${variant}`, { timeout: 60_000 }, async (t) => {
    // It is told at once that there is none: it does not wait for its 15 s to be over.
    const stage = await setStage(t, { variant, service: "runtime", bootstrap: layered, files, withinMs: 8_000 });
    if (stage === undefined) return;
    assert.equal((await get(stage.port)).status, 200);
    assert.equal((await stage.admin.runtime()).get("example.both"), "1");
  });
}
