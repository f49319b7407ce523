import assert from "node:assert/strict";
import { test } from "node:test";
import type { ResourceText } from "./harness/basics/config-folder.js";
import { someVariants } from "./harness/basics/effort.js";
import { metric } from "./harness/basics/metrics.js";
import { answering, listener, typeUrl } from "./harness/basics/resources.js";
import { eventually } from "./harness/basics/wait.js";
import { type StageOptions, setStage } from "./harness/peers/stage.js";
import { get, startTraffic } from "./harness/traffic/traffic.js";

const headerMutation = typeUrl("envoy.extensions.filters.http.header_mutation.v3.HeaderMutation");
const lua = typeUrl("envoy.extensions.filters.http.lua.v3.Lua");

const extension = (config: ResourceText): ResourceText => ({
  "@type": typeUrl("envoy.config.core.v3.TypedExtensionConfig"),
  name: "swapped",
  typed_config: config,
});

/** A filter that says in the response's header `x-filter` which configuration is in use. */
const mutating = (value: string): ResourceText =>
  extension({
    "@type": headerMutation,
    mutations: {
      response_mutations: [
        { append: { header: { key: "x-filter", value }, append_action: "OVERWRITE_IF_EXISTS_OR_ADD" } },
      ],
    },
  });

const scripted = (script: string): ResourceText =>
  extension({ "@type": lua, default_source_code: { inline_string: script } });

/** A listener with a filter whose configuration must be discovered. */
const files: StageOptions["files"] = ({ port, source }) => ({
  "listeners.yaml": [
    listener({
      name: "ingress",
      port,
      routes: { route_config: { name: "inline", virtual_hosts: [answering("all", "hello")] } },
      filters: [{ name: "swapped", config_discovery: { config_source: source, type_urls: [headerMutation, lua] } }],
    }),
  ],
});

for (const variant of someVariants) {
  test(`Envoy's extension configurations, ${variant}`, { timeout: 60_000 }, async (t) => {
    const stage = await setStage(t, {
      variant,
      service: "extension-config",
      files: (props) => ({
        ...files(props),
        "filters.yaml": [mutating("one")],
      }),
    });
    if (stage === undefined) return;
    const { scene, folder, server, port } = stage;
    const filter = async (): Promise<unknown> => (await get(port)).headers["x-filter"];
    const answersBy = (name: string): Promise<unknown> =>
      eventually(`answers of the filter ${name}`, async () => (await filter()) === name);
    const traffic = startTraffic(scene, port);

    await scene.step("has the filter from its boot on", async () => {
      assert.equal(await filter(), "one");
    });

    await scene.step("exchanges its configuration, and the filter for one of another type, under traffic", async () => {
      await folder.put({ "filters.yaml": [mutating("two")] });
      await answersBy("two");
      const script = 'function envoy_on_response(handle) handle:headers():replace("x-filter", "three") end';
      await folder.put({ "filters.yaml": [scripted(script)] });
      await answersBy("three");
      await folder.put({ "filters.yaml": [mutating("four")] });
      await answersBy("four");
      assert.deepEqual(traffic.failures(), []);
    });

    await scene.step("keeps the old one when it rejects the new one, and takes the corrected one", async () => {
      const nacks = (): Promise<number> => metric(server.admin, "xdskit_nacks_total", { type: "extension-config" });
      const before = await nacks();
      await folder.put({ "filters.yaml": [scripted("this is no Lua")] });
      await eventually("the rejection", async () => (await nacks()) > before);
      assert.equal(await filter(), "four");
      await folder.put({ "filters.yaml": [mutating("five")] });
      await answersBy("five");
      assert.deepEqual(traffic.failures(), []);
      assert.equal(await nacks(), before + 1);
    });
  });
}

test("Envoy boots without an extension configuration, and takes it later, ads-delta", {
  timeout: 60_000,
}, async (t) => {
  // It is not told that there is none, or its listener would wait for ever: so it goes on after 15 s.
  const stage = await setStage(t, { variant: "ads-delta", service: "extension-config", files, withinMs: 30_000 });
  if (stage === undefined) return;
  const { folder, port } = stage;
  assert.equal((await get(port)).status, 500);
  await folder.put({ "filters.yaml": [mutating("late")] });
  await eventually("the configuration that came later", async () => (await get(port)).headers["x-filter"] === "late");
});
