import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { type DashboardPage, mustBeAccessible, mustFit, openDashboard, startBrowser } from "./dashboard/browser.js";
import { shopCluster, shopFiles } from "./dashboard/shop.js";
import { createConfigFolder } from "./harness/basics/config-folder.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import { rejectedAssignment } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { changeByApi } from "./harness/xdskit/api-change.js";
import { serve } from "./harness/xdskit/xdskit.js";

/** Every view, and something in it that is there once it is drawn. */
/** As when a rollout is under way, and there are errors and warnings. */
const addCounts = `if (document.querySelector(".added") === null) for (const view of ["rollouts", "problems", "problems"])
  document.querySelector("header nav a[href$='" + view + "']")
    .insertAdjacentHTML("beforeend", "<span class='badge badge-error added'>12</span>")`;

const views = [
  ["fleet", "text=Nodes × types"],
  ["node/shop-envoy", "text=What happened"],
  ["config", "text=public-routes"],
  ["config/all/route/public-routes", "h3:text-is('Who uses what')"],
  ["config/all/endpoint/payments", "h3:text-is('Endpoints')"],
  ["config/all?graph=all", "h2:text-is('Who uses what')"],
  ["change", "textarea"],
  ["history", "table"],
  ["problems", "main h1"],
  ["audit", "table"],
] as const;

