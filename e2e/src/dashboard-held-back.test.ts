import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { test } from "node:test";
import { mustBeAccessible, openDashboard, startBrowser } from "./dashboard/browser.js";
import { shopCluster, shopFiles } from "./dashboard/shop.js";
import { createConfigFolder } from "./harness/basics/config-folder.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { serve, startBench } from "./harness/xdskit/xdskit.js";

const settings = `groups:
  - name: edge
    match: { cluster: edge }
    folders: [.]
    rollout: { steps: [{ count: 10 }, { percent: 50 }], soak: 1h }
`;
const [nodes, reached] = [260, 10];

test("the dashboard of a rollout that holds nodes back", { timeout: 400_000 }, async (t) => {
  const scene = await createScene(t);
  const browser = await startBrowser(scene, t);
  if (browser === undefined) return;
  const files = shopFiles();
  const folder = await createConfigFolder(scene.directory, files);
  await writeFile(`${scene.directory}/settings.yaml`, settings);
  const server = await serve(scene, folder.path, {
    args: ["--state", `${scene.directory}/state`, "--settings", `${scene.directory}/settings.yaml`],
  });
  const args = ["--nodes-per-connection", "50", "--node-cluster", "edge"];
  startBench(scene, server.grpc, { nodes, id: "edge-{n}", args });
  const states = async () => {
    const answer = await fetch(`http://${server.admin}/api/v1/fleet/summary`);
    return ((await answer.json()) as { readonly states: Readonly<Record<string, number>> }).states;
  };
  await eventually("all nodes", async () => (await states()).synced === nodes, { withinMs: 100_000 });
  await folder.put({ "clusters.yaml": [shopCluster("cart", 7), ...(files["clusters.yaml"] ?? []).slice(1)] });
  await eventually("the first step", async () => {
    const { synced, "held-back": heldBack } = await states();
    return synced === reached && heldBack === nodes - reached;
  });
  await fetch(`http://${server.admin}/api/v1/rollouts/edge/halt`, { method: "POST" });
  const dashboard = await openDashboard(browser, server.admin);
  const { page, goTo, faults } = dashboard;
  const why = "1 resource held back by the rollout of edge at step 1 of 2, halted";

  await scene.step("the fleet counts them, and lists them with the rollout and its step", async () => {
    await page.getByRole("button", { name: "250 held back" }).click();
    await page.getByText("250 nodes shown").waitFor();
    await page.getByText(`cluster: ${why}`).first().waitFor();
    assert.equal(await page.locator(".map .legend").getByText("held back").count(), 1);
    await page.locator(".map-columns .cell-held-back").first().waitFor();
  });

  await scene.step("a node says what is kept from it, and shows that beside what it runs", async () => {
    await page.locator(".virtual .node-row a").first().click();
    await page.locator("h1").getByText("held back").waitFor();
    await page.locator(".links a", { hasText: "cart" }).first().click();
    await page.getByRole("heading", { name: "cart cluster" }).getByText("held back").waitFor();
    await page.getByText(`${why}. What it runs is all that it should run for now.`).waitFor();
    await page.getByText("Its group has").waitFor();
    assert.equal(await page.getByText("It has everything that it should have").count(), 0);
    await mustBeAccessible(dashboard, "a node");
  });

  await scene.step("a change says what its group is served, and that the halted rollout begins anew", async () => {
    await goTo("change?layer=api");
    await page.locator("textarea").fill(JSON.stringify(shopCluster("cart", 9)));
    await page.getByRole("button", { name: "What would it do?" }).click();
    const begins = "the rollout halted at step 1 of 2 begins anew, with this change";
    await page.getByText(`10 nodes first, then 50 %, all; ${begins}.`).waitFor();
    await page.getByText("Changed for the nodes of edge").waitFor();
    await mustBeAccessible(dashboard, "a change");
  });

  await scene.step("the history calls none of them pending, and links to those that are held back", async () => {
    await goTo("history");
    await page.getByText("250 held back").first().waitFor();
    assert.equal(await page.getByText("pending").count(), 0);
    await page.getByRole("link", { name: "folder 2" }).click();
    await page.getByText("10 of 260 nodes, 250 held back").waitFor();
    await page.getByRole("link", { name: "150 held back" }).click();
    await page.getByText("250 nodes shown").waitFor();
    assert.deepEqual(faults, []);
  });
});
