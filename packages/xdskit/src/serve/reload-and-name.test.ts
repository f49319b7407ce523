import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../testing/command.js";
import { clusterYaml } from "../testing/folder.js";
import { inProcessEnds } from "../testing/in-process.js";
import { served, servedApart } from "../testing/served.js";

test("SIGHUP ends nothing, and reads the folder and the settings again", async () => {
  const settings = (word: string) => `references: ${word}\n`;
  await using server = await servedApart({ "a.yaml": clusterYaml("a"), "xdskit.yaml": settings("warn") });
  await server.folder.write("xdskit.yaml", settings("refuse"));
  server.running.kill("SIGHUP");
  await server.running.seen(/SIGHUP: the folder, the settings and certificates are read again/, "err");
  await server.running.seen(/settings in use: references/, "err");
  await server.folder.write("b.yaml", clusterYaml("b"));
  server.running.kill("SIGHUP");
  await eventually(
    () => server.ask("/api/v1/layers/folder/resources") as Promise<{ resources: readonly { name: string }[] }>,
    ({ resources }) => resources.map(({ name }) => name).join() === "a,b",
  );
  server.running.kill("SIGTERM");
  assert.equal((await server.running.ended()).status, 0);
});

test("the name of a server is in its API, its metrics, and in what status and top say of it", async () => {
  await using server = await served({ "a.yaml": clusterYaml("a") }, "--name", "prod-eu");
  assert.equal(((await server.ask("/api/v1/server")) as { name: string }).name, "prod-eu");
  const metrics = await (await fetch(`${server.admin}/metrics`)).text();
  assert.match(metrics, /^xdskit_server_info\{name="prod-eu"\} 1$/m);
  assert.match((await server.run("status")).out, /^no nodes {3}prod-eu, http:/);
  assert.match((await server.run("top", "--count", "1")).out, /^no nodes {3}prod-eu, http:/);
  assert.equal(JSON.parse((await server.run("status", "--json")).out).name, "prod-eu");
  for (const name of ["", " a", "a\nb", "x".repeat(64)]) {
    const { status, err } = await inProcessEnds("serve", server.folder.path, "--name", name);
    assert.deepEqual([status, /Expected a name of at most 63 characters/.test(err)], [2, true], name);
  }
});
