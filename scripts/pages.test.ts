import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const foreign = new Set(["node_modules", "dist", "gen", ".git", ".cache"]);

/** Every file of the project, from its root. */
function filesBelow(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (foreign.has(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    return entry.isFile() ? [path] : [];
  });
}

const files = filesBelow("");
const pages = files.filter((file) => file.endsWith(".md"));
const read = (file: string) => readFileSync(join(root, file), "utf8");

test("every link of a page to a file leads to one", () => {
  const broken = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:|#|mailto:)([^)\s#]+)(?:#[^)]*)?\)/g)]
      .map(([, target = ""]) => target)
      .filter((target) => !existsSync(join(root, dirname(page), target)))
      .map((target) => `${page}: ${target}`),
  );
  assert.deepEqual(broken, []);
});

test("every file and folder that ARCHITECTURE.md, CONTRIBUTING.md and the packages' READMEs name exists", () => {
  const isThere = (name: string) => files.some((file) => `/${file}/`.includes(`/${name}/`));
  const readmes = pages.filter((page) => /^packages\/.*README\.md$/.test(page));
  const missing = ["ARCHITECTURE.md", "CONTRIBUTING.md", ...readmes].flatMap((page) =>
    // Paths alone between backticks, and each path in a command. The build's files (gen) are not always there.
    [...read(page).matchAll(/`([\w.-]+(?:\/[\w.-]+)*(?:\.ts|\.mjs|\/))`|(?<=\s)([\w.-]+(?:\/[\w.-]+)+\.ts)\b/g)]
      .map(([, alone, inCommand]) => (alone ?? inCommand ?? "").replace(/\/$/, ""))
      .filter((name) => name !== "gen")
      .filter((name) => !isThere(name))
      .map((name) => `${page}: ${name}`),
  );
  assert.deepEqual(missing, []);
});

test("every folder of the packages is named in ARCHITECTURE.md, or in a README above it", () => {
  const architecture = read("ARCHITECTURE.md");
  const folders = new Map(
    files.flatMap((file) => {
      const [, base = "", found] = /^(packages\/[\w-]+\/src\/)([\w-]+(?:\/[\w-]+)?)\/[\w-]+\.ts$/.exec(file) ?? [];
      if (found === undefined || found.startsWith("testing") || found.endsWith("/testing")) return [];
      return [[base + found, found] as const];
    }),
  );
  const isNamed = (path: string, folder: string) => {
    if (architecture.includes(`${folder}/`)) return true;
    for (let above = dirname(path); above !== "packages"; above = dirname(above)) {
      const name = path.slice(above.length + 1).replace(/^src\//, "");
      const readme = join(above, "README.md");
      if (files.includes(readme) && read(readme).includes(`${name}/`)) return true;
    }
    return false;
  };
  const unnamed = [...folders].filter(([path, folder]) => !isNamed(path, folder)).map(([path]) => path);
  assert.deepEqual(unnamed, []);
});

test("nothing is left of an unresolved merge", () => {
  const texts = files.filter((file) => /\.(?:md|txt|ts|mjs|json|ya?ml|go|py|sh)$/.test(file));
  const left = texts.filter((file) => /^(?:<{7}|>{7}) /m.test(read(file)));
  assert.deepEqual(left, []);
});
