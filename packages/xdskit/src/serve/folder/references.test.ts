import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { SourceStatus } from "@xdskit/admin/listener";
import { eventually } from "../../testing/command.js";
import { clusterYaml, routesYaml, type TestFolder, testFolder } from "../../testing/folder.js";
import { inProcessEnds, type RunningServer, servesHere } from "../../testing/in-process.js";

const anyPorts = ["--grpc", "127.0.0.1:0", "--rest", "127.0.0.1:0", "--admin", "127.0.0.1:0"];

function serving(folder: TestFolder, ...options: readonly string[]): RunningServer {
  return servesHere(
    "serve",
    folder.path,
    ...(options.includes("--state") ? [] : ["--state", "off"]),
    "--settle",
    "20ms",
    ...anyPorts,
    ...options,
  );
}

async function address(running: RunningServer, listener: "grpc" | "admin"): Promise<string> {
  await running.seen(/^ready$/m);
  const [, found = ""] = await running.seen(new RegExp(`^${listener} listening on (\\S+)$`, "m"));
  return found;
}

async function statusOf(running: RunningServer): Promise<SourceStatus> {
  const answer = await fetch(`http://${await address(running, "admin")}/api/v1/sources`);
  const { sources } = (await answer.json()) as { readonly sources: readonly SourceStatus[] };
  return sources[0] as SourceStatus;
}

async function refusals(running: RunningServer): Promise<string | undefined> {
  const text = await (await fetch(`http://${await address(running, "admin")}/metrics`)).text();
  return /^xdskit_config_updates_total\{result="rejected"\} (\d+)$/m.exec(text)?.[1];
}

async function clusters(running: RunningServer): Promise<string> {
  const server = await address(running, "grpc");
  const { out } = await inProcessEnds("get", "--type", "cluster", "--server", server, "-o", "name");
  return out.trim().split("\n").sort().join(" ");
}

