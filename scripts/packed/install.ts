import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { env, isCi, root } from "./checkout.js";
import { pinned } from "./pinned.mjs";

/** Packs all packages into a folder. */
export function pack(tarballs: string): void {
  execFileSync(process.execPath, ["scripts/tarballs.mjs", tarballs], { cwd: root, env, stdio: "inherit" });
}

/**
 * Installs as a line of a page says, with the tarballs in another folder than the page's. Returns why it could not, if
 * that is the network's fault, and throws for any other reason.
 */
export function install(folder: string, tarballs: string, line: string): string | undefined {
  const overrides = pinned(["@bufbuild/protobuf"]);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", private: true, overrides }));
  const command = `${line.replace("CLONE/.cache/tarballs", tarballs)} --no-audit --no-fund --prefer-offline`;
  const { status, stderr } = spawnSync(command, { cwd: folder, env, shell: true, encoding: "utf8" });
  if (!isCi && /EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ENETUNREACH/.test(stderr)) return "needs a registry";
  if (status !== 0) throw new Error(`${command}: ${stderr}`);
  return undefined;
}
