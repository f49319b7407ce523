// What the image has besides Node, into its folder: `node deploy/container/files.mjs DIR [BUNDLE]`. The bundle of the
// command is what `npm run build` or `npm start` made before; it holds all libraries but the one that is native.
import { cpSync, existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const command = join(root, "packages/xdskit");
const [folder, bundle = join(command, "dist/bundle")] = process.argv.slice(2);
if (folder === undefined) throw new Error("usage: node deploy/container/files.mjs DIR [BUNDLE]");
const app = resolve(folder);
if (!existsSync(bundle)) throw new Error(`there is no ${bundle}: run npm run build first`);

for (const [from, to] of [
  [join(command, "bin"), "bin"],
  [bundle, "dist/bundle"],
  [join(root, "LICENSE"), "LICENSE"],
])
  cpSync(from, join(app, to), { recursive: true });
copyPackage("libsql", join(root, "packages/store-sqlite/package.json"), join(app, "node_modules"));

/** Copies a package as the file `by` finds it, and what it needs. One that is optional may be missing. */
function copyPackage(name, by, folder) {
  const from = packageOf(name, by);
  // npm installs those for both libraries of C; the image is Debian's.
  if (from === undefined || name.endsWith("-musl")) return;
  const { dependencies = {}, optionalDependencies = {} } = JSON.parse(readFileSync(join(from, "package.json"), "utf8"));
  const isHere = (path) => !path.slice(from.length).includes("/node_modules");
  cpSync(from, join(folder, name), { recursive: true, dereference: true, filter: isHere });
  for (const needed of Object.keys({ ...dependencies, ...optionalDependencies }))
    copyPackage(needed, join(from, "package.json"), join(folder, name, "node_modules"));
}

/** The folder of a package; undefined: it is not installed, since it is for another system. */
function packageOf(name, by) {
  const places = createRequire(by).resolve.paths(name) ?? [];
  return places.map((place) => join(place, name)).find((place) => existsSync(join(place, "package.json")));
}
