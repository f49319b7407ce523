import assert from "node:assert/strict";
import { test } from "node:test";
import { mustBeAccessible, openDashboard, startBrowser } from "./dashboard/browser.js";
import { createConfigFolder } from "./harness/basics/config-folder.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { clusterType, request, response } from "./harness/basics/wire.js";
import { ads, createRawClient } from "./harness/peers/raw-client.js";
import { serve } from "./harness/xdskit/xdskit.js";

const type = "type.googleapis.com/envoy.config";
const many = 100;

/** A hundred clusters, and as many routes with one large regular expression. */
const files = {
  "clusters.yaml": Array.from({ length: many }, (_, index) => ({
    "@type": `${type}.cluster.v3.Cluster`,
    name: `svc-${String(index).padStart(5, "0")}`,
    connect_timeout: "1s",
  })),
  "routes.yaml": Array.from({ length: many }, (_, index) => ({
    "@type": `${type}.route.v3.RouteConfiguration`,
    name: `routes-${index}`,
    virtual_hosts: [
      {
        name: "all",
        domains: ["*"],
        routes: [{ match: { safe_regex: { regex: "/(a|b|c|d|e|f|g){1,400}" } }, direct_response: { status: 200 } }],
      },
    ],
  })),
};

test("the dashboard of a rejection that blames none of many, and of many equal warnings", {
  timeout: 300_000,
}, async (t) => {
  const scene = await createScene(t);
  const browser = await startBrowser(scene, t);
  if (browser === undefined) return;
  const folder = await createConfigFolder(scene.directory, files);
  const server = await serve(scene, folder.path, { args: ["--state", `${scene.directory}/state`] });
  const stream = createRawClient(scene, server.grpc).open(ads);
  stream.send(request({ type: clusterType, node: "picky" }));
  await eventually("the response", () => stream.received.length === 1);
  const { nonce } = response(stream.received[0] ?? Buffer.alloc(0));
  stream.send(request({ type: clusterType, nonce, error: "no room for all of it" }));
  const problems = async () => {
    const answer = await fetch(`http://${server.admin}/api/v1/problems`);
    return (await answer.json()) as { readonly errors: number; readonly problems: readonly { title: string }[] };
  };
  await eventually("the rejection", async () => (await problems()).errors === 1);
  const dashboard = await openDashboard(browser, server.admin);
  const { page, goTo, faults } = dashboard;

  await scene.step("counts errors and warnings apart, and equal ones once", async () => {
    await goTo("problems");
    await page.getByRole("heading", { name: `${many} route resources: the same warning` }).waitFor();
    await page.getByText("and 80 more").waitFor();
    assert.equal(await page.locator(".problem").count(), 2);
    assert.equal(await page.locator("nav .badge-error").getAttribute("title"), "1 error");
    assert.equal(await page.locator("nav .badge-warning").getAttribute("title"), "1 warning");
    await mustBeAccessible(dashboard, "the problems");
  });

  await scene.step("does not show the rejection as one of its resources", async () => {
    const { problems: all } = await problems();
    assert.equal(all[0]?.title, "picky rejects 100 cluster resources without naming one");
    await page.getByRole("link", { name: "See the node" }).click();
    await page.getByRole("heading", { name: `It rejects a response of ${many} cluster resources` }).waitFor();
    assert.deepEqual(faults, []);
  });
});

test("why no node runs a change that the server refuses is one click away, wherever somebody looks", {
  timeout: 300_000,
}, async (t) => {
  const scene = await createScene(t);
  const browser = await startBrowser(scene, t);
  if (browser === undefined) return;
  const cluster = { "@type": `${type}.cluster.v3.Cluster`, name: "web", connect_timeout: "1s" };
  const folder = await createConfigFolder(scene.directory, { "web.yaml": [cluster] });
  const server = await serve(scene, folder.path, { args: ["--state", `${scene.directory}/state`] });
  const stream = createRawClient(scene, server.grpc).open(ads);
  stream.send(request({ type: clusterType, node: "edge-1" }));
  await eventually("the response", () => stream.received.length === 1);
  const { nonce } = response(stream.received[0] ?? Buffer.alloc(0));
  stream.send(request({ type: clusterType, nonce }));
  const { page, goTo, faults } = await openDashboard(browser, server.admin);
  await goTo("fleet");
  await page.getByText("edge-1").first().waitFor();
  await folder.put({ "web.yaml": [{ ...cluster, connect_timeout: "-1s" }] });

  for (const place of ["fleet", "node/edge-1", "config", "history"])
    await scene.step(`from ${place}`, async () => {
      await goTo(place);
      await page.locator("nav .badge-error").click();
      await page.getByText("must be more than 0s").first().waitFor();
      await page
        .getByText(/web\.yaml:\d+/)
        .first()
        .waitFor();
    });
  assert.deepEqual(faults, []);
});
