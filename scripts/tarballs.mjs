// `npm run tarballs`: packs every package that is published into `.cache/tarballs/`, or into another folder
// (`node scripts/tarballs.mjs DIR`). What was packed there before goes. The command is bundled anew, so that no older
// bundle is packed with newer modules.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const folder = resolve(process.argv[2] ?? join(root, ".cache/tarballs"));
const published = readdirSync(join(root, "packages")).filter(
  (name) => JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8")).private !== true,
);

execFileSync("npm", ["run", "--silent", "bundle", "--workspace", "xdskit"], { cwd: root, stdio: "inherit" });
mkdirSync(folder, { recursive: true });
for (const file of readdirSync(folder)) if (file.endsWith(".tgz")) rmSync(join(folder, file));
const workspaces = published.flatMap((name) => ["--workspace", `packages/${name}`]);
execFileSync("npm", ["pack", "--silent", ...workspaces, "--pack-destination", folder], { cwd: root, stdio: "inherit" });
