import assert from "node:assert/strict";
import { mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { stringify } from "yaml";
import { createConfigFolder, type ResourceText } from "./harness/basics/config-folder.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import { cluster, configSource, httpListener, loadAssignment, routeConfiguration } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { startHttpBackend } from "./harness/traffic/http-backend.js";
import { startLoad } from "./harness/traffic/load.js";
import { runXdskit } from "./harness/xdskit/run-xdskit.js";
import { serve, xdskitCommand } from "./harness/xdskit/xdskit.js";

test("a whole day of one server, its commands, an Envoy and a client of ours", { timeout: 300_000 }, async (t) => {
  const path = peer("envoy", t);
  if (path === undefined) return;
  const scene = await createScene(t);
  const source = configSource("ads-delta");
  const port = await freePort();
  const red = await startHttpBackend(scene, "red");
  const green = await startHttpBackend(scene, "green");
  const clusterWith = (name: string, backend: number): readonly ResourceText[] => [
    cluster({ name, source, serviceName: name }),
    loadAssignment(name, [backend]),
  ];
  const files = {
    "red.yaml": clusterWith("red", red.port),
    "routes.yaml": [routeConfiguration("routes", "red")],
    "listener.yaml": [httpListener({ name: "ingress", port, routeName: "routes", source, saysWhy: true })],
  };
  const folder = await createConfigFolder(scene.directory, files);
  const file = async (name: string, resources: readonly ResourceText[]) => {
    const written = join(scene.directory, name);
    await writeFile(written, stringify({ resources }, { aliasDuplicateObjects: false }));
    return written;
  };
  const grpc = `127.0.0.1:${await freePort()}`;
  const start = () => serve(scene, folder.path, { grpc, args: ["--state", join(scene.directory, "state")] });
  let server = await start();
  const xdskit = (...words: readonly string[]) => runXdskit(scene, ...words, "--server", `http://${server.admin}`);
  await startEnvoy(scene, { path, server: grpc, variant: "ads-delta" });
  const { command, args } = xdskitCommand();
  const watch = scene.start({
    name: "xdskit watch",
    command,
    args: [...args, "watch", "cluster", "--server", grpc, "--node-id", "watcher", "--output", "jsonl"],
  });
  await watch.line(/"name":"red"/);
  const load = startLoad(scene, port);
  await load.reaches("red");
  const greenFile = await file("green.yaml", [
    ...clusterWith("green", green.port),
    routeConfiguration("routes", "green"),
  ]);

  await scene.step("a dry run shows the change and its stages, and changes nothing", async () => {
    const { status, out } = await xdskit("apply", "-f", greenFile, "--dry-run");
    assert.equal(status, 3);
    assert.match(
      out,
      /# cluster "green": added\n(.*\n)*\d stages: .*\n(.*\n)*.*once cluster green is acknowledged \(warm\)/,
    );
    await load.reaches("red");
  });

  await scene.step("apply --wait ends when the Envoy and the client have it, and no request fails", async () => {
    const { status, out, err } = await xdskit("apply", "-f", greenFile, "--wait", "-m", "green is ready");
    assert.deepEqual([status, err], [0, ""], out);
    assert.match(out, /2 of 2 nodes acknowledged it$/);
    await watch.line(/"name":"green"/);
    await load.reaches("green");
    assert.deepEqual(load.failures(), []);
  });

  await scene.step("diff says that the folder is served as it is, and what another one would change", async () => {
    assert.equal((await xdskit("diff", folder.path)).status, 0);
    const other = await createConfigFolder(await mkdtemp(join(scene.directory, "other-")), {
      ...files,
      "more.yaml": clusterWith("blue", 1),
    });
    const { status, out } = await xdskit("diff", other.path);
    assert.equal(status, 3);
    assert.match(out, /^# cluster "blue": added\n/m);
    assert.doesNotMatch(out, /"red"/);
  });

  await scene.step(
    "a change that the Envoy rejects is told in the Envoy's words, and a rollback takes it back",
    async () => {
      const bad = await file("bad.yaml", [cluster({ name: "green", source, serviceName: "green", isRejected: true })]);
      const { status, out } = await xdskit("apply", "-f", bad, "--wait");
      assert.equal(status, 1);
      assert.match(out, /1 rejected it/);
      assert.match(out, /^ {2}envoy-1 rejected it: .*green/m);
      const back = await xdskit("rollback", "--layer", "api", "--wait");
      assert.equal(back.status, 0, back.out + back.err);
      assert.match(back.out, /^~ cluster "green"\n/);
      await load.reaches("green");
      assert.deepEqual(load.failures(), []);
      const history = await xdskit("history", "--layer", "api");
      assert.match(history.out, /^\S+ +#3 .*rollback to .*\n(.*\n)*\S+ +#1 .*green is ready \(api\)$/m);
    },
  );

  await scene.step(
    "after a restart with a broken folder all goes on as it was, until the folder is fixed",
    async () => {
      await server.process.stop();
      await folder.putText(
        "routes.yaml",
        '"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration\nnam: a',
      );
      server = await start();
      assert.match(await (await fetch(`http://${server.admin}/readyz`)).text(), /^degraded: .*\n.*routes\.yaml:2/);
      const answered = load.answered();
      await eventually("requests are answered", async () => load.answered() > answered + 100);
      const broken = await xdskit("diff", folder.path);
      assert.equal(broken.status, 1);
      assert.match(broken.err, /routes\.yaml:2/);
      await folder.put({ "routes.yaml": files["routes.yaml"] });
      await eventually("the folder is served", async () => (await xdskit("diff", folder.path)).status === 0);
      await load.reaches("green");
      assert.deepEqual(load.failures(), []);
    },
  );

  await scene.step("what was exported, deleted and imported is there again, and no request fails", async () => {
    const { status, out } = await xdskit("export");
    assert.equal(status, 0);
    const backup = join(scene.directory, "backup.json");
    await writeFile(backup, out);
    assert.equal((await xdskit("delete", "route", "routes", "--wait")).status, 0);
    await load.reaches("red");
    assert.equal((await xdskit("import", backup, "--wait")).status, 0);
    await load.reaches("green");
    assert.deepEqual(load.failures(), []);
  });
  await load.stop();
});
