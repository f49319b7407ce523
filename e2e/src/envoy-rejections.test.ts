import assert from "node:assert/strict";
import { test } from "node:test";
import type { ResourceText } from "./harness/basics/config-folder.js";
import { metric } from "./harness/basics/metrics.js";
import { cluster, loadAssignment, rejectedAssignment } from "./harness/basics/resources.js";
import { eventually } from "./harness/basics/wait.js";
import { setStage } from "./harness/peers/stage.js";

const names = ["a", "b", "c", "d", "e", "f"];

// Envoy stops at the first load assignment that it cannot use, and does not say which one that is: those behind it are
// lost.
for (const variant of ["ads-sotw", "ads-delta"] as const) {
  test(`Envoy's rejections, ${variant}`, { timeout: 120_000 }, async (t) => {
    const assignments = (port: number, third: ResourceText): readonly ResourceText[] =>
      names.map((name) => (name === "c" ? third : loadAssignment(name, [port])));
    const stage = await setStage(t, {
      variant,
      service: "endpoint",
      ownStream: false,
      files: ({ source }) => ({
        "clusters.yaml": names.map((name) => cluster({ name, source })),
        "endpoints.yaml": assignments(9, loadAssignment("c", [9])),
      }),
    });
    if (stage === undefined) return;
    const { scene, folder, server, admin } = stage;
    const ports = async (): Promise<readonly string[]> => {
      const endpoints = await admin.endpoints();
      return names.map((name) => `${name} ${endpoints.get(name)?.map((address) => address.split(":")[1])}`);
    };
    const nacks = (): Promise<number> => metric(server.admin, "xdskit_nacks_total", { type: "endpoint" });

    await scene.step("one load assignment that it cannot use is one rejection", async () => {
      await folder.put({ "endpoints.yaml": assignments(10, rejectedAssignment("c")) });
      await eventually("the rejection", async () => (await nacks()) === 1);
      assert.ok((await ports()).includes("c 9"));
    });

    await scene.step("the other resources of the response come with the corrected one", async () => {
      await folder.put({ "endpoints.yaml": assignments(10, loadAssignment("c", [11])) });
      const wanted = names.map((name) => `${name} ${name === "c" ? 11 : 10}`);
      await eventually("all of it", async () => {
        assert.deepEqual(await ports(), wanted);
        return true;
      });
      assert.equal(await nacks(), 1);
    });
  });
}
