// Makes the pictures of the documentation: `npm run screenshots`, after `npm run build`. It is written as a test, since
// what tests start ends with them.
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { createConfigFolder } from "../harness/basics/config-folder.js";
import { peer, root } from "../harness/basics/peers.js";
import { freePort } from "../harness/basics/ports.js";
import type { Process } from "../harness/basics/process.js";
import { rejectedAssignment } from "../harness/basics/resources.js";
import { createScene, type Scene } from "../harness/basics/scene.js";
import { eventually } from "../harness/basics/wait.js";
import { startEnvoy } from "../harness/peers/envoy.js";
import { changeByApi } from "../harness/xdskit/api-change.js";
import { serve, startBench } from "../harness/xdskit/xdskit.js";
import { type DashboardPage, openDashboard, startBrowser } from "./browser.js";
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

const schemes = ["light", "dark"] as const;

/** A place, what is there once it is drawn, and how high its picture may be, in pixels. */
const pictures = [
  ["fleet", "fleet", ".virtual .node-row a", 820],
  ["problems", "problems", ".problem", 1_080],
  ["history", "history", "td .state", 960],
  ["node", "node/edge-berlin-1", "blockquote", 820],
  ["configuration", "config/edge?graph=all", ".graph-box", 820],
] as const;

/** Of a fleet that somebody looks at: most nodes, and those that answer nothing for a while. */
const [edgeNodes, meshNodes, slowNodes] = [1_400, 560, 40];

test("the pictures of the dashboard", { timeout: 600_000 }, async (t) => {
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
  play(scene, grpc, "edge", "edge-{n}", edgeNodes);
  play(scene, grpc, "mesh", "mesh-{n}", meshNodes);
  const slow = play(scene, grpc, "mesh", "slow-{n}", slowNodes);
  const bootstrapArgs = ["--node-cluster", "edge"];
  await startEnvoy(scene, { path: envoyPath, server: grpc, variant: "ads-delta", id: "edge-berlin-1", bootstrapArgs });
  const all = edgeNodes + meshNodes + slowNodes + 1;
  await eventually("the nodes", async () => ((await states("fleet/summary")) as Summary).states.synced === all, {
    withinMs: 240_000,
  });
  // A first change that all take, and one that the Envoy and a few others reject.
  await folder.put({ "clusters.yaml": [shopCluster("cart", 2), ...(files["clusters.yaml"] ?? []).slice(1)] });
  await eventually("a revision", async () => ((await states("revisions")) as Revisions).revisions.length > 1);
  await changeByPeople(admin);
  const [cart, ...others] = files["endpoints.yaml"] ?? [];
  if (cart === undefined) throw new Error("the shop has no endpoints");
  const { policy } = rejectedAssignment("cart");
  await mkdir(images, { recursive: true });
  const window = { viewport: { width: 1280, height: 820 } };
  const shown = await Promise.all(
    schemes.map(async (scheme) => ({
      scheme,
      ...(await openDashboard(browser, admin, { ...window, colorScheme: scheme })),
    })),
  );
  // They answer nothing now: the picture shows what waits, too. Soon they are called stale.
  process.kill(slow.pid, "SIGSTOP");
  scene.onEnd(() => void process.kill(slow.pid, "SIGCONT"));
  await folder.put({ "endpoints.yaml": [{ ...cart, policy }, ...others] });
  await eventually(
    "the rejections",
    async () => {
      const { state } = (await states("nodes/edge-berlin-1/summary")) as { readonly state: string };
      const { pending } = ((await states("fleet/summary")) as Summary).states;
      return state === "rejected" && pending > 0 && pending <= slowNodes;
    },
    { withinMs: 120_000 },
  );
  for (const picture of pictures) for (const one of shown) await takePicture(one, picture);
  await pictureOfChange(scene, browser);
});

async function takePicture(
  { scheme, page, goTo }: DashboardPage & { readonly scheme: string },
  [name, place, sign, most]: (typeof pictures)[number],
): Promise<void> {
  await goTo(place);
  await page.locator(sign).first().waitFor();
  // Pictures show what stays, and not what blinks.
  await page.waitForTimeout(500);
  await fitWindow(page, most);
  await page.screenshot({ path: join(images, `dashboard-${name}-${scheme}.png`) });
}

