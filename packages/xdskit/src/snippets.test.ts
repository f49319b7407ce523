import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { readResources, typeUrlPrefix } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { parse } from "yaml";
import { commands, definedCommand } from "./commands.js";
import { readSettings, readSettingsAs } from "./settings/read-settings.js";
import { relaySettingsSchema } from "./settings/schema.js";

// Tutorials are played block by block (e2e/src/tutorials.test.ts); here is what holds for the blocks of every page.

const docs = new URL("../../../docs/", import.meta.url);

interface Block {
  readonly page: string;
  readonly language: string;
  readonly text: string;
}

const blocks = readdirSync(docs)
  .filter((name) => name.endsWith(".md"))
  .flatMap((page): readonly Block[] => {
    const text = readFileSync(new URL(page, docs), "utf8");
    return [...text.matchAll(/^( *)```(\w+)\n([\s\S]*?)^ *```$/gm)].map(([, indent = "", language = "", body = ""]) => {
      return { page, language, text: body.replaceAll(new RegExp(`^${indent}`, "gm"), "") };
    });
  });

/** The words of each call of xdskit in lines of a shell, up to whatever the shell itself takes. */
function callsIn(text: string): readonly (readonly string[])[] {
  const lines = text.replaceAll(/\\\n */g, " ").split("\n");
  return lines.flatMap((line) =>
    [...line.matchAll(/(?:^(?:\$ )?|[|&;(] *|npx )xdskit ((?:'[^']*'|"[^"]*"|[^|&;>#)'"])*)/g)].map(
      ([, rest = ""]) => rest.match(/(?:'[^']*'|"[^"]*"|\S)+/g) ?? [],
    ),
  );
}

test("each call of xdskit on a page is of a command, with options that it has", async () => {
  const options = new Map<string, ReadonlySet<string>>();
  for (const entry of commands) {
    const command = await definedCommand(entry, { out() {}, err() {} }, () => {});
    options.set(entry.name, new Set(command.options.flatMap(({ short, long }) => [short ?? "", long ?? ""])));
  }
  let checked = 0;
  for (const { page, language, text } of blocks) {
    if (!["sh", "console"].includes(language)) continue;
    for (const [name = "", ...words] of callsIn(text)) {
      if (name.startsWith("-")) continue;
      const known = options.get(name) ?? assert.fail(`${page}: xdskit ${name}`);
      for (const word of words) {
        const [option = ""] = /^--?[a-z][a-z-]*/.exec(word) ?? [];
        if (option !== "" && option !== "--help")
          assert.ok(known.has(option), `${page}: xdskit ${name} ${words.join(" ")}: ${option}`);
      }
      checked += 1;
    }
  }
  assert.ok(checked > 100, `${checked}`);
});

/** What begins so is of Kubernetes and Helm; the steps of GitHub's actions are left out, too. */
const ofOthers = ["apiVersion", "containers", "env", "volumes", "networkPolicy"];

test("each piece of YAML on a page is a resource, a bootstrap or settings, and valid", () => {
  const wrong = blocks.flatMap(({ page, language, text }) => {
    // Its type comes with descriptors that the page tells to make.
    if (!["yaml", "yml"].includes(language) || text.includes("istio.workload.Address")) return [];
    const problem = problemOf(text.replaceAll("sha256:…", `sha256:${"0".repeat(64)}`));
    return problem === undefined ? [] : [`${page}: ${problem}: ${text.slice(0, 120)}`];
  });
  assert.deepEqual(wrong, []);
});

function problemOf(text: string): string | undefined {
  const parsed: object | null = /^---$/m.test(text) ? null : parse(text);
  const [first = ""] = Object.keys(parsed ?? {});
  if (ofOthers.includes(first) || (Array.isArray(parsed) && "run" in parsed[0])) return undefined;
  if (first === "eds_cluster_config")
    return problemOf(`"@type": ${typeUrlPrefix}${ClusterSchema.typeName}\nname: web\ntype: EDS\n${text}`);
  if (first === "cluster_manager") return problemOf(`node: { id: edge-1 }\nstatic_resources: {}\n${text}`);
  if (first === "node" || /^(?:- )?"?@type"?:/m.test(text) || /^resources:/m.test(text)) {
    const { findings } = readResources({ path: "page.yaml", bytes: Buffer.from(text) });
    const found = findings.find(({ severity }) => severity === "error")?.message;
    // It is read, and holds no resources.
    return found?.startsWith("this is an Envoy bootstrap, and nothing in it can be served") ? undefined : found;
  }
  try {
    if (first === "upstream") readSettingsAs(relaySettingsSchema, "page.yaml", text);
    else readSettings("page.yaml", text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
