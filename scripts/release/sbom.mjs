import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pinned } from "../packed/pinned.mjs";

/**
 * Writes what an installation of the tarballs in a folder consists of, with hashes and licences, beside them: as
 * CycloneDX and as SPDX. (In the checkout `npm sbom --omit dev` leaves out whatever a test needs, too.)
 *
 * @param {string} root
 * @param {string} folder
 * @param {ReadonlyMap<string, string>} tarballs the names of packages, and their files
 * @param {string} version
 */
export function writeSbom(root, folder, tarballs, version) {
  // The page of the admin listener is built into packages: what it consists of is no dependency of theirs.
  const built = readFileSync(join(root, "packages/admin/dist/dashboard/licenses.md"), "utf8");
  const inPage = Array.from(built.matchAll(/^## (\S+) - (\S+) /gm), ([, name, of]) => [name, of]);
  const dependencies = Object.fromEntries([
    ...Array.from(tarballs, ([name, file]) => [name, `file:${file}`]),
    ...inPage,
  ]);
  const { license } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const manifest = { name: "xdskit-release", version, private: true, license, dependencies };
  const overrides = pinned(Object.keys(dependencies));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ ...manifest, overrides }));
  const npm = (...args) => execFileSync("npm", args, { cwd: folder, encoding: "utf8", maxBuffer: 1 << 26 });
  npm("install", "--package-lock-only", "--ignore-scripts", "--omit-lockfile-registry-resolved", "--prefer-offline");
  for (const [format, file] of [
    ["cyclonedx", `xdskit-${version}.cdx.json`],
    ["spdx", `xdskit-${version}.spdx.json`],
  ]) {
    // Where the tarballs lie on this machine is nobody's concern.
    const text = npm("sbom", "--package-lock-only", "--sbom-format", format).replaceAll(`file:${folder}/`, "file:");
    writeFileSync(join(folder, file), text);
  }
  for (const file of ["package.json", "package-lock.json"]) rmSync(join(folder, file));
}