/** Changes with a reason, of which one was no good. */
async function changeByPeople(admin: string): Promise<void> {
  const changes = [
    { upsert: [shopCluster("search", 3)], author: "Ada", message: "Search answers late on Mondays: wait for it" },
    { upsert: [shopCluster("reviews", 5)], author: "Grace", message: "Reviews may take longer, too" },
  ];
  for (const change of changes) {
    const answer = await changeByApi({ admin }, change);
    if (!answer.ok) throw new Error(await answer.text());
  }
  const get = async <T>(path: string) => (await (await fetch(`http://${admin}/api/v1/${path}`)).json()) as T;
  const { revisions } = await get<Revisions>("revisions?layer=api");
  const answer = await fetch(`http://${admin}/api/v1/layers/api/rollback`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ to: revisions.at(-1)?.id, author: "Ada", message: "Reviews pile up: back to one second" }),
  });
  if (!answer.ok) throw new Error(await answer.text());
  const arrivals = revisions.map(({ id }) => `revisions/${id}/arrival`);
  await eventually(
    "all took what they take",
    async () => {
      const counts = await Promise.all(arrivals.map(async (path) => (await get<Arrival>(path)).counts));
      return counts.every(({ pending }) => pending === 0);
    },
    { withinMs: 120_000 },
  );
}

/** As high as what is shown, within bounds: no picture is half empty. */
async function fitWindow(page: Page, most: number): Promise<void> {
  const bottom = "document.querySelector('main').lastElementChild.getBoundingClientRect().bottom";
  // What comes with further answers makes it higher.
  for (let before = 0, tries = 0; tries < 10; tries += 1) {
    const content = await page.evaluate<number>(bottom);
    const height = Math.round(Math.min(most, Math.max(480, content + 24)));
    if (height === before) return;
    before = height;
    await page.setViewportSize({ width: 1280, height });
    await page.waitForTimeout(300);
  }
}

/** What a change of the quickstart would do: a third service. */
async function pictureOfChange(scene: Scene, browser: Browser): Promise<void> {
  const quickstart = join(tmpdir(), "quickstart");
  await rm(quickstart, { force: true });
  await symlink(join(root, "examples/quickstart/config"), quickstart);
  scene.onEnd(() => rm(quickstart, { force: true }));
  const { admin } = await serve(scene, quickstart, { args: ["--state", "off"] });
  for (const colorScheme of schemes) {
    const viewport = { width: 1280, height: 1100 };
    const { page, goTo } = await openDashboard(browser, admin, { colorScheme, viewport });
    await goTo("change");
    await page.locator("textarea").fill(quickstartChange);
    await page.getByRole("button", { name: "What would it do?" }).click();
    await page.getByRole("heading", { name: /It changes/ }).waitFor();
    await page.getByPlaceholder("Why?").fill("a third service");
    await page.locator(".stages").first().waitFor();
    await page.locator("textarea").evaluate((field) => {
      field.scrollTop = 0;
    });
    await page.evaluate("document.activeElement.blur()");
    await page.waitForTimeout(300);
    await page.screenshot({ path: join(images, `dashboard-change-${colorScheme}.png`), fullPage: true });
    await page.context().close();
  }
}

const quickstartChange = `"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
name: three
type: EDS
eds_cluster_config: { eds_config: { resource_api_version: V3, ads: {} } }
connect_timeout: 1s
---
"@type": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment
cluster_name: three
endpoints:
  - lb_endpoints:
      - endpoint: { address: { socket_address: { address: 127.0.0.1, port_value: 10003 } } }
---
"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
name: quickstart-routes
virtual_hosts:
  - name: all
    domains: ["*"]
    routes:
      - match: { prefix: /three }
        route: { cluster: three }
      - match: { prefix: /one }
        route: { cluster: one }
      - match: { prefix: / }
        route: { cluster: two }
`;

interface Summary {
  readonly states: Readonly<Record<"synced" | "pending" | "rejected", number>>;
}

interface Arrival {
  readonly counts: { readonly pending: number };
}

interface Revisions {
  readonly revisions: readonly { readonly id: string }[];
}

function play(scene: Scene, grpc: string, cluster: string, id: string, nodes: number): Process {
  const args = ["--nodes-per-connection", "50", "--node-cluster", cluster, "--locality", "eu/eu-1", "--reject", "0.4%"];
  return startBench(scene, grpc, { nodes, id, args });
}
