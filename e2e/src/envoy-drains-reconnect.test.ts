import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createConfigFolder } from "./harness/basics/config-folder.js";
import { isLong } from "./harness/basics/effort.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import {
  cluster,
  configSource,
  httpListener,
  listener,
  loadAssignment,
  routeConfiguration,
  routesTo,
  variants,
} from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { startBalancer } from "./harness/traffic/balancer.js";
import { startHttpBackend } from "./harness/traffic/http-backend.js";
import { startLoad } from "./harness/traffic/load.js";
import { serve } from "./harness/xdskit/xdskit.js";

/** How the streams of a client whose listeners drain come to break, and on which kinds of streams that is played. */
const breaks = {
  "the server restarts": variants,
  "the server is away for a while": isLong ? variants : [],
  "connections have a maximum age": isLong ? variants : (["ads-sotw", "per-type-delta"] as const),
  "upgrades follow one another": isLong ? variants : (["ads-delta", "per-type-sotw", "per-type-delta"] as const),
  "connections go from one server to another": isLong ? variants : (["ads-sotw", "ads-delta"] as const),
};
const played = Object.entries(breaks).flatMap(([why, on]) => on.map((variant) => [why, variant] as const));

describe("Envoy drains listeners", { concurrency: 2 }, () => {
  for (const [why, variant] of played) {
    it(`Envoy drains listeners while ${why}, ${variant}`, { timeout: 300_000 }, async (t) => {
      const path = peer("envoy", t);
      if (path === undefined) return;
      const scene = await createScene(t);
      const source = configSource(variant);
      const [port, inlinePort] = [await freePort(), await freePort()];
      const backends = [await startHttpBackend(scene, "even"), await startHttpBackend(scene, "odd")];
      /** Everything but the listeners has another name each time. */
      const files = (moment: number) => {
        const to = [backends[moment % 2]?.port ?? 0];
        return {
          "all.yaml": [
            ...[cluster({ name: `named-${moment}`, source }), loadAssignment(`named-${moment}`, to)],
            ...[cluster({ name: `inline-${moment}`, source }), loadAssignment(`inline-${moment}`, to)],
            routeConfiguration(`routes-${moment}`, `named-${moment}`),
            httpListener({ name: "named", port, routeName: `routes-${moment}`, source, saysWhy: true }),
            listener({ name: "inline", port: inlinePort, routes: routesTo(`inline-${moment}`), saysWhy: true }),
          ],
        };
      };
      const folder = await createConfigFolder(scene.directory, files(0));
      const settings = join(scene.directory, "settings.yaml");
      const isFast = why === "upgrades follow one another";
      const isAway = why === "the server is away for a while";
      const upgrades = isFast || (isLong && !isAway) ? 6 : 2;
      const ages = why.startsWith("the server") ? {} : { max_age: "4s", max_age_grace: "1s" };
      await writeFile(settings, JSON.stringify({ keepalive: ages }));
      const grpc = `127.0.0.1:${await freePort()}`;
      const start = (at = grpc) =>
        serve(scene, folder.path, { grpc: at, args: ["--state", `${scene.directory}/state`, "--settings", settings] });
      let server = await start();
      const others = why === "connections go from one server to another" ? [await start("127.0.0.1:0")] : [];
      const balanced = [server, ...others].map((one) => ({ address: one.grpc, isHealthy: async () => true }));
      const address = others.length === 0 ? grpc : await startBalancer(scene, balanced);
      const { admin } = await startEnvoy(scene, { path, server: address, variant });
      const loads = [startLoad(scene, port), startLoad(scene, inlinePort)];
      for (const load of loads) await load.reaches("even");
      const failures = () => loads.flatMap((load) => load.failures());

      for (let moment = 1; moment <= upgrades; moment += 1) {
        await scene.step(`no request fails after upgrade ${moment}`, async () => {
          // Each stream of an Envoy comes back after a time of its own, up to half a minute.
          if (isAway) {
            await server.process.stop();
            await sleep(45_000);
            await folder.swap(files(moment));
            server = await start();
          } else await folder.swap(files(moment));
          if (isFast && moment < upgrades) return sleep(3_000);
          const routes = `routes-${moment}`;
          // Of streams of one type each, some come back half a minute later.
          await eventually("the new routes", async () => (await admin.routes()).has(routes), { withinMs: 60_000 });
          await sleep(2_500);
          if (why === "the server restarts") {
            await server.process.stop();
            server = await start();
          }
          await sleep(8_000);
          return assert.deepEqual(failures(), []);
        });
      }
      // Streams that break all the time leave no moment for that.
      const isSteady = why === "the server restarts";
      if (isSteady)
        await scene.step("it is in sync while its old listeners drain", async () => {
          const state = async (): Promise<string> => {
            const answer = await fetch(`http://${server.admin}/api/v1/fleet/nodes`);
            return ((await answer.json()) as { nodes: [{ state: string }] }).nodes[0].state;
          };
          await eventually("a node that is synced", async () => (await state()) === "synced", { withinMs: 60_000 });
        });
      await scene.step("old connections were served all the time", async () => {
        const clusters = [...(await admin.activeClusters()).keys()];
        // One that another follows at once may never have reached it.
        for (let moment = 0; moment <= upgrades; moment += isFast ? upgrades : 1)
          for (const kind of ["named", "inline"]) assert.ok(clusters.includes(`${kind}-${moment}`), `${clusters}`);
        t.diagnostic(`${loads.map((load) => load.answered())} requests`);
      });
    });
  }
});
