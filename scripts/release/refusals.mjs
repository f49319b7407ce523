import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readChangesets } from "./changesets.mjs";

/** The section of a version in the changelog, with its heading; undefined if there is none. */
export function sectionOf(root, version) {
  const sections = readFileSync(join(root, "CHANGELOG.md"), "utf8").split(/^(?=## )/m);
  return sections.find((section) => section.split(/\s/)[1] === version);
}

/**
 * Why a checkout cannot be published now, each reason with what to do.
 *
 * @param {string} root
 * @param {string} version
 * @returns {string[]}
 */
export function refusals(root, version, env = process.env) {
  const git = (...args) => spawnSync("git", args, { cwd: root, encoding: "utf8" }).stdout.trim();
  const { repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const origin = git("remote", "get-url", "origin");
  const isCi = env.ACTIONS_ID_TOKEN_REQUEST_URL || env.SIGSTORE_ID_TOKEN;
  const reasons = [
    [git("status", "--porcelain") !== "", "there are changes that are not committed: git status"],
    [readChangesets(root).length > 0, ".changeset has changes without a version: npm run release:version"],
    [sectionOf(root, version) === undefined, `CHANGELOG.md has no section ${version}`],
    [
      !git("tag", "--points-at", "HEAD").split("\n").includes(`v${version}`),
      `the commit has no tag v${version}: git tag -a`,
    ],
    [
      placeOf(origin) !== placeOf(repository.url),
      `package.json says that the project is at ${placeOf(repository.url)}, and git that it is at ${placeOf(origin) || "no origin"}: write the right address there, then npm run manifests`,
    ],
    [!isCi, "provenance is signed by CI only: run it there, with leave to ask for an identity (id-token: write)"],
  ];
  return reasons.flatMap(([is, reason]) => (is ? [reason] : []));
}

/** Host and path of a repository's address, however it is written. */
function placeOf(address) {
  return address
    .replace(/^git\+|\.git$/g, "")
    .replace(/^[a-z+]+:\/\/(?:[^@/]*@)?/, "")
    .replace(/^[^@/]+@([^:/]+):/, "$1/");
}