describe("a folder from which a cluster is removed that a route names", () => {
  it("is refused, with the place of the route, and taken once the route goes as well", async () => {
    await using folder = await testFolder({
      "a.yaml": clusterYaml("a"),
      "b.yaml": clusterYaml("b"),
      "routes.yaml": `# The routes\n${routesYaml("a")}`,
    });
    await using running = serving(folder);
    await address(running, "admin");
    await folder.remove("a.yaml");
    const line =
      /routes\.yaml:9\S*: route "routes", \S+: names cluster "a", which this change takes from group all; .*\]/g;
    const [text] = await running.seen(line, "err");
    assert.match(text, /\[XDSKIT_REFERENCE_BROKEN\]$/);
    await running.seen(/change refused: the last good configuration stays/, "err");
    const { state, findings } = await eventually(
      () => statusOf(running),
      ({ state }) => state === "refused",
    );
    const [finding] = findings;
    assert.deepEqual(
      [state, finding?.code, finding?.file, finding?.line, finding?.resource],
      ["refused", "XDSKIT_REFERENCE_BROKEN", join(folder.path, "routes.yaml"), 9, "routes"],
    );
    assert.equal(await refusals(running), "1");
    assert.equal(await clusters(running), "cluster/a cluster/b");
    // Another edit does not get in beside it.
    await folder.write("c.yaml", clusterYaml("c"));
    await running.seen(/change refused[\s\S]*change refused/, "err");
    assert.equal(await clusters(running), "cluster/a cluster/b");
    await folder.write("routes.yaml", routesYaml("b"));
    await running.seen(/configuration applied: 2 resources added or changed, 1 removed/, "err");
    assert.equal(await clusters(running), "cluster/b cluster/c");
    assert.deepEqual((await statusOf(running)).findings, []);
  });

  it("is refused too where another folder of the group has the route, and served with `warn`", async () => {
    const groups = "groups: [{ name: edge, match: {}, folders: [shared, edge] }]\n";
    await using folder = await testFolder({
      "shared/a.yaml": clusterYaml("a"),
      "edge/routes.yaml": routesYaml("a"),
      "xdskit.yaml": groups,
    });
    const removed = async (...options: readonly string[]) => {
      await folder.write("shared/a.yaml", clusterYaml("a"));
      await folder.write("shared/b.yaml", clusterYaml("b"));
      await using running = serving(folder, ...options);
      await address(running, "admin");
      await folder.remove("shared/a.yaml");
      await running.seen(/edge\/routes\.yaml:8\S*: route "routes", \S+: names cluster "a", which/, "err");
      await eventually(
        () => statusOf(running),
        ({ findings }) => findings.length === 1,
      );
      return { state: (await statusOf(running)).state, clusters: await clusters(running) };
    };
    assert.deepEqual(await removed(), { state: "refused", clusters: "cluster/a cluster/b" });
    const served = { state: "applied", clusters: "cluster/b" };
    assert.deepEqual(await removed("--references", "warn"), served);
    await folder.write("xdskit.yaml", `${groups}references: warn\n`);
    assert.deepEqual(await removed(), served);
    // The option wins.
    assert.equal((await removed("--references", "refuse")).state, "refused");
  });

  it("is refused with that place also over the API, and with the layer of a route that the API has", async () => {
    await using folder = await testFolder({ "b.yaml": clusterYaml("b") });
    await using running = serving(folder);
    const resources = `http://${await address(running, "admin")}/api/v1/layers/api/resources`;
    const ask = async (method: string, path: string, resource?: object) => {
      const sent = resource && { headers: { "content-type": "application/json" }, body: JSON.stringify(resource) };
      // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever comes.
      return (await (await fetch(`${resources}/${path}`, { method, ...sent })).json()) as any;
    };
    await ask("PUT", "cluster/a", { "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", name: "a" });
    await folder.write("routes.yaml", `# The routes\n${routesYaml("a")}`);
    await running.seen(/configuration applied[\s\S]*configuration applied: 1 resource/, "err");
    const { code, findings } = await ask("DELETE", "cluster/a");
    assert.deepEqual(
      [code, findings[0].file, findings[0].line],
      ["XDSKIT_REFERENCE_BROKEN", join(folder.path, "routes.yaml"), 9],
    );
    const routes = { name: "v", domains: ["*"], routes: [{ match: { prefix: "/" }, route: { cluster: "b" } }] };
    const type = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration";
    await ask("PUT", "route/own", { "@type": type, name: "own", virtualHosts: [routes] });
    await folder.remove("b.yaml");
    await running.seen(/layer api: route "own", \S+: names cluster "b", which this change takes from group all/, "err");
  });

  it("is not served instead of the last good revision, once its errors are fixed", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a"), "routes.yaml": routesYaml("a") });
    await using state = await testFolder();
    const start = () => serving(folder, "--state", state.path);
    {
      await using first = start();
      await address(first, "admin");
      first.kill("SIGTERM");
      await first.ended();
    }
    await folder.write("a.yaml", "name: no type\n");
    await using running = start();
    await running.seen(/its last good revision is served/, "err");
    await folder.write("a.yaml", clusterYaml("b"));
    await running.seen(/route "routes", \S+: names cluster "a", which this change takes from group all/, "err");
    assert.equal(await clusters(running), "cluster/a");
    await folder.write("routes.yaml", routesYaml("b"));
    await running.seen(/configuration applied/, "err");
    assert.equal(await clusters(running), "cluster/b");
  });

  it("is not served after a restart either, which says the same; once it is whole, it is taken", async () => {
    await using folder = await testFolder({
      "a.yaml": clusterYaml("a"),
      "b.yaml": clusterYaml("b"),
      "routes.yaml": `# The routes\n${routesYaml("a")}`,
    });
    await using state = await testFolder();
    const line =
      /routes\.yaml:9\S*: route "routes", \S+: names cluster "a", which this change takes from group all; .*\]/;
    const refused = async (running: RunningServer) => {
      await running.seen(line, "err");
      const { findings, ...status } = await eventually(
        () => statusOf(running),
        ({ state }) => state === "refused",
      );
      return { findings, restored: status.restored, refusals: await refusals(running), names: await clusters(running) };
    };
    const stop = async (running: RunningServer) => {
      running.kill("SIGTERM");
      await running.ended();
    };
    await using first = serving(folder, "--state", state.path);
    await address(first, "admin");
    await folder.remove("a.yaml");
    const before = await refused(first);
    {
      await using beside = serving(folder, "--state", state.path);
      const { restored, ...said } = await refused(beside);
      assert.deepEqual({ ...said, restored: null }, before);
      await stop(beside);
    }
    await stop(first);
    {
      await using second = serving(folder, "--state", state.path);
      const { restored, ...after } = await refused(second);
      assert.deepEqual({ ...after, restored: null }, before);
      assert.equal(after.names, "cluster/a cluster/b");
      assert.ok(restored);
      const admin = await address(second, "admin");
      const ready = await fetch(`http://${admin}/readyz`);
      assert.equal(ready.status, 200);
      assert.match(
        await ready.text(),
        /^degraded: folder [^\n]* is served\n[^\n]*routes\.yaml:9[^\n]*names cluster "a"/,
      );
      assert.match(await (await fetch(`http://${admin}/metrics`)).text(), /^xdskit_source_restored\{[^}]*\} 1$/m);
      // Another edit does not get in beside it.
      await folder.write("c.yaml", clusterYaml("c"));
      await second.seen(/the folder is not served[\s\S]*the folder is not served/, "err");
      assert.equal(await clusters(second), "cluster/a cluster/b");
      await stop(second);
    }
    await using third = serving(folder, "--state", state.path);
    assert.equal(await clusters(third), "cluster/a cluster/b");
    await folder.write("routes.yaml", routesYaml("b"));
    await third.seen(/configuration applied: 3 resources added or changed/, "err");
    assert.equal(await clusters(third), "cluster/b cluster/c");
    assert.equal(await (await fetch(`http://${await address(third, "admin")}/readyz`)).text(), "ready\n");
  });

  it("is refused at a start if the API's route names it, and taken once that does not", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a"), "b.yaml": clusterYaml("b") });
    await using state = await testFolder();
    const put = async (running: RunningServer, cluster: string) => {
      const url = `http://${await address(running, "admin")}/api/v1/layers/api/resources/route/own`;
      const routes = { name: "v", domains: ["*"], routes: [{ match: { prefix: "/" }, route: { cluster } }] };
      const type = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration";
      const body = JSON.stringify({ "@type": type, name: "own", virtualHosts: [routes] });
      const answer = await fetch(url, { method: "PUT", headers: { "content-type": "application/json" }, body });
      assert.equal(answer.status, 200, await answer.text());
    };
    {
      await using first = serving(folder, "--state", state.path);
      await put(first, "a");
      first.kill("SIGTERM");
      await first.ended();
    }
    await folder.remove("a.yaml");
    await using running = serving(folder, "--state", state.path);
    await running.seen(/layer api: route "own", \S+: names cluster "a", which this change takes from group all/, "err");
    assert.equal(await clusters(running), "cluster/a cluster/b");
    await put(running, "b");
    await running.seen(/configuration applied/, "err");
    assert.equal(await clusters(running), "cluster/b");
    assert.equal(await refusals(running), "1");
  });

  it("is served after a restart with `warn`, and where its routes named what was not there before", async () => {
    await using folder = await testFolder({
      "b.yaml": clusterYaml("b"),
      "c.yaml": clusterYaml("c"),
      "routes.yaml": routesYaml("a"),
    });
    await using state = await testFolder();
    const served = async (...options: readonly string[]) => {
      await using running = serving(folder, "--state", state.path, ...options);
      const names = await clusters(running);
      const { state: is, findings } = await statusOf(running);
      running.kill("SIGTERM");
      await running.ended();
      return [names, is, ...findings.map(({ code }) => code)].join(" ");
    };
    const dangling = "applied XDSKIT_DANGLING_REFERENCE";
    assert.equal(await served(), `cluster/b cluster/c ${dangling}`);
    await folder.remove("c.yaml");
    assert.equal(await served(), `cluster/b ${dangling}`);
    await folder.write("routes.yaml", routesYaml("b"));
    assert.equal(await served(), "cluster/b applied");
    await folder.write("b.yaml", clusterYaml("c"));
    assert.match(await served(), /^cluster\/b refused XDSKIT_REFERENCE_BROKEN$/);
    assert.equal(await served("--references", "warn"), `cluster/c ${dangling}`);
    // What is served is the last good revision from then on.
    assert.equal(await served(), `cluster/c ${dangling}`);
  });
});
