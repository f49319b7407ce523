// Part of `npm run lint`: names the packages that sources import, tests too, and that their tsconfig.json does not
// refer to. Such a package compiles where everything was built before, and nowhere else.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = fileURLToPath(new URL("../", import.meta.url));
const listed = execFileSync("git", ["ls-files", "*/tsconfig.json"], { cwd: root, encoding: "utf8" });
const projects = listed.split("\n").filter((file) => file !== "" && existsSync(root + file));
const folders = new Map(projects.map((file) => [nameOf(dirname(file)), dirname(file)]));
const problems = [];

for (const project of projects) {
  const folder = dirname(project);
  const { config } = ts.readConfigFile(root + project, ts.sys.readFile);
  const named = new Set((config.references ?? []).map(({ path }) => relative(root, join(root, folder, path))));
  const missing = new Map();
  for (const file of filesOf(folder)) {
    const text = readFileSync(root + file, "utf8");
    for (const { fileName } of ts.preProcessFile(text, true, true).importedFiles) {
      const of = folders.get(
        fileName
          .split("/")
          .slice(0, fileName.startsWith("@") ? 2 : 1)
          .join("/"),
      );
      if (of !== undefined && of !== folder && !named.has(of)) missing.set(of, file);
    }
  }
  for (const [of, file] of missing) problems.push(`${project} does not refer to ${of}, which ${file} imports`);
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

function nameOf(folder) {
  const file = join(root, folder, "package.json");
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).name : folder;
}

function filesOf(folder) {
  const files = execFileSync("git", ["ls-files", `${folder}/*.ts`, `${folder}/*.tsx`], { cwd: root, encoding: "utf8" });
  return files.split("\n").filter((file) => file !== "" && existsSync(root + file));
}
