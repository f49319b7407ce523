import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Ajv } from "ajv";
import { parse } from "yaml";
import { firstFiles } from "../init/first-files.js";
import { inProcessEnds } from "../testing/in-process.js";

async function schemaOf(...args: readonly string[]) {
  const { out, status, err } = await inProcessEnds("schema", ...args);
  assert.equal(status, 0, err);
  return new Ajv({ strict: false, logger: false }).compile(JSON.parse(out));
}

/** The settings that docs/settings.md shows first. */
function documented(): readonly unknown[] {
  const page = readFileSync(new URL("../../../../docs/settings.md", import.meta.url), "utf8");
  return [...page.matchAll(/^```yaml\n([^`]*?)^```/gm)].map(([, text = ""]) => parse(text));
}

test("the schema of the settings takes what the page shows, and refuses what the settings do not have", async () => {
  const isSettings = await schemaOf("settings");
  const shown = documented().filter((each) => typeof each === "object" && each !== null && "groups" in each);
  assert.ok(shown.length > 0);
  for (const each of shown) assert.ok(isSettings(each), JSON.stringify(isSettings.errors));
  assert.ok(isSettings(parse(firstFiles["xdskit.yaml"] ?? "") ?? {}));
  assert.equal(isSettings({ group: [] }), false);
  assert.equal(isSettings({ groups: [{ name: "a", match: {}, folder: "x" }] }), false);
});

test("one type, and any file, have a schema; an unknown type is wrong usage", async () => {
  for (const [args, title] of [
    [["cds"], "envoy.config.cluster.v3.Cluster"],
    [[], "A file of xDS resources"],
  ] as const) {
    const { out, err } = await inProcessEnds("schema", ...args);
    assert.equal(JSON.parse(out).title, title, err);
  }
  const { status, err } = await inProcessEnds("schema", "clutser");
  assert.equal(status, 2);
  assert.match(err, /there is no type "clutser"; did you mean "cluster"\? Known are runtime, .*/);
});
