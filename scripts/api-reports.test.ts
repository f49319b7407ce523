import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { apiReports } from "./api-reports.mjs";
import { isCi, packages, root } from "./packed/checkout.js";

describe("the reports of what is public", () => {
  it("are what the packages export", (t) => {
    if (!isCi && [...packages.keys()].some((name) => !existsSync(join(root, `packages/${name}/dist/index.d.ts`))))
      return t.skip("needs npm run compile");
    const differences = [...apiReports(join(root, "packages"))].flatMap(([name, now]) => {
      const file = `reports/api/${name}.md`;
      const kept = existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : "";
      if (now === kept) return [];
      const lines = [
        ...lacking(kept, now).map((line) => `+ ${line}`),
        ...lacking(now, kept).map((line) => `- ${line}`),
      ];
      return [`${file}:`, ...lines.slice(0, 20)];
    });
    const todo =
      "What packages export is changed (as compiled). Is it meant? Then npm run api-reports, and a changeset:";
    if (differences.length > 0) assert.fail(`${todo}\n${differences.join("\n")}`);
  });

  it("have what is exported, and what that leads to, but nothing private", (t) => {
    const report = reportOf(t, {
      "index.d.ts":
        'export { Door } from "./door.js";\nexport type { Options as DoorOptions } from "./options.js";\n' +
        '/** @deprecated use Door */\nexport declare function open(): import("./door.js").Door;\n',
      "door.d.ts":
        'import type { Options } from "./options.js";\nexport declare class Door {\n  #key: string;\n  private lock: Unseen;\n' +
        "  constructor(options: Options);\n}\ninterface Unseen { a: 1 }\n",
      "options.d.ts":
        "/** Says much. */\nexport interface Options { readonly kind: Kind; readonly text: " +
        `"${"prose ".repeat(9)}" }\ntype Kind = "wood" | "steel";\nexport interface Unused { b: 2 }\n`,
    });
    assert.equal(
      report,
      [
        "# doors\n",
        "The public types, as `npm run api-reports` writes them. A difference is a change that users notice.\n",
        "## `doors`\n\n- Door\n- DoorOptions\n- open\n\n## Types\n",
        "```ts",
        "class Door {\n    constructor(options: Options);\n}",
        'type Kind = "wood" | "steel";',
        "interface Options {\n    readonly kind: Kind;\n    readonly text: string;\n}",
        "/** @deprecated */\nfunction open(): Door;",
        "```\n",
      ].join("\n"),
    );
  });
});

/** The lines of a text that another one lacks. */
function lacking(one: string, other: string): readonly string[] {
  const there = new Set(one.split("\n"));
  return other.split("\n").filter((line) => !there.has(line));
}

/** The report of a package that was compiled to these files. */
function reportOf(t: TestContext, files: Readonly<Record<string, string>>): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "xdskit-api-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const manifest = { name: "doors", type: "module", exports: { ".": { types: "./dist/index.d.ts" } } };
  for (const [name, text] of Object.entries({ "../package.json": JSON.stringify(manifest), ...files })) {
    const file = join(folder, "doors/dist", name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return apiReports(folder).get("doors");
}
