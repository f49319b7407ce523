import assert from "node:assert/strict";
import { createRequire } from "node:module";
import type { TestContext } from "node:test";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { peer } from "../harness/peers.js";
import type { Scene } from "../harness/scene.js";

/** A page of the dashboard, and what it did that it may not do. */
export interface DashboardPage {
  readonly page: Page;
  /** Goes to a place: `fleet?state=rejected`. */
  goTo(place: string): Promise<void>;
  /** Breaches of the content security policy, errors, and requests to other hosts, so far. */
  readonly faults: readonly string[];
}

/** Debian's Chromium; undefined where there is none (the test is skipped, and fails in CI). */
export async function startBrowser(scene: Scene, t: TestContext): Promise<Browser | undefined> {
  const executablePath = peer("chromium", t);
  if (executablePath === undefined) return undefined;
  // Its sandbox needs rights that a container does not give.
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
  scene.onEnd(() => browser.close());
  return browser;
}

/** Opens the dashboard of a server; `admin` is the address of its admin listener. */
export async function openDashboard(
  browser: Browser,
  admin: string,
  options: BrowserContextOptions = {},
): Promise<DashboardPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", ({ message }) => faults.push(`error: ${message}`));
  page.on("console", (said) => {
    // What is not there (404) is an answer, and the browser calls each an error.
    if (said.type() === "error" && !said.text().includes("status of 4")) faults.push(`console: ${said.text()}`);
  });
  page.on("request", (request) => {
    const { host, protocol } = new URL(request.url());
    if (protocol !== "data:" && host !== admin) faults.push(`a request to ${host}`);
  });
  await page.addInitScript({ content: tellBreaches });
  const goTo = async (place: string) => {
    await page.goto(`http://${admin}/#/${place}`);
    await page.locator("main h1").first().waitFor();
  };
  await goTo("");
  return { page, goTo, faults };
}

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** Fails with what axe finds: WCAG 2.2, levels A and AA, and its best practices. */
export async function mustBeAccessible({ page }: DashboardPage, what: string): Promise<void> {
  // By the debugger: the policy of the page lets no script of others in.
  await page.evaluate(await axeSource());
  const violations = await page.evaluate(askAxe);
  assert.deepEqual(violations, [], what);
}

/** What runs in the page stands here as text: this project's tests know no types of browsers. */
const tellBreaches = `addEventListener("securitypolicyviolation", (event) => {
  console.error("policy: " + event.violatedDirective + " " + event.blockedURI);
})`;

const askAxe = `axe
  .run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] })
  .then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html.slice(0, 160)).join(" | ")),
  )`;

let source: Promise<string> | undefined;

function axeSource(): Promise<string> {
  source ??= import("node:fs/promises").then(({ readFile }) => readFile(axe, "utf8"));
  return source;
}

/** Fails where the page is wider than the screen. */
export async function mustFit({ page }: DashboardPage, what: string): Promise<void> {
  const wide = await page.evaluate<number>("document.documentElement.scrollWidth");
  const screen = await page.evaluate<number>("innerWidth");
  assert.ok(wide <= screen, `${what}: ${wide} px on a screen of ${screen}`);
}
