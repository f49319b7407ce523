// Runs before a package is packed, in its folder (`prepack`): a package without what the build makes would install, and
// fail where it is imported. `node packed-whole.mjs [FILE…]`: files that it needs besides what its entry points name.
// What was compiled of sources that are gone, it removes: the compiler leaves that, and it would be packed.
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

const { name, exports, bin = {} } = JSON.parse(readFileSync("package.json", "utf8"));
const targets = Object.values(exports).flatMap((entry) => {
  if (typeof entry === "string") return [entry];
  // Only our own tests take the sources.
  const { "@xdskit/source": _, ...published } = entry;
  return Object.values(published);
});
const missing = [...targets, ...Object.values(bin), ...process.argv.slice(2)].filter((path) => !isThere(path));
if (missing.length > 0) {
  console.error(`${name} is not packed: there is no ${missing[0]}; run npm run build first`);
  process.exitCode = 1;
}
for (const path of compiled("dist")) {
  const source = path.replace(/^dist/, "src").replace(/\.(?:d\.ts|js)(?:\.map)?$/, "");
  if (![".ts", ".tsx"].some((ending) => existsSync(source + ending))) rmSync(path);
}

/** What the compiler made; the bundle and the dashboard have no sources here. */
function compiled(folder) {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder, { recursive: true }).filter((file) => !/^(?:bundle|dashboard)\//.test(file));
  return files.filter((file) => /\.(?:js|d\.ts)(?:\.map)?$/.test(file)).map((file) => join(folder, file));
}

/** Of a pattern there must be one file at least. */
function isThere(path) {
  if (!path.includes("*")) return existsSync(path);
  const folder = dirname(path.slice(0, path.indexOf("*") + 1));
  const ending = path.slice(path.indexOf("*") + 1);
  return existsSync(folder) && readdirSync(folder, { recursive: true }).some((file) => file.endsWith(ending));
}
