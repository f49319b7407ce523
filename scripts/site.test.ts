import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { contents } from "./contents.mjs";
import { isCi } from "./packed/checkout.js";

const site = fileURLToPath(new URL("../site/", import.meta.url));
const builder = join(site, "node_modules/vitepress/bin/vitepress.js");

test("the manual builds as a site, with all its pages, a search of its own, and no dead link", (t) => {
  if (!existsSync(builder)) {
    const message = "the site's packages are not installed: npm ci --prefix site";
    assert.ok(!isCi, message);
    t.skip(message);
    return;
  }
  const out = mkdtempSync(join(tmpdir(), "xdskit-site-"));
  try {
    const args = [builder, "build", site, "--base", "/v0/", "--outDir", out];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 300_000 });
    assert.equal(status, 0, stdout + stderr);
    const start = readFileSync(join(out, "index.html"), "utf8");
    const pages = contents().flatMap(({ pages }) => pages.map(({ page }) => page));
    for (const page of pages.filter((page) => !page.startsWith("../"))) {
      const name = page.slice(0, -".md".length);
      assert.ok(existsSync(join(out, `${name}.html`)), name);
      assert.ok(start.includes(`href="/v0/${name}"`), `the first page does not lead to ${name}`);
    }
    assert.match(start, /<script[^>]* src="\/v0\/assets\/app\.[\w-]+\.js"/);
    assert.match(start, /VPNavBarSearch/);
  } finally {
    rmSync(out, { recursive: true });
  }
});

test("the lock file of the site names no registry", () => {
  assert.doesNotMatch(readFileSync(join(site, "package-lock.json"), "utf8"), /"resolved"/);
});
