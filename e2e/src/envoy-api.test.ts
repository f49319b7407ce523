import assert from "node:assert/strict";
import { test } from "node:test";
import { createConfigFolder } from "./harness/basics/config-folder.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import { cluster, configSource, httpListener, loadAssignment, routeConfiguration } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { startHttpBackend } from "./harness/traffic/http-backend.js";
import { startLoad } from "./harness/traffic/load.js";
import { changeByApi } from "./harness/xdskit/api-change.js";
import { serve } from "./harness/xdskit/xdskit.js";

test("Envoy under traffic while the API moves its routes and takes that back", { timeout: 240_000 }, async (t) => {
  const path = peer("envoy", t);
  if (path === undefined) return;
  const scene = await createScene(t);
  const source = configSource("ads-delta");
  const port = await freePort();
  const red = await startHttpBackend(scene, "red");
  const green = await startHttpBackend(scene, "green");
  const folder = await createConfigFolder(scene.directory, {
    "red.yaml": [cluster({ name: "red", source, serviceName: "red" }), loadAssignment("red", [red.port])],
    "routes.yaml": [routeConfiguration("routes", "red")],
    "listener.yaml": [httpListener({ name: "ingress", port, routeName: "routes", source, saysWhy: true })],
  });
  const server = await serve(scene, folder.path);
  await startEnvoy(scene, { path, server: server.grpc, variant: "ads-delta" });
  const load = startLoad(scene, port);
  await load.reaches("red");

  const api = async (method: string, where: string, body?: object) => {
    const response = await fetch(`http://${server.admin}/api/v1/${where}`, {
      method,
      ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.ok(response.ok, `${where}: ${response.status} ${text}`);
    return JSON.parse(text);
  };
  const arrives = (revision: string) =>
    eventually("the change to arrive", async () => {
      const { counts } = await api("GET", `revisions/${revision}/arrival`);
      assert.deepEqual(counts, { acknowledged: 1, rejected: 0, pending: 0, "held-back": 0 });
      return true;
    });
  const noneFails = async () => {
    const answered = load.answered();
    await eventually("further answers", () => load.answered() > answered + 200);
    assert.deepEqual(load.failures(), []);
  };

  let revision = "";
  await scene.step("no request fails when a change brings a cluster and moves the routes to it", async () => {
    const upsert = [
      cluster({ name: "green", source, serviceName: "green" }),
      loadAssignment("green", [green.port]),
      routeConfiguration("routes", "green"),
    ];
    const changed = await api("POST", "layers/api/changes", { upsert, message: "green" });
    revision = changed.revision.id;
    await load.reaches("green");
    await arrives(revision);
    await noneFails();
  });

  await scene.step("no request fails when that is rolled back", async () => {
    const { revision: back } = await api("POST", "layers/api/rollback");
    assert.equal(back.parent, revision);
    await load.reaches("red");
    await noneFails();
  });
  await scene.step("a listener at the address of the folder's is refused, and one beside it is taken", async () => {
    const over = async (name: string, port: number, dryRun = false) => {
      const upsert = [httpListener({ name, port, routeName: "routes", source })];
      const response = await changeByApi(server, { upsert, dryRun });
      return { status: response.status, answer: JSON.parse(await response.text()) };
    };
    for (const dryRun of [true, false]) {
      const { status, answer } = await over("second", port, dryRun);
      assert.deepEqual([status, answer.code], [422, "XDSKIT_CLIENTS_REFUSE"]);
      assert.match(answer.detail, /as listener "ingress" \(the folder\) does/);
    }
    const other = await over("second", await freePort());
    assert.equal(other.status, 200, JSON.stringify(other.answer));
    await arrives(other.answer.revision.id);
    await noneFails();
  });
  await load.stop();
});
