import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { stringify } from "yaml";
import { type DashboardPage, mustBeAccessible, mustFit, openDashboard, startBrowser } from "./dashboard/browser.js";
import { shopCluster, shopFiles } from "./dashboard/shop.js";
import { createConfigFolder } from "./harness/basics/config-folder.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { serve, startBench, xdskitCommand } from "./harness/xdskit/xdskit.js";

const run = promisify(execFile);
const nodes = 5;

interface Contents {
  readonly running: { readonly connect_timeout?: string };
}

interface RolloutPage {
  readonly quarantines: readonly { readonly name: string }[];
  readonly rollouts: readonly { readonly state: string; readonly step: number }[];
}

test("the habits of the dashboard", { timeout: 400_000 }, async (t) => {
  const scene = await createScene(t);
  const browser = await startBrowser(scene, t);
  if (browser === undefined) return;
  const empty = join(scene.directory, "empty");
  await mkdir(empty);
  const idle = await serve(scene, empty, { args: ["--state", join(scene.directory, "idle"), "--allow-empty"] });

  await scene.step("what is empty says the next step, and fits a screen of 360 px", async () => {
    const shown = await openDashboard(browser, idle.admin, { viewport: { width: 360, height: 740 } });
    for (const [place, text] of [
      ["fleet", "No node is connected yet."],
      ["config", "Nothing is served yet."],
      ["history?layer=api", "There is no revision yet."],
      ["problems", "Nothing is wrong."],
      ["config/nowhere", "There is no group nowhere."],
      ["node/nobody", "Search the fleet for it"],
      ["nowhere", "There is no such page"],
    ] as const) {
      await shown.goTo(place);
      await shown.page.getByText(text).waitFor();
      await mustBeAccessible(shown, place);
      await mustFit(shown, place);
    }
    assert.deepEqual(shown.faults, []);
    await shown.page.context().close();
  });

  const folder = await createConfigFolder(scene.directory, shopFiles());
  const rollout = { steps: [{ count: 1 }], soak: "1h" };
  await folder.putText("xdskit.yaml", stringify({ groups: [{ name: "edge", match: {}, folders: ["."], rollout }] }));
  const server = await serve(scene, folder.path, { args: ["--state", join(scene.directory, "state")] });
  const { command, args } = xdskitCommand();
  startBench(scene, server.grpc, { nodes, id: "edge-{n}" });
  const api = async <T>(path: string) => (await (await fetch(`http://${server.admin}/api/v1/${path}`)).json()) as T;
  await eventually(
    "the nodes",
    async () => (await api<{ readonly states: { readonly synced: number } }>("fleet/summary")).states.synced === nodes,
    { withinMs: 90_000 },
  );
  const large = await openDashboard(browser, server.admin);
  const { page, goTo, faults } = large;
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);

  await scene.step("colours are chosen by a button, and kept", async () => {
    const theme = () => page.evaluate<string | undefined>("document.documentElement.dataset.theme");
    await page.getByRole("button", { name: "Auto colours" }).click();
    assert.equal(await theme(), "light");
    await page.getByRole("button", { name: "Light colours" }).click();
    await page.reload();
    await page.getByRole("button", { name: "Dark colours" }).waitFor();
    assert.equal(await theme(), "dark");
    await page.getByRole("button", { name: "Dark colours" }).click();
    assert.equal(await theme(), undefined);
  });

  await scene.step("what is copied does the same in a shell", async () => {
    const copied = async (label: string, place = 0) => {
      await page.getByRole("button", { name: label, exact: true }).nth(place).click();
      await page.getByRole("button", { name: "Copied" }).first().waitFor();
      return await page.evaluate<string>("navigator.clipboard.readText()");
    };
    await goTo("fleet?state=synced");
    await page.getByText(`${nodes} nodes shown`).waitFor();
    const { stdout } = await run("sh", ["-c", await copied("Copy curl")]);
    assert.equal((JSON.parse(stdout) as { readonly total: number }).total, nodes);
    const top = (await copied("Copy command")).split(" ");
    assert.deepEqual(top.slice(0, 4), ["xdskit", "top", "--state", "synced"]);
    const said = await run(command, [...args, ...top.slice(1), "--count", "1", "--output", "json"]);
    assert.equal((JSON.parse(said.stdout) as { readonly worst: readonly unknown[] }).worst.length, nodes);
    await goTo("history");
    const words = (await copied("Copy command")).split(" ");
    assert.equal(words[0], "xdskit");
    const history = await run(command, [...args, ...words.slice(1)]);
    assert.match(history.stdout, /#1 .*clusters\.yaml/);
    // The page knows where clients reach the server, which listens at no usual port.
    await goTo("node/edge-00000/cluster/cart");
    const status = (await copied("Copy command")).split(" ");
    assert.deepEqual(status, ["xdskit", "status", "edge-00000", "--server", server.grpc]);
    assert.match((await run(command, [...args, ...status.slice(1)])).stdout, /edge-00000/);
    assert.equal(
      await copied("Copy command", 1),
      `xdskit get cluster cart --node-id edge-00000 --node-cluster bench --server ${server.grpc}`,
    );
    await goTo("config/edge/cluster/cart");
    assert.equal(await copied("Copy command"), `xdskit get cluster cart --server ${server.grpc}`);
    assert.match(
      await copied("Copy YAML"),
      /^"@type": type.googleapis.com\/envoy.config.cluster.v3.Cluster\nname: cart$/m,
    );
  });

  await scene.step("endpoints are shown as people think of them", async () => {
    await goTo("config/edge/endpoint/payments");
    const row = page.getByRole("row", { name: /10\.4\.2\.11:8080/ });
    assert.match(await row.innerText(), /draining\s+eu\/eu-2\s+0\s+1/);
    await goTo("config/edge?graph=all");
    await page.locator(".graph-box.graph-some", { hasText: "payments" }).waitFor();
    await page.locator(".graph-box.graph-unused", { hasText: "recommendations-old" }).waitFor();
  });

  const state = async () => (await api<RolloutPage>("rollouts")).rollouts[0]?.state;
  const lead = async (button: string, says: RegExp) => {
    await page.getByRole("button", { name: button }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(says).waitFor();
    await dialog.getByRole("button", { name: button }).click();
    await dialog.waitFor({ state: "hidden" });
  };
  await scene.step("a rollout is led by hand, and each action says what it will do", async () => {
    await folder.put({ "clusters.yaml": changedClusters(2) });
    await goTo("rollouts");
    await page.getByText(/^edge: soaking/).waitFor({ timeout: 30_000 });
    const steps = page.getByRole("list", { name: "Steps" }).getByRole("listitem");
    const words = (await steps.allInnerTexts()).map((text) => text.split(/\s+/).join(" "));
    assert.deepEqual(words, ["◐ 1 node 1/1 acknowledged", "○ all later"]);
    await page.getByRole("link", { name: /^Rollouts 1 rollout under way/ }).waitFor();
    // Beside what is new stands what those have from whom it is kept.
    await page.locator("details.changed > summary", { hasText: "cart" }).click();
    await page.locator("details.changed .line.added", { hasText: "connect_timeout: 2s" }).waitFor();
    await lead("Halt", /4 nodes keep what was before. No further node gets it/);
    await eventually("the halt", async () => (await state()) === "halted");
    await lead("Resume", /It goes on at step 1 of 1/);
    await eventually("the rest", async () => (await state()) === "soaking");
    await page.getByText(/^edge: soaking/).waitFor();
    await lead("Promote to all", /The change of 1 resource goes to all of edge now/);
    await eventually("all", async () => (await state()) === "completed");
    // The revision says how many nodes are how far in each of its stages.
    await goTo("history");
    await page.getByRole("link", { name: "folder 2", exact: true }).click();
    const stage = page.locator(".stages > li", { hasText: "changes cart" });
    await stage.getByText(`${nodes} of ${nodes} nodes acknowledged`).waitFor();
    await goTo("rollouts");
    await folder.put({ "clusters.yaml": changedClusters(3) });
    await page.getByText(/^edge: soaking/).waitFor({ timeout: 30_000 });
    await page.getByRole("button", { name: "Undo" }).click();
    await mustBeAccessible(large, "the question of a rollout");
    await page.keyboard.press("Escape");
    await lead("Undo", /is taken back from 1 node of edge/);
    await eventually("the end", async () => (await state()) === "rolled-back");
  });

  await scene.step("a quarantine is lifted only after the page said which nodes get what", async () => {
    const kept = async () => (await api<RolloutPage>("rollouts")).quarantines.map(({ name }) => name).join();
    const timeout = async () =>
      (await api<Contents>("nodes/edge-00000/resources/cluster/cart")).running.connect_timeout;
    await page.getByText("1 content in quarantine").waitFor();
    await page.getByRole("button", { name: "Lift" }).click();
    await page.getByRole("dialog", { name: "Lift: the quarantine of cart" }).waitFor();
    await mustBeAccessible(large, "the question of a quarantine");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    assert.deepEqual([await kept(), await timeout()], ["cart", "2s"]);
    await lead("Lift", /All nodes of edge from which it is withheld get this content now, without steps/);
    await page.getByText("1 content in quarantine").waitFor({ state: "detached" });
    assert.equal(await kept(), "");
    await eventually("the content", async () => (await timeout()) === "3s");
  });

  await scene.step("any two revisions are compared, by choice and by name", async () => {
    await goTo("history");
    await page.getByRole("checkbox", { name: "Compare folder 1" }).check();
    await page.getByRole("checkbox", { name: "Compare folder 3" }).check();
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await page.getByRole("heading", { name: /folder 1 → 3/ }).waitFor();
    await page.locator(".line.added", { hasText: "connect_timeout: 3s" }).waitFor();
    await goTo("history");
    await page
      .getByRole("textbox", { name: "Compare" })
      .or(page.getByRole("combobox", { name: "Compare" }))
      .fill("folder 2");
    await page.getByLabel("with").fill("folder 99");
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await page.getByText("There is no revision folder 99.").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "History" }).click();
    for (const key of ["j", "j", "Enter"]) await page.keyboard.press(key);
    await page.getByRole("heading", { name: /folder 2/ }).waitFor();
  });

  await scene.step("Ctrl K finds nodes, resources, revisions and actions, and goes there", async () => {
    await goTo("problems");
    const find = async (text: string, name: RegExp) => {
      await page.keyboard.press("Control+k");
      await page
        .getByRole("combobox", { name: /^A node, a resource/ })
        .and(page.locator(":focus"))
        .waitFor();
      await page.keyboard.type(text);
      await page.getByRole("option", { name }).first().waitFor();
      await page.keyboard.press("Enter");
    };
    await find("edge-00003", /^edge-00003.*node$/);
    await page.getByRole("heading", { name: /^edge-00003/ }).waitFor();
    await find("folder 2", /^folder 2.*revision$/);
    await page.getByRole("heading", { name: /folder 2/ }).waitFor();
    await find("lift a quar", /^Lift a quarantine.*action$/);
    await page.getByRole("heading", { name: "Rollouts" }).waitFor();
    await find("cart", /^cart.*resource$/);
    await page.getByRole("heading", { name: /^cart/ }).first().waitFor();
  });

  await scene.step("a reload keeps the text of a change, and an applied one is forgotten", async () => {
    await goTo("change");
    await page.locator("textarea").fill(stringify(shopCluster("kept")));
    await page.reload();
    assert.equal(await page.locator("textarea").inputValue(), stringify(shopCluster("kept")));
    await page.getByRole("button", { name: "What would it do?" }).click();
    await page.getByPlaceholder("Why?").fill("to keep it");
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByRole("heading", { name: /^api \d/ }).waitFor();
    await goTo("change");
    assert.equal(await page.locator("textarea").inputValue(), "");
  });

  await scene.step("the map is one stop of the Tab key; arrows go through its columns", async () => {
    await goTo("fleet");
    const columns = page.locator(".map-columns a");
    await columns.first().focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowLeft");
    const count = await columns.count();
    await columns
      .nth(count - 2)
      .and(page.locator(":focus"))
      .waitFor();
    assert.equal(await page.locator(".map-columns a[tabindex='0']").count(), 1);
    await page.keyboard.press("Tab");
    await page.getByRole("searchbox", { name: "Search nodes" }).and(page.locator(":focus")).waitFor();
  });

  await scene.step("dialogs, plans and comparisons are accessible", async () => {
    await lookAround(large, "1280 px");
    assert.deepEqual([...faults], []);
  });

  await scene.step("they are on a screen of 360 px, too, and fit", async () => {
    const small = await openDashboard(browser, server.admin, { viewport: { width: 360, height: 740 } });
    await lookAround(small, "360 px");
    assert.deepEqual(small.faults, []);
    await small.page.context().close();
  });
});

