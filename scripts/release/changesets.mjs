// What changed since the last release: a file in `.changeset/` for each change that users notice, in the format of the
// tool of that name. That tool would bring a hundred packages; all of ours have one version, so this is enough. Lint
// runs this file.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** From the smallest step. */
export const steps = ["patch", "minor", "major"];

/**
 * The changesets of a checkout, by name. Throws an error that names the file and the line of what it cannot read.
 *
 * @param {string} root
 * @returns {{ file: string, step: string, packages: string[], text: string }[]}
 */
export function readChangesets(root) {
  const known = readdirSync(join(root, "packages")).map(
    (folder) => JSON.parse(readFileSync(join(root, "packages", folder, "package.json"), "utf8")).name,
  );
  const files = readdirSync(join(root, ".changeset")).filter((file) => file.endsWith(".md") && file !== "README.md");
  return files.sort().map((name) => {
    const file = join(".changeset", name);
    const [, head = "", text = ""] =
      /^---\n([\s\S]*?)^---\n([\s\S]*)$/m.exec(readFileSync(join(root, file), "utf8")) ?? [];
    const packages = head.split("\n").flatMap((line, at) => {
      if (line.trim() === "") return [];
      const [, of = "", step = ""] = /^["']?([@\w/-]+)["']?: *(\w+) *$/.exec(line) ?? [];
      const wrong = known.includes(of)
        ? steps.includes(step) || `"${step}" is none of ${steps.join(", ")}`
        : `there is no package "${of}"`;
      if (wrong !== true) throw new Error(`${file}:${at + 2}: ${wrong}; a line is "PACKAGE": patch, minor or major`);
      return [{ of, step }];
    });
    if (packages.length === 0) throw new Error(`${file}:1: names no package; begin with ---, "PACKAGE": patch, ---`);
    if (text.trim() === "") throw new Error(`${file}: says nothing; write what a user notices below the second ---`);
    const step = steps[Math.max(...packages.map((each) => steps.indexOf(each.step)))];
    return { file, step, packages: packages.map((each) => each.of), text: text.trim() };
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    readChangesets(fileURLToPath(new URL("../../", import.meta.url)));
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