test("the dashboard, with a real Envoy that rejects", { timeout: 400_000 }, async (t) => {
  const envoyPath = peer("envoy", t);
  if (envoyPath === undefined) return;
  const scene = await createScene(t);
  const browser = await startBrowser(scene, t);
  if (browser === undefined) return;
  const folder = await createConfigFolder(scene.directory, shopFiles(await freePort()));
  const settings = `${scene.directory}/settings.yaml`;
  await writeFile(settings, "audit: { file: audit.jsonl }\n");
  const args = ["--state", `${scene.directory}/state`, "--settings", settings];
  const server = await serve(scene, folder.path, { args });
  await startEnvoy(scene, { path: envoyPath, server: server.grpc, variant: "ads-delta", id: "shop-envoy" });
  const dashboard = await openDashboard(browser, server.admin);
  const { page, goTo, faults } = dashboard;
  const api = async (path: string) => (await fetch(`http://${server.admin}/api/v1/${path}`)).json();
  const stateOf = async () => ((await api("nodes/shop-envoy/summary")) as { readonly state: string }).state;

  await scene.step("a first visit costs less than 100 kB until the fleet is drawn", async () => {
    const context = await browser.newContext();
    const first = await context.newPage();
    await first.goto(`http://${server.admin}/`);
    await first.getByText("1 node shown").waitFor();
    // As they came, compressed: the page, its script, its styles, its icon, and all answers of the API so far.
    const loaded = await first.evaluate<readonly Loaded[]>(loadedSoFar);
    assert.ok(loaded.some(({ name }) => /\.js$/.test(name)) && loaded.some(({ name }) => /\.css$/.test(name)));
    const bytes = loaded.reduce((sum, { size }) => sum + size, 0);
    console.log(`# a first visit: ${bytes} bytes in ${loaded.length} answers`);
    assert.ok(bytes > 20_000 && bytes < 100_000, JSON.stringify(loaded));
    await context.close();
  });

  await scene.step("an Envoy that rejects is found from the first page in two clicks, with its words", async () => {
    await page.getByText("1 node shown").waitFor();
    const files = shopFiles();
    await folder.put({ "endpoints.yaml": [...(files["endpoints.yaml"] ?? []).slice(1), rejectedAssignment("cart")] });
    await eventually("the rejection", async () => (await stateOf()) === "rejected");
    await page
      .getByRole("button", { name: "1 ✕ rejected" })
      .or(page.locator(".state-button.state-rejected"))
      .first()
      .click();
    await page.getByRole("link", { name: "shop-envoy", exact: true }).click();
    const { rejection } = (await api("nodes/shop-envoy/resources/endpoint/cart")) as {
      readonly rejection: { readonly message: string };
    };
    await page.locator("blockquote").getByText(rejection.message).waitFor();
    await page
      .getByText(/endpoints\.yaml:\d+/)
      .first()
      .waitFor();
    assert.match(await page.locator(".moment-rejected").first().innerText(), /NACK/);
    await page.locator("h3", { hasText: "It should run" }).waitFor();
  });

  await scene.step("problems say what to do, and their count is in the title", async () => {
    await goTo("problems");
    await page.getByRole("heading", { name: "shop-envoy rejects endpoint cart" }).waitFor();
    const { errors, warnings } = (await api("problems")) as { readonly errors: number; readonly warnings: number };
    // The page's policy forbids what Playwright's `waitForFunction` evaluates in it from its second look on.
    const title = `(${errors || warnings}) Problems · xdskit`;
    await eventually(`the title ${title}`, async () => (await page.title()) === title);
    await page.getByText("Fix what the client names in its words").waitFor();
    // Errors and warnings are counted apart.
    assert.equal(
      await page.locator("nav .badge-error").getAttribute("title"),
      errors === 1 ? "1 error" : `${errors} errors`,
    );
    assert.equal(await page.locator("nav .badge-warning").count(), Math.min(1, warnings));
  });

  await scene.step("the revision says who rejected it, and why", async () => {
    await goTo("history");
    await page.locator(".history-row", { hasText: "folder 2" }).getByText("1 rejected").waitFor();
    await page.getByRole("link", { name: "folder 2", exact: true }).click();
    const reason = page.locator(".finding-error", { hasText: "drop_overloads" });
    await reason.getByRole("link", { name: "shop-envoy" }).waitFor();
  });

  await scene.step("a rollback from the page shows what it does, and the Envoy has it then", async () => {
    await goTo("history");
    await page.getByRole("link", { name: "folder 1" }).click();
    await page.getByRole("button", { name: "Roll back to this" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("It changes 1 resource").waitFor();
    await dialog.locator(".line.removed, .line.added").first().waitFor();
    await dialog.getByPlaceholder("Why?").fill("the old endpoints were good");
    await dialog.getByRole("button", { name: "Roll back" }).click();
    await page.getByRole("heading", { name: /folder 3/ }).waitFor();
    await page.getByText("100 %").waitFor();
    await eventually("the Envoy", async () => (await stateOf()) === "synced");
    const { revisions } = (await api("revisions")) as { readonly revisions: readonly { readonly message: string }[] };
    assert.equal(revisions[0]?.message, "the old endpoints were good");
  });

  await scene.step("a pasted change is looked at, refused with its line, and applied with a reason", async () => {
    await goTo("change");
    const yaml = (timeout: string) =>
      `"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: pasted\nconnect_timeout: ${timeout}\n`;
    await page.locator("textarea").fill(yaml("0s"));
    await page.getByRole("button", { name: "What would it do?" }).click();
    await page.locator(".failure code.where", { hasText: /^line:3:/ }).waitFor();
    await page.locator("textarea").fill(yaml("2s"));
    await page.getByRole("button", { name: "What would it do?" }).click();
    await page.getByRole("heading", { name: /It changes 1 resource/ }).waitFor();
    await page.locator(".line.added", { hasText: "connect_timeout: 2s" }).waitFor();
    const apply = page.getByRole("button", { name: "Apply" });
    assert.equal(await apply.isDisabled(), true, "without a reason");
    await page.getByPlaceholder("Why?").fill("a first try");
    await apply.click();
    await page.getByRole("heading", { name: /api 1/ }).waitFor();
    await page.getByText("a first try").waitFor();
  });

  await scene.step("each view shows what the API says while things change", async () => {
    await goTo("config/all/cluster/pasted");
    await page.getByText("connect_timeout: 2s").waitFor();
    const changed = await changeByApi(server, { upsert: [shopCluster("pasted", 7)], message: "by another" });
    assert.equal(changed.status, 200);
    await page.getByText("connect_timeout: 7s").waitFor({ timeout: 10_000 });
    await goTo("history");
    await page.locator("td.words", { hasText: "by another" }).waitFor();
    await goTo("config?q=users.internal&contents=true");
    const rows = page.getByRole("region", { name: "Resources" }).locator("tbody tr");
    await rows.filter({ hasText: "internal-routes" }).waitFor();
    assert.equal(await rows.count(), 1);
    await page.getByText("names recommendations, which is missing").waitFor();
    // A column sorts all of them, on the server.
    await goTo("config/all/cluster");
    await page.getByRole("button", { name: "Name" }).click();
    await page.getByRole("button", { name: "Name" }).click();
    await page.getByRole("columnheader", { name: "Name" }).and(page.locator("[aria-sort=descending]")).waitFor();
    await rows.first().filter({ hasText: "users" }).waitFor();
    await rows.first().getByText("clusters.yaml:").waitFor();
  });

  await scene.step("keys lead everywhere", async () => {
    await goTo("fleet");
    await page.keyboard.press("g");
    await page.keyboard.press("h");
    await page.getByRole("heading", { name: "History", exact: true }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("f");
    await page.getByText("1 node shown").waitFor();
    await page.keyboard.press("/");
    assert.equal(await page.evaluate('document.activeElement.getAttribute("type")'), "search");
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "detached" });
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.evaluate(closeAndOpenRow);
    await page.getByRole("heading", { name: /shop-envoy/ }).waitFor();
    await page.evaluate(goAndAsk);
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.evaluate(`document.querySelector("dialog[open]").close(); ${ask}`);
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.evaluate("history.back()");
    await page.getByRole("heading", { name: /shop-envoy/ }).waitFor();
  });

  for (const colorScheme of ["light", "dark"] as const) {
    await scene.step(`axe finds nothing in any view, ${colorScheme}`, async () => {
      const shown = await openDashboard(browser, server.admin, { colorScheme });
      for (const [view, sign] of views) {
        await shown.goTo(view);
        await shown.page.locator(sign).first().waitFor();
        await mustBeAccessible(shown, `${view}, ${colorScheme}`);
      }
      assert.deepEqual(shown.faults, []);
      await shown.page.context().close();
    });
  }

  await scene.step(
    "in forced colours the legend of the last 30 minutes has a colour of its own for each kind",
    async () => {
      const forced = await openDashboard(browser, server.admin, { forcedColors: "active" });
      await forced.page.locator(".activity-key").first().waitFor();
      const colours = await forced.page.evaluate<readonly string[]>(coloursOfKeys);
      assert.equal(new Set(colours).size, 3, `${colours}`);
      await forced.page.context().close();
    },
  );

  await scene.step("nothing is wider than a screen of 360 px, or cut on one of 768", async () => {
    const small = await openDashboard(browser, server.admin, { viewport: { width: 360, height: 740 } });
    for (const [view, sign] of views) {
      await small.goTo(view);
      await small.page.locator(sign).first().waitFor();
      await small.page.evaluate(addCounts);
      await mustFit(small, view);
      // A tablet.
      await small.page.setViewportSize({ width: 768, height: 740 });
      await mustFit(small, `${view}, 768 px`);
      await small.page.setViewportSize({ width: 360, height: 740 });
    }
    assert.deepEqual(small.faults, []);
    await small.page.context().close();
  });

  await scene.step("a page of another origin changes nothing", () =>
    foreignPageChangesNothing(dashboard, server.admin),
  );

  await scene.step("nothing broke the policy of the page, and nothing was asked of other hosts", async () => {
    assert.deepEqual([...faults], []);
    await page.evaluate(breach);
    await eventually("the breach is seen", () => faults.some((fault: string) => fault.includes("script-src")));
    assert.doesNotMatch(await page.title(), /broken/);
  });
});

const coloursOfKeys =
  '[...document.querySelectorAll(".activity-key")].map((key) => getComputedStyle(key).backgroundColor)';

interface Loaded {
  readonly name: string;
  readonly size: number;
}

const loadedSoFar = `[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .map(({ name, transferSize }) => ({ name, size: transferSize }))`;

/** A script inside of the page, as an injected name would be. */
const breach = `const script = document.createElement("script");
script.textContent = "document.title = 'broken'";
document.head.append(script);`;

/** It tries as a page of somebody else would, with and without the header that the dashboard sends. */
async function foreignPageChangesNothing({ page }: DashboardPage, admin: string): Promise<void> {
  const http = createServer((_, response) =>
    response.setHeader("content-type", "text/html").end("<title>other</title>"),
  );
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const headOf = async () => {
    const { revisions } = (await (await fetch(`http://${admin}/api/v1/revisions?limit=1`)).json()) as {
      readonly revisions: readonly { readonly id: string }[];
    };
    return revisions[0]?.id;
  };
  const before = await headOf();
  const other = await page.context().newPage();
  await other.goto(`http://127.0.0.1:${(http.address() as AddressInfo).port}/`);
  const tried = await other.evaluate(async (url) => {
    const body = JSON.stringify({ delete: [{ type: "cluster", name: "pasted" }] });
    const simple = await fetch(url, { method: "POST", mode: "no-cors", body }).then(({ type }) => type);
    const headers = { "content-type": "application/json", "x-xdskit-dashboard": "1" };
    const asOwn = await fetch(url, { method: "POST", body, headers }).then(
      () => "answered",
      () => "refused by the browser",
    );
    return [simple, asOwn];
  }, `http://${admin}/api/v1/layers/api/changes`);
  assert.deepEqual(tried, ["opaque", "refused by the browser"]);
  assert.equal(await headOf(), before);
  await other.close();
  http.close();
}

/** All in one turn, as on a slow machine: the browser moves the focus from a closed dialog only when it draws. */
const closeAndOpenRow = `document.querySelector("dialog[open]").close();
  for (const key of ["j", "Enter"])
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));`;

const ask = `document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "?", bubbles: true }));`;

/** Goes to another view and asks for the list of keys there, before the browser draws. */
const goAndAsk = `new Promise((done) => {
  addEventListener("hashchange", () => setTimeout(() => {
    ${ask}
    done();
  }), { once: true });
  location.hash = "#/history";
})`;
