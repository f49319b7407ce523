import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { stringify } from "yaml";
import { openDashboard, startBrowser } from "./dashboard/browser.js";
import { shopCluster, shopFiles } from "./dashboard/shop.js";
import { createConfigFolder } from "./harness/basics/config-folder.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { changeByApi } from "./harness/xdskit/api-change.js";
import { serve } from "./harness/xdskit/xdskit.js";

interface Heads {
  readonly layers: readonly {
    readonly name: string;
    readonly head: { readonly id: string; readonly number: number };
  }[];
}

test("the dashboard does exactly the changes that it showed", { timeout: 240_000 }, async (t) => {
  const scene = await createScene(t);
  const browser = await startBrowser(scene, t);
  if (browser === undefined) return;
  const folder = await createConfigFolder(scene.directory, shopFiles());
  const server = await serve(scene, folder.path, { args: ["--state", join(scene.directory, "state")] });
  const { page, goTo, faults } = await openDashboard(browser, server.admin);
  const api = async <T>(path: string) => (await (await fetch(`http://${server.admin}/api/v1/${path}`)).json()) as T;
  const headOf = async (name: string) =>
    (await api<Heads>("layers")).layers.find((layer) => layer.name === name)?.head?.number ?? 0;
  /** Somebody else changes the layer. */
  const change = async (timeout: number, message: string) => {
    const answer = await changeByApi(server, { upsert: [shopCluster("theirs", timeout)], message });
    assert.equal(answer.status, 200);
  };
  const yaml = (timeout: string) =>
    `"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: mine\nconnect_timeout: ${timeout}\n`;
  const look = async () => {
    await page.getByRole("button", { name: "What would it do?" }).click();
    await page.getByRole("heading", { name: /It changes/ }).waitFor();
  };

  await scene.step("Enter on a link or a button is theirs, where rows have keys, too", async () => {
    await goTo("config/all");
    await page.locator("tbody th a").first().waitFor();
    await page.getByRole("link", { name: "Change", exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Change", exact: true }).waitFor();
    await goTo("config/all");
    await page.locator("tbody th a").first().waitFor();
    await page.keyboard.press("j");
    await page.locator("tr.current a:focus").waitFor();
    await page.getByRole("link", { name: "History", exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "History", exact: true }).waitFor();
  });

  await scene.step("a layer without revisions takes a change only while it has none", async () => {
    await goTo("change");
    await page.locator("textarea").fill(yaml("1s"));
    await look();
    // Events are held back, as on a slow network: the page must not need them to be safe.
    await change(1, "the first of all");
    await page.getByPlaceholder("Why?").fill("mine");
    const apply = page.getByRole("button", { name: "Apply" });
    if (await apply.isEnabled()) await apply.click({ timeout: 5_000 }).catch(() => {});
    await page.getByText("Somebody changed layer api since you looked.").waitFor();
    assert.equal(await headOf("api"), 1, "nothing of mine");
    await page.getByRole("button", { name: "Look again" }).click();
    await page.getByPlaceholder("Why?").fill("mine, after a look");
    await page.getByPlaceholder("Your name").fill("Ada");
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByRole("heading", { name: /api 2/ }).waitFor();
    const { revisions } = await api<{ readonly revisions: readonly { readonly author: string }[] }>(
      "revisions?limit=1",
    );
    assert.equal(revisions[0]?.author, "Ada");
  });

  await scene.step("a change is applied to what was looked at, or not at all", async () => {
    await goTo("change");
    await page.locator("textarea").fill(yaml("3s"));
    await look();
    // The page hears nothing of it: neither by events, nor by its questions.
    await page.route("**/api/v1/layers", (route) => route.abort());
    await change(2, "in between");
    await page.getByPlaceholder("Why?").fill("on top of what I saw");
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("Somebody changed layer api since you looked.").waitFor();
    assert.equal(await headOf("api"), 3, "only the other change");
    await page.unroute("**/api/v1/layers");
  });

  await scene.step("a rollback undoes what it showed, and no newer change", async () => {
    await goTo("history");
    await page.getByRole("link", { name: "api 1", exact: true }).click();
    await page.getByRole("button", { name: "Roll back to this" }).click();
    const dialog = page.getByRole("dialog", { name: "Roll api back from 3 to 1" });
    await dialog.getByText("It changes 2 resources").waitFor();
    await change(9, "while the dialog is open");
    await eventually("the newest head on the page", () => dialog.getByText("since you looked: it is at 4").isVisible());
    assert.equal(await dialog.getByRole("button", { name: "Roll back", exact: true }).isDisabled(), true);
    assert.equal(await headOf("api"), 4);
    await dialog.getByRole("button", { name: "Look again" }).click();
    const next = page.getByRole("dialog", { name: "Roll api back from 4 to 1" });
    await next.getByText("It changes 2 resources").waitFor();
    // This time nothing tells the page.
    await page.route("**/api/v1/layers", (route) => route.abort());
    await change(10, "unseen");
    await next.getByRole("button", { name: "Roll back", exact: true }).click();
    await next.getByText("since you looked").waitFor();
    assert.equal(await headOf("api"), 5, "the unseen change stays");
    await page.unroute("**/api/v1/layers");
    await page.keyboard.press("Escape");
  });

  await scene.step("files and folders are taken whole, and errors say their file and line", async () => {
    const chosen = join(scene.directory, "chosen");
    await mkdir(join(chosen, "more"), { recursive: true });
    await writeFile(join(chosen, "a.yaml"), stringify(shopCluster("from-yaml")));
    const json = [shopCluster("one"), shopCluster("two")];
    await writeFile(join(chosen, "more/b.json"), JSON.stringify(json, undefined, 2));
    await writeFile(join(chosen, "more/c.json"), JSON.stringify(shopCluster("three"), undefined, 2));
    await writeFile(join(chosen, "notes.md"), "no resources");
    await goTo("change");
    await page.getByLabel("Take a folder …").and(page.locator("input")).setInputFiles(chosen);
    await page.getByText("3 files taken.").waitFor();
    assert.equal(await page.getByLabel("this is the whole layer").isChecked(), true);
    await look();
    await page.locator(".changed summary", { hasText: "from-yaml" }).waitFor();
    assert.deepEqual((await page.locator(".changed summary .change-added ~ b").allInnerTexts()).sort(), [
      "from-yaml",
      "one",
      "three",
      "two",
    ]);
    await writeFile(join(chosen, "a.yaml"), stringify({ ...shopCluster("from-yaml"), connect_timeout: "0s" }));
    // The same choice again, after an edit.
    const files = page.getByLabel("Take files …").and(page.locator("input"));
    await files.setInputFiles([join(chosen, "more/c.json"), join(chosen, "a.yaml")]);
    await page.getByText("2 files taken.").waitFor();
    await page.getByRole("button", { name: "What would it do?" }).click();
    await page.locator(".failure code.where", { hasText: /^a\.yaml:\d+/ }).waitFor();
    await files.setInputFiles([{ name: "large.yaml", mimeType: "text/yaml", buffer: Buffer.alloc(5 * 1024 * 1024) }]);
    await page.getByText("large.yaml is the largest").waitFor();
  });

  await scene.step("events come back after an answer that ends them for a browser", async () => {
    let isBroken = true;
    await page.route("**/api/v1/events", (route) =>
      isBroken ? route.fulfill({ status: 503, contentType: "text/plain", body: "busy" }) : route.continue(),
    );
    await page.reload();
    await page.getByText("The server does not answer. What you see is from before").waitFor();
    isBroken = false;
    await eventually(
      "the events",
      async () => !(await page.getByText("The server does not answer. What you see").isVisible()),
      { withinMs: 15_000 },
    );
    await page.unroute("**/api/v1/events");
  });

  await scene.step("a change that is not answered is not called one that is asked again", async () => {
    await goTo("change");
    await page.locator("textarea").fill(yaml("8s"));
    await look();
    await page.route("**/changes?*dryRun=false*", (route) => route.abort());
    await page.getByPlaceholder("Why?").fill("nobody answers");
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("Look whether it was done before you try again").waitFor();
    await page.unroute("**/changes?*dryRun=false*");
  });

  await scene.step("the page breaks no rule of its policy meanwhile", async () => {
    // A browser calls each request that a test cut off, or answered with 503, an error.
    const own = faults.filter((fault) => !/net::ERR_FAILED|status of 503/.test(fault));
    assert.deepEqual(own, []);
  });
});