function changedClusters(timeout: number) {
  return [shopCluster("cart", timeout), ...(shopFiles()["clusters.yaml"] ?? []).slice(1)];
}

/** Opens what a static look at the views does not show. */
async function lookAround(shown: DashboardPage, what: string): Promise<void> {
  const { page, goTo } = shown;
  const look = async (name: string) => {
    await mustBeAccessible(shown, `${name}, ${what}`);
    await mustFit(shown, `${name}, ${what}`);
  };
  await goTo("history");
  await page.locator(".history-row .result .state").first().waitFor();
  await look("the history");
  await page.getByRole("link", { name: "folder 1", exact: true }).click();
  await page.getByRole("heading", { name: /folder 1/ }).waitFor();
  await look("a revision");
  await page.getByRole("button", { name: "Roll back to this" }).click();
  await page
    .getByRole("dialog")
    .getByText(/It changes/)
    .waitFor();
  await look("a rollback");
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "Compare with the newest" }).click();
  await page.getByRole("heading", { name: /folder 1 →/ }).waitFor();
  await look("a comparison");
  await goTo("change");
  await page.locator("textarea").fill(stringify(shopCluster("planned")));
  await page.getByRole("button", { name: "What would it do?" }).click();
  await page.getByRole("heading", { name: /It changes/ }).waitFor();
  await look("a plan");
  await page.getByRole("heading", { name: "Change", exact: true }).click();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await look("the keys");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: /^A node, a resource/ }).fill("cart");
  await page.getByRole("option", { name: "cart" }).first().waitFor();
  await look("what was found");
  await page.keyboard.press("Escape");
  await goTo("rollouts");
  await page.getByRole("heading", { name: /^edge:/ }).waitFor();
  await look("the rollouts");
  await page.keyboard.press("Escape");
}
