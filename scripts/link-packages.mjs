// Links the workspaces into node_modules, before a compilation: a checkout in which a package came or was renamed
// compiles without `npm ci`.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
for (const folder of readdirSync(join(root, "packages"))) {
  const file = join(root, "packages", folder, "package.json");
  if (!existsSync(file)) continue;
  const link = join(root, "node_modules", JSON.parse(readFileSync(file, "utf8")).name);
  if (existsSync(link)) continue;
  rmSync(link, { force: true });
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(relative(dirname(link), dirname(file)), link, "junction");
}
