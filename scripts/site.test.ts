import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { contents } from "./contents.mjs";
import { entryPoints } from "./entry-points.mjs";
import { isCi } from "./packed/checkout.js";

const site = fileURLToPath(new URL("../site/", import.meta.url));
const packages = fileURLToPath(new URL("../packages/", import.meta.url));
const builder = join(site, "node_modules/vitepress/bin/vitepress.js");

test("the manual builds as a site: all its pages, its search, every export of the library, and no dead link", (t) => {
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
    assert.match(start, /<a[^>]* href="\/v0\/packages\/"[^>]* target="_self"/);
    assert.match(readFileSync(join(out, "library.html"), "utf8"), /<a href="\.\/packages\/" target="_self"/);
    const library = readFileSync(join(out, "packages/index.html"), "utf8");
    for (const entry of entryPoints(packages, "@xdskit/source").flatMap(({ entries }) => entries.map(([name]) => name)))
      assert.ok(library.includes(`modules/${entry.replaceAll(/[@/]/g, "_")}.html`), entry);
    const createServer = readFileSync(join(out, "packages/functions/_xdskit_server.createServer.html"), "utf8");
    assert.match(createServer, /Makes a server\. Throws an/);
    assert.match(createServer, /href="[^"]*\/blob\/main\/packages\/server\/src\/create-server\.ts#L\d+"/);
  } finally {
    rmSync(out, { recursive: true });
  }
});

test("what the site's builder leaves beside its configuration for a moment is ignored, by lint too, which runs meanwhile", () => {
  const args = ["check-ignore", "--no-index", join(site, ".vitepress/config.js.timestamp-1-a.mjs")];
  const { status, stderr } = spawnSync("git", args, { cwd: site, encoding: "utf8" });
  assert.equal(status, 0, stderr);
});

test("the lock file of the site names no registry", () => {
  assert.doesNotMatch(readFileSync(join(site, "package-lock.json"), "utf8"), /"resolved"/);
});
