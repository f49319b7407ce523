import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import {
  defaultFolderLimits,
  defaultKeepalive,
  defaultOnDemandLimits,
  defaultRestOptions,
  defaultServerLimits,
} from "@xdskit/server";
import { applyCommand } from "./apply/apply-command.js";
import { benchCommand } from "./bench/bench-command.js";
import { bootstrapCommand } from "./bootstrap/bootstrap-command.js";
import { deleteCommand } from "./delete/delete-command.js";
import { diffCommand } from "./diff/diff-command.js";
import { exportCommand } from "./export/export-command.js";
import { getCommand } from "./get/get-command.js";
import { healthCommand } from "./health/health-command.js";
import { historyCommand } from "./history/history-command.js";
import { showCommand } from "./history/show-command.js";
import { importCommand } from "./import/import-command.js";
import { planCommand } from "./plan/plan-command.js";
import { relayCommand } from "./relay/relay-command.js";
import { rollbackCommand } from "./rollback/rollback-command.js";
import { rolloutCommand } from "./rollout/rollout-command.js";
import { serveCommand } from "./serve/serve-command.js";
import { settingsJsonSchema } from "./settings/described-settings.js";
import { readSettings } from "./settings/read-settings.js";
import { settingsSchema } from "./settings/schema.js";
import { folderSettings, serverOptions } from "./settings/server-settings.js";
import { statusCommand } from "./status/status-command.js";
import { topCommand } from "./top/top-command.js";
import { validateCommand } from "./validate/validate-command.js";
import { waitCommand } from "./wait/wait-command.js";
import { watchCommand } from "./watch/watch-command.js";

const page = (name: string) => readFileSync(new URL(`../../../docs/${name}.md`, import.meta.url), "utf8");
const terminal = { out: () => {}, err: () => {} };
const exit = () => {};
const optionsOf = (command: typeof watchCommand) => command(terminal, exit).options.map(({ long }) => long ?? "");

