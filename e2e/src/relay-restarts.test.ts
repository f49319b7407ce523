import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createConfigFolder } from "./harness/basics/config-folder.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import { configSource, httpListener } from "./harness/basics/resources.js";
import { createScene, type Scene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { startHttpBackend } from "./harness/traffic/http-backend.js";
import { startLoad } from "./harness/traffic/load.js";
import { MovingRoutes } from "./harness/traffic/moving-routes.js";
import { changeByApi } from "./harness/xdskit/api-change.js";
import { relayAt } from "./harness/xdskit/relay.js";
import { serve, type XdskitServer } from "./harness/xdskit/xdskit.js";

/** A relay that is started again at its address, with what it has on disk. */
class Relay {
  readonly grpc: string;
  readonly #start: () => Promise<XdskitServer>;
  #running: XdskitServer | undefined;

  constructor(scene: Scene, name: string, port: number, origin: string) {
    this.grpc = `127.0.0.1:${port}`;
    const folders = ["--cache", join(scene.directory, name), "--state", join(scene.directory, `${name}-state`)];
    const options = ["--server", origin, ...folders, "--prefetch"];
    this.#start = () => relayAt(this.grpc, scene, ...options);
  }

  async start(): Promise<void> {
    this.#running = await this.#start();
  }

  async stop(signal: NodeJS.Signals): Promise<void> {
    await this.#running?.process.stop(signal);
  }
}

/**
 * How many relays are in a row, and the way of the Envoy behind the last of them. That one is killed: an Envoy on SotW
 * cannot say what it has, so the relay must know all that it has served, also in its last moment.
 */
const rows = [
  { of: "a relay", relays: 1, variant: "ads-delta" },
  { of: "a relay", relays: 1, variant: "ads-sotw" },
  { of: "a relay of a relay", relays: 2, variant: "ads-delta" },
  { of: "a relay of a relay", relays: 2, variant: "ads-sotw" },
] as const;

for (const { of, relays: count, variant } of rows)
  test(`Envoy behind ${of}, ${variant}`, { timeout: 400_000 }, async (t) => {
    const path = peer("envoy", t);
    if (path === undefined) return;
    const scene = await createScene(t);
    const source = configSource(variant);
    const port = await freePort();
    const backends = [await startHttpBackend(scene, "red"), await startHttpBackend(scene, "green")] as const;
    const folder = await createConfigFolder(scene.directory, {
      "listener.yaml": [httpListener({ name: "ingress", port, routeName: "routes", source, saysWhy: true })],
    });
    const origin = await serve(scene, folder.path, { args: ["--state", `${scene.directory}/state`] });
    const change = async (body: object) => {
      const response = await changeByApi(origin, body);
      assert.ok(response.ok, await response.text());
    };
    const routes = new MovingRoutes({ source, backends, change });
    await routes.write();
    const relays: Relay[] = [];
    for (let number = 0; number < count; number += 1) {
      const one = new Relay(scene, `relay-${number}`, await freePort(), relays.at(-1)?.grpc ?? origin.grpc);
      await one.start();
      relays.push(one);
    }
    const last = relays.at(-1) ?? assert.fail();
    await startEnvoy(scene, { path, server: last.grpc, variant });
    const load = startLoad(scene, port);
    // Envoy waits up to 30 s before it connects again.
    const reaches = () =>
      eventually("requests meet the newest", () => load.reaches(routes.backend.name), { withinMs: 60_000 });
    await reaches();

    const [first = last] = relays;
    const ends: readonly { what: string; ending: readonly Relay[]; signal: NodeJS.Signals }[] = [
      { what: "the first", ending: [first], signal: "SIGTERM" },
      { what: "the last", ending: [last], signal: "SIGKILL" },
    ];
    for (const { what, ending, signal } of ends)
      await scene.step(`no request fails when ${what} of ${count} relays ends by ${signal}, and is back`, async () => {
        const failed = load.failed();
        const writing = (async () => {
          for (let each = 0; each < 8; each += 1) {
            await routes.write();
            await sleep(300);
          }
        })();
        await sleep(1_000);
        await Promise.all(ending.map((one) => one.stop(signal)));
        for (const one of ending) await one.start();
        await writing;
        await reaches();
        assert.deepEqual(load.failures(failed), []);
      });

    t.diagnostic(`${routes.moment} changes, ${load.answered()} requests, ${load.failed()} failed`);
    await load.stop();
  });
