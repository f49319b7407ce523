import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { defaultFolderLimits, defaultKeepalive, defaultServerLimits } from "@xdskit/server";
import { bootstrapCommand } from "./commands/bootstrap.js";
import { serveCommand } from "./commands/serve.js";
import { validateCommand } from "./commands/validate.js";
import { readSettings } from "./settings/read-settings.js";
import { settingsSchema } from "./settings/schema.js";
import { folderSettings, serverOptions } from "./settings/server-settings.js";

const page = (name: string) => readFileSync(new URL(`../../../docs/${name}.md`, import.meta.url), "utf8");
const terminal = { out: () => {}, err: () => {} };
const exit = () => {};

test("each command's page has every option, and none that is not there", () => {
  for (const command of [serveCommand(terminal, exit), validateCommand(terminal, exit), bootstrapCommand(terminal)]) {
    const text = page(command.name());
    const options = command.options.map(({ long }) => long ?? "");
    for (const option of options) assert.ok(text.includes(`\`${option}`) || text.includes(` ${option} `), option);
    for (const [, option] of text.matchAll(/^\| `(--[a-z-]+)/gm)) assert.ok(options.includes(option ?? ""), option);
  }
});

test("the example of docs/settings.md is valid, and has every setting", () => {
  const example = /```yaml\n(.*?)```/s.exec(page("settings"))?.[1] ?? "";
  const settings = readSettings("settings.md", example);
  assert.deepEqual(Object.keys(settings).sort(), Object.keys(settingsSchema.shape).sort());
  for (const key of ["limits", "folder", "keepalive"] as const) {
    const shape = settingsSchema.shape[key].unwrap().shape;
    assert.deepEqual(Object.keys(settings[key] ?? {}).sort(), Object.keys(shape).sort());
  }
});

test("the limits in that example are the defaults, as its page says", () => {
  const example = /```yaml\n(.*?)```/s.exec(page("settings"))?.[1] ?? "";
  const settings = readSettings("settings.md", example);
  const { limits, keepalive } = serverOptions(settings);
  assert.deepEqual({ ...limits }, { ...defaultServerLimits });
  assert.deepEqual({ ...keepalive }, { ...defaultKeepalive });
  const { findings: _, ...folderLimits } = defaultFolderLimits;
  assert.deepEqual({ ...folderSettings(settings).limits }, folderLimits);
  assert.equal(folderSettings(settings).settleMs, 100);
});
