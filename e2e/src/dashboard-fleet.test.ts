import assert from "node:assert/strict";
import { test } from "node:test";
import { openDashboard, startBrowser } from "./dashboard/browser.js";
import { shopCluster, shopFiles } from "./dashboard/shop.js";
import { createConfigFolder } from "./harness/config-folder.js";
import { createScene } from "./harness/scene.js";
import { eventually } from "./harness/wait.js";
import { serve, xdskitCommand } from "./harness/xdskit.js";

const nodes = 10_000;
/** The page's own work in one stretch, while all nodes change. A machine under test has other work, too. */
const mostLongTaskMs = 400;

test("the dashboard of ten thousand nodes", { timeout: 180_000 }, async (t) => {
  const scene = await createScene(t);
  const browser = await startBrowser(scene, t);
  if (browser === undefined) return;
  const folder = await createConfigFolder(scene.directory, shopFiles());
  const server = await serve(scene, folder.path, { args: ["--state", "off", "--log-level", "error"] });
  const { command, args } = xdskitCommand();
  scene.start({
    name: "xdskit bench",
    command,
    args: [
      ...[...args, "bench", "--server", server.grpc, "--ads", "--nodes", `${nodes}`, "--nodes-per-connection", "100"],
      ...["--node-id", "edge-{n}", "--node-cluster", "edge", "--duration", "1h", "--timeout", "2m", "--reject", "0.1%"],
    ],
  });
  const states = async () => {
    const summary = (await (await fetch(`http://${server.admin}/api/v1/fleet/summary`)).json()) as {
      readonly states: Readonly<Record<"synced" | "rejected", number>>;
    };
    return summary.states;
  };
  await eventually("all nodes", async () => (await states()).synced === nodes, { withinMs: 90_000, everyMs: 1_000 });
  const { page, goTo, faults } = await openDashboard(browser, server.admin);

  await scene.step("shows all of them, and draws only the rows that are seen", async () => {
    await page.getByText("10,000 nodes shown").waitFor();
    await page.getByRole("link", { name: "edge-00000", exact: true }).waitFor();
    assert.ok((await page.locator(".virtual .node-row").count()) < 80);
    await page.locator(".virtual").evaluate((list) => list.scrollTo(0, list.scrollHeight));
    await page.getByRole("link", { name: "edge-09999", exact: true }).waitFor();
    assert.ok((await page.locator(".map-columns li").count()) > 50);
  });

  await scene.step("does not stutter while all of them change", async () => {
    await page.evaluate(watchLongTasks);
    for (let round = 1; round <= 4; round += 1) {
      await folder.put({ "clusters.yaml": changedClusters(round) });
      for (let place = 0; place < 10; place += 1) {
        await page.locator(".virtual").evaluate((list, top) => list.scrollTo(0, top), place * 4_000);
        await page.waitForTimeout(60);
      }
    }
    const long = await page.evaluate<readonly number[]>("longTasks");
    assert.ok(Math.max(0, ...long) < mostLongTaskMs, `stretches of ${long.map(Math.round).join(", ")} ms`);
  });

  await scene.step("finds the ten that rejected among them, and says the same as the API", async () => {
    await eventually("the rejections", async () => (await states()).rejected === 10, { withinMs: 30_000 });
    await goTo("fleet?state=rejected");
    await page.getByText("10 nodes shown").waitFor();
    await page.locator(".virtual .node-row .cell-why", { hasText: "rejected on purpose" }).first().waitFor();
    await page.locator(".state-button.state-rejected .state-count", { hasText: /^10$/ }).waitFor();
    await page.getByRole("combobox", { name: "Order" }).selectOption("lag");
    await page.waitForURL(/sort=lag/);
    await page.getByRole("searchbox", { name: "Search nodes" }).fill("edge-000");
    await page.waitForURL(/q=edge-000/);
    await page.getByText(/^[0-9] nodes? shown$/).waitFor();
    assert.deepEqual(faults, []);
  });
});

/** The page's stretches of work of more than 50 ms, in milliseconds. */
const watchLongTasks = `globalThis.longTasks = [];
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) longTasks.push(duration);
}).observe({ entryTypes: ["longtask"] });`;

function changedClusters(round: number) {
  const [first, ...rest] = shopFiles()["clusters.yaml"] ?? [];
  assert.ok(first !== undefined);
  return [shopCluster("cart", round + 1), ...rest];
}