// docs/commands.md, which is made of the commands, has every option.
test("each command's page leads to its options, and names no others", () => {
  const commands = [
    serveCommand,
    relayCommand,
    validateCommand,
    planCommand,
    bootstrapCommand,
    statusCommand,
    topCommand,
    watchCommand,
    getCommand,
    benchCommand,
    rolloutCommand,
    healthCommand,
  ].map((command) => command(terminal, exit));
  const others: Readonly<Record<string, string>> = { get: "watch", rollout: "rollouts", health: "deploy" };
  for (const command of commands) {
    const name = command.name();
    const text = page(others[name] ?? name);
    assert.ok(name === "watch" || text.includes(`](commands.md#xdskit-${name})`), name);
    const options = command.options.map(({ long }) => long ?? "");
    for (const [, option] of text.matchAll(/^\| `(--[a-z-]+)/gm)) assert.ok(options.includes(option ?? ""), option);
  }
});

test("the page about changes leads to its commands, and names no others' options", () => {
  const known = [
    diffCommand,
    applyCommand,
    deleteCommand,
    historyCommand,
    showCommand,
    rollbackCommand,
    exportCommand,
    importCommand,
    waitCommand,
  ].flatMap((command) => optionsOf(command));
  const text = page("changes");
  assert.ok(text.includes("](commands.md#change)"));
  for (const [, option] of text.matchAll(/`(--[a-z-]+)/g)) assert.ok(known.includes(option ?? ""), option);
});

test("the page of watch has every option of xdskit get", () => {
  const ofWatch = optionsOf(watchCommand);
  assert.deepEqual(
    optionsOf(getCommand).filter((option) => !ofWatch.includes(option)),
    [],
  );
});

test("the settings in docs/security.md and docs/hardening.md are valid", () => {
  for (const name of ["security", "hardening"]) {
    const [, example = ""] = /```yaml\n( *# xdskit\.yaml.*?)```/s.exec(page(name)) ?? assert.fail(name);
    readSettings(`${name}.md`, example.replace("sha256:…", `sha256:${"0".repeat(64)}`));
  }
});

test("the defaults that docs/settings.md and the schema say are those of the server", () => {
  const { properties } = settingsJsonSchema("", settingsSchema) as { properties: Record<string, Described> };
  const defaultsOf = (key: string) => {
    const own = Object.entries(properties[key]?.properties ?? {});
    return Object.fromEntries(own.flatMap(([name, of]) => (of.default === undefined ? [] : [[name, of.default]])));
  };
  const told = Object.fromEntries(["limits", "keepalive", "rest", "folder"].map((key) => [key, defaultsOf(key)]));
  const settings = readSettings("settings.md", JSON.stringify(told));
  const { limits, keepalive, rest } = serverOptions(settings);
  assert.deepEqual({ ...limits }, { ...defaultServerLimits });
  assert.deepEqual({ ...keepalive }, { ...defaultKeepalive });
  assert.deepEqual({ ...rest }, { ...defaultRestOptions });
  const { findings: _, ...folderLimits } = defaultFolderLimits;
  assert.deepEqual({ ...folderSettings(settings).limits }, folderLimits);
  assert.equal(folderSettings(settings).settleMs, 100);
});

interface Described {
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Described>>;
}

test("docs/on-demand.md names limits that there are, with their defaults", () => {
  const rows = [...page("on-demand").matchAll(/^\| (`\w+`(?:, `\w+`)*) \| ([\d, ]+) \|/gm)];
  const told = rows.flatMap(([, names = "", values = ""]) =>
    names
      .split(", ")
      .map((name, index) => [name.replaceAll("`", ""), Number(values.split(", ")[index]?.replaceAll(",", ""))]),
  );
  assert.ok(told.length > 4);
  assert.deepEqual({ ...defaultOnDemandLimits, ...Object.fromEntries(told) }, defaultOnDemandLimits);
});

test("each test that a page names exists, and each attack names one", () => {
  const named = (text: string) => [...text.matchAll(/`([\w-]+\/[\w./-]+\.test\.ts)`/g)].map(([, path = ""]) => path);
  const root = new URL("../../../", import.meta.url);
  for (const name of readdirSync(new URL("docs/", root)).filter((name) => name.endsWith(".md")))
    for (const path of named(page(name.slice(0, -3)))) assert.ok(existsSync(new URL(path, root)), `${name}: ${path}`);
  const rows = readFileSync(new URL("reports/attacks.md", root), "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .slice(2);
  assert.ok(rows.length > 25, `${rows.length} attacks`);
  for (const row of rows) {
    assert.notEqual(named(row).length, 0, row);
    for (const path of named(row)) assert.ok(existsSync(new URL(path, root)), path);
  }
});

test("links between pages lead to existing files and headings, and README leads to the contents", () => {
  const root = new URL("../../../", import.meta.url);
  const pages = readdirSync(new URL("docs/", root)).flatMap((name) => (name.endsWith(".md") ? [`docs/${name}`] : []));
  const chapters = pages.flatMap((page) => {
    const folder = page.replace(/\.md$/, "/");
    const url = new URL(folder, root);
    return existsSync(url) ? readdirSync(url).map((name) => ({ page, path: `${folder}${name}` })) : [];
  });
  const others = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "e2e/README.md",
    "deploy/README.md",
    "examples/quickstart/README.md",
  ];
  for (const path of [...others, ...pages, ...chapters.map(({ path }) => path)]) {
    for (const link of links(readFileSync(new URL(path, root), "utf8"))) {
      const to = new URL(link, new URL(path, root));
      const heading = decodeURIComponent(to.hash.slice(1));
      to.hash = "";
      assert.ok(existsSync(to), `${path}: ${link}`);
      if (heading !== "") assert.ok(headings(readFileSync(to, "utf8")).includes(heading), `${path}: ${link}`);
    }
  }
  assert.ok(links(readFileSync(new URL("README.md", root), "utf8")).includes("docs/README.md"));
  for (const { page, path } of chapters) {
    const link = path.replace("docs/", "");
    assert.ok(links(readFileSync(new URL(page, root), "utf8")).includes(link), `${page} does not lead to ${path}`);
  }
});

test("links that say below or above lead there", () => {
  const docs = new URL("../../../docs/", import.meta.url);
  for (const name of readdirSync(docs).filter((each) => each.endsWith(".md"))) {
    const text = readFileSync(new URL(name, docs), "utf8");
    for (const { 0: link, 1: word, 2: heading = "", index } of text.matchAll(/\[(below|above)\]\(#([^)]+)\)/g)) {
      const there = word === "below" ? text.slice(index) : text.slice(0, index);
      assert.ok(headings(there).includes(heading), `${name}: ${link}`);
    }
  }
});

/** What a page links to within the project. */
function links(text: string): readonly string[] {
  const prose = text.replace(/^```.*?^```/gms, "").replace(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link).filter((link) => !/^https?:/.test(link));
}

/** The anchors of a page: those that its headings get, and those that it sets itself. */
function headings(text: string): readonly string[] {
  const prose = text.replace(/^```.*?^```/gms, "");
  const ofHeadings = [...prose.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
  return [...ofHeadings, ...[...prose.matchAll(/ id="([^"]*)"/g)].map(([, anchor = ""]) => anchor)];
}
