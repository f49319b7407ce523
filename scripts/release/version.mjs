// `npm run release:version` turns the changesets into the next version: in each package.json, in the lock file and in
// CHANGELOG.md. It removes the changesets.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readChangesets, steps } from "./changesets.mjs";

/** What a section of the changelog is called, by the step. */
const headings = { major: "Breaking changes", minor: "New", patch: "Fixed" };

/** The version after another one. A prerelease becomes the version that it was made for. */
export function nextVersion(version, step) {
  const [numbers, prerelease] = version.split("-");
  const [major, minor, patch] = numbers.split(".").map(Number);
  if (prerelease !== undefined) return numbers;
  if (step === "major") return `${major + 1}.0.0`;
  return step === "minor" ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`;
}

/**
 * Writes the next version into a checkout, and returns it. `day` is the date in the changelog.
 *
 * @param {string} root
 * @param {string} day
 */
export function writeVersion(root, day) {
  const changesets = readChangesets(root);
  if (changesets.length === 0) throw new Error(".changeset: nothing changed since the last release");
  const json = (path) => JSON.parse(readFileSync(join(root, path), "utf8"));
  const write = (path, value) => writeFileSync(join(root, path), `${JSON.stringify(value, null, 2)}\n`);
  const { workspaces } = json("package.json");
  const folders = workspaces.flatMap((pattern) =>
    pattern.endsWith("/*")
      ? readdirSync(join(root, pattern.slice(0, -2))).map((name) => pattern.slice(0, -1) + name)
      : [pattern],
  );
  const ours = folders.filter((folder) => existsSync(join(root, folder, "package.json")));
  const published = new Set(
    ours.filter((folder) => folder.startsWith("packages/")).map((folder) => json(`${folder}/package.json`).name),
  );
  const { version: last } = json("packages/xdskit/package.json");
  const step = steps[Math.max(...changesets.map((each) => steps.indexOf(each.step)))];
  const next = nextVersion(last, step);

  const lock = json("package-lock.json");
  for (const folder of ours) {
    const manifest = json(`${folder}/package.json`);
    for (const each of [manifest, lock.packages[folder] ?? {}]) {
      if (published.has(manifest.name)) each.version = next;
      for (const needed of [each.dependencies, each.devDependencies])
        for (const name of Object.keys(needed ?? {})) if (published.has(name)) needed[name] = next;
    }
    write(`${folder}/package.json`, manifest);
  }
  write("package-lock.json", lock);

  const changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8");
  const at = changelog.search(/^## /m);
  writeFileSync(
    join(root, "CHANGELOG.md"),
    `${changelog.slice(0, at)}${section(next, day, changesets)}\n${changelog.slice(at)}`,
  );
  for (const { file } of changesets) rmSync(join(root, file));
  return next;
}

/** The section of a version: the changes by their step, each with its packages. */
function section(version, day, changesets) {
  const parts = steps.toReversed().flatMap((step) => {
    const of = changesets.filter((each) => each.step === step);
    const items = of.map(({ packages, text }) => `- **${packages.join(", ")}**: ${text.replaceAll("\n", "\n  ")}\n`);
    return of.length === 0 ? [] : [`\n### ${headings[step]}\n\n${items.join("")}`];
  });
  return `## ${version} (${day})\n${parts.join("")}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const next = writeVersion(fileURLToPath(new URL("../../", import.meta.url)), new Date().toISOString().slice(0, 10));
    console.log(`${next}: read CHANGELOG.md, commit, and tag the commit v${next}`);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
