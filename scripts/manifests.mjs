// `npm run manifests` writes into each published package.json what all of them share, and what only this file and the
// root's package.json say: licence, versions of Node, and where the project is. Lint runs it with `--check`, which only
// says what differs.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const isCheck = process.argv.includes("--check");
const { license, engines, repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const place = repository.url.replace(/^git\+|\.git$/g, "");
/** Readers look for these first; what is new stands behind. */
const first = ["name", "version", "description", "keywords", "license", "homepage", "bugs", "repository", "type"];
const wrong = [];

for (const folder of readdirSync(join(root, "packages"))) {
  const file = join(root, "packages", folder, "package.json");
  const text = readFileSync(file, "utf8");
  const own = JSON.parse(text);
  const shared = {
    license,
    engines,
    homepage: `${place}/tree/main/packages/${folder}#readme`,
    bugs: `${place}/issues`,
    repository: { ...repository, directory: `packages/${folder}` },
    // npm says of each file of a release which commit and which run of CI it was made by.
    publishConfig: { access: "public", provenance: true },
  };
  const all = { ...own, ...shared };
  const names = [...new Set([...first.filter((name) => name in all), ...Object.keys(all)])];
  const written = `${JSON.stringify(Object.fromEntries(names.map((name) => [name, all[name]])), null, 2)}\n`;
  if (written !== text) {
    if (isCheck) wrong.push(`packages/${folder}/package.json is not what npm run manifests writes`);
    else writeFileSync(file, written);
  }
  wrong.push(...lacking(folder, own));
}
for (const message of wrong) console.error(message);
process.exitCode = wrong.length > 0 ? 1 : 0;

/** What a person has to write. */
function lacking(folder, { name, description = "", keywords = [], sideEffects }) {
  const readme = join(root, "packages", folder, "README.md");
  const isFor = existsSync(readme) && readFileSync(readme, "utf8").startsWith(`# ${name}\n`);
  return [
    ...(description === "" ? ["description"] : []),
    ...(keywords.includes("xds") && keywords.length > 2 ? [] : ['keywords, with "xds"']),
    ...(sideEffects === undefined ? ["sideEffects"] : []),
    ...(isFor ? [] : ["README.md with its name as its title"]),
    ...(existsSync(join(root, "packages", folder, "LICENSE")) ? [] : ["LICENSE"]),
  ].map((field) => `packages/${folder} has no ${field}`);
}
