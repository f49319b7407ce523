// Makes the pictures of the documentation: `npm run screenshots`, after `npm run build`. It is written as a test, since
// what tests start ends with them.
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { stringify } from "yaml";
import { createConfigFolder } from "../harness/config-folder.js";
import { startEnvoy } from "../harness/envoy.js";
import { peer, root } from "../harness/peers.js";
import { freePort } from "../harness/ports.js";
import { rejectedAssignment } from "../harness/resources.js";
import { createScene } from "../harness/scene.js";
import { eventually } from "../harness/wait.js";
import { serve, xdskitCommand } from "../harness/xdskit.js";
import { openDashboard, startBrowser } from "./browser.js";
import { shopCluster, shopFiles } from "./shop.js";

const images = join(root, "docs/images");

const settings = `groups:
  - name: edge
    match: { cluster: edge }
    folders: [.]
  - name: mesh
    match: {}
    folders: [.]
`;

/** A place, and what is there once it is drawn. */
const pictures = [
  ["fleet", "fleet", ".virtual .node-row a"],
  ["node", "node/edge-berlin-1", "blockquote"],
  ["configuration", "config/edge?graph=all", ".graph-box"],
  ["change", "change", "textarea"],
  ["history", "history", "td .state"],
  ["problems", "problems", ".problem"],
] as const;

test("the pictures of the dashboard", { timeout: 180_000 }, async (t) => {
  const scene = await createScene(t);
  const browser = await startBrowser(scene, t);
  const envoyPath = peer("envoy", t);
  if (browser === undefined || envoyPath === undefined) return;
  const files = shopFiles(await freePort());
  const folder = await createConfigFolder(scene.directory, files);
  await writeFile(join(scene.directory, "settings.yaml"), settings);
  // A name for people to read.
  const shop = join(tmpdir(), "shop");
  await rm(shop, { force: true });
  await symlink(folder.path, shop);
  scene.onEnd(() => rm(shop, { force: true }));
  const { admin, grpc } = await serve(scene, shop, {
    args: ["--state", join(scene.directory, "state"), "--settings", join(scene.directory, "settings.yaml")],
  });
  const states = async (path: string) => (await fetch(`http://${admin}/api/v1/${path}`)).json();
  play(scene, grpc, "edge", "edge-{n}", 1_800);
  play(scene, grpc, "mesh", "mesh-{n}", 600);
  const bootstrapArgs = ["--node-cluster", "edge"];
  await startEnvoy(scene, { path: envoyPath, server: grpc, variant: "ads-delta", id: "edge-berlin-1", bootstrapArgs });
  await eventually("the nodes", async () => ((await states("fleet/summary")) as Summary).states.synced === 2_401, {
    withinMs: 60_000,
  });
  // A first change that all take, and one that the Envoy and a few others reject.
  await folder.put({ "clusters.yaml": [shopCluster("cart", 2), ...(files["clusters.yaml"] ?? []).slice(1)] });
  await eventually("a revision", async () => ((await states("revisions")) as Revisions).revisions.length > 1);
  const [cart, ...others] = files["endpoints.yaml"] ?? [];
  if (cart === undefined) throw new Error("the shop has no endpoints");
  const { policy } = rejectedAssignment("cart");
  await folder.put({ "endpoints.yaml": [{ ...cart, policy }, ...others] });
  await eventually("the rejections", async () => {
    const { pending, rejected } = ((await states("fleet/summary")) as Summary).states;
    return pending === 0 && rejected > 1;
  });
  await mkdir(images, { recursive: true });
  for (const colorScheme of ["light", "dark"] as const) {
    const { page, goTo } = await openDashboard(browser, admin, { colorScheme, viewport: { width: 1280, height: 820 } });
    for (const [name, place, sign] of pictures) {
      await goTo(place);
      await page.locator(sign).first().waitFor();
      if (name === "change") await lookAtChange(page);
      // Pictures show what stays, and not what blinks.
      await page.waitForTimeout(700);
      await page.screenshot({ path: join(images, `dashboard-${name}-${colorScheme}.png`) });
    }
    await page.context().close();
  }
});

/** Asks what a change would do. */
async function lookAtChange(page: Page): Promise<void> {
  await page.locator("textarea").fill(stringify(shopCluster("checkout", 5)));
  await page.getByRole("button", { name: "What would it do?" }).click();
  await page.getByRole("heading", { name: /It changes/ }).waitFor();
}

interface Summary {
  readonly states: Readonly<Record<"synced" | "pending" | "rejected", number>>;
}

interface Revisions {
  readonly revisions: readonly unknown[];
}

function play(
  scene: Awaited<ReturnType<typeof createScene>>,
  grpc: string,
  cluster: string,
  id: string,
  nodes: number,
) {
  const { command, args } = xdskitCommand();
  scene.start({
    name: "xdskit bench",
    command,
    args: [
      ...[...args, "bench", "--server", grpc, "--ads", "--nodes", `${nodes}`, "--nodes-per-connection", "50"],
      ...["--node-id", id, "--node-cluster", cluster, "--locality", "eu/eu-1", "--duration", "1h", "--reject", "0.4%"],
    ],
  });
}
