import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { dashboardFiles, dashboardPolicy } from "./dashboard-files.js";

/** Bytes that a first visit may cost, compressed. */
const maxBytes = 100_000;

describe("the files of the dashboard", () => {
  it("cost less than 100 kB for a first visit, all together", async () => {
    const files = await dashboardFiles();
    assert.ok(files.has("/"), "it is not built: npm run generate");
    const bytes = [...files.values()].reduce((sum, { compressed }) => sum + compressed.byteLength, 0);
    assert.ok(bytes > 10_000 && bytes < maxBytes, `${bytes} bytes`);
  });

  it("have no script and no style inside the page, and lead nowhere else", async () => {
    const files = await dashboardFiles();
    const page = files.get("/")?.body.toString() ?? "";
    assert.doesNotMatch(page, /<script(?![^>]*src=)|<style|style=|\son\w+=/);
    for (const [path, { body, contentType }] of files) {
      if (contentType.startsWith("image/")) continue;
      // Names of types and namespaces are no addresses.
      const text = body.toString().replaceAll(/https?:\/\/(www\.w3\.org|type\.googleapis\.com)/g, "");
      assert.doesNotMatch(text, /["'`(]https?:\/\//, path);
    }
    assert.doesNotMatch(dashboardPolicy, /unsafe|\*|https?:/);
  });

  it("are none if nothing was built", async () => {
    const folder = await mkdtemp(join(tmpdir(), "xdskit-"));
    assert.equal((await dashboardFiles(`${folder}/missing/`)).size, 0);
    await rm(folder, { recursive: true });
  });
});
