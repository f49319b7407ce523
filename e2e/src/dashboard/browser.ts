import assert from "node:assert/strict";
import { createRequire } from "node:module";
import type { TestContext } from "node:test";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { peer } from "../harness/basics/peers.js";
import type { Scene } from "../harness/basics/scene.js";

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
  const isDescribed = await describedRequests(admin);
  page.on("pageerror", ({ message }) => faults.push(`error: ${message}`));
  page.on("console", (said) => {
    // What is not there (404) is an answer, and the browser calls each an error.
    if (said.type() === "error" && !said.text().includes("status of 4")) faults.push(`console: ${said.text()}`);
  });
  page.on("request", (request) => {
    const { host, protocol, pathname } = new URL(request.url());
    if (protocol !== "data:" && host !== admin) faults.push(`a request to ${host}`);
    else if (pathname.startsWith("/api/") && !isDescribed(request.method(), pathname))
      faults.push(`${request.method()} ${pathname} is not in the OpenAPI document`);
  });
  await page.addInitScript({ content: tellBreaches });
  const goTo = async (place: string) => {
    await page.goto(`http://${admin}/#/${place}`);
    await page.locator("main h1").first().waitFor();
  };
  await goTo("");
  return { page, goTo, faults };
}

/** Whether the server's OpenAPI document has such a request: the page lives on the documented API alone. */
async function describedRequests(admin: string): Promise<(method: string, path: string) => boolean> {
  const { paths } = (await (await fetch(`http://${admin}/api/v1/openapi.json`)).json()) as {
    readonly paths: Readonly<Record<string, object>>;
  };
  const described = Object.entries(paths).flatMap(([path, methods]) => {
    const pattern = new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`);
    return Object.keys(methods).map((method) => ({ method: method.toUpperCase(), pattern }));
  });
  return (method, path) => described.some((one) => one.method === method && one.pattern.test(path));
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

const scrollsSideways = `[...document.querySelectorAll("body *")]
  .filter((one) => !one.matches(".graph, .code, .code *, textarea, pre"))
  .filter((one) => /auto|scroll/.test(getComputedStyle(one).overflowX) && one.scrollWidth > one.clientWidth + 1)
  .map((one) => one.tagName + " " + one.className + ": " + one.scrollWidth + " px in " + one.clientWidth)`;

/** What a panel or the window cuts off on one side: nobody can scroll to what lies left of them. */
const sticksOut = `[...document.querySelectorAll("header *, main *, dialog *")]
  .filter((one) => one.closest(".graph, .code, .hidden, thead, .skip") === null && one.getClientRects().length > 0)
  .filter((one) => {
    const { left, right } = one.getBoundingClientRect();
    const around = (one.parentElement.closest(".panel, dialog") ?? document.documentElement).getBoundingClientRect();
    return left < around.left - 1 || right > around.right + 1;
  })
  .map((one) => one.tagName + " " + one.className + ": " + one.textContent.slice(0, 80))`;

/** Fails where the page is wider than the screen, or where one must scroll sideways to read what is no code. */
export async function mustFit({ page }: DashboardPage, what: string): Promise<void> {
  const wide = await page.evaluate<number>("document.documentElement.scrollWidth");
  const screen = await page.evaluate<number>("innerWidth");
  assert.ok(wide <= screen, `${what}: ${wide} px on a screen of ${screen}`);
  assert.deepEqual(await page.evaluate(scrollsSideways), [], what);
  assert.deepEqual(await page.evaluate(sticksOut), [], what);
}
