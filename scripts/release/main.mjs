// `npm run release` builds, packs and tests what is published, writes its parts lists and sums beside it, and publishes
// it with provenance. With `-- --dry-run` npm only says what it would publish. All of it is in `.cache/release/`.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { packages } from "../../layers.mjs";
import { refusals, sectionOf } from "./refusals.mjs";
import { writeSbom } from "./sbom.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = join(root, ".cache/release");
const isDryRun = process.argv.includes("--dry-run");
const unknown = process.argv.slice(2).filter((argument) => argument !== "--dry-run");
const say = (text) => console.log(`\n== ${text}`);
const run = (...command) => execFileSync(command[0], command.slice(1), { cwd: root, stdio: "inherit" });

const manifestOf = (name) => JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"));
/** From the bottom up: what is published can be installed at once. */
const published = Object.keys(packages).map(manifestOf);
const { version } = manifestOf("xdskit");

const why = unknown.length > 0 ? [`unknown option: ${unknown.join(" ")}`] : refusals(root, version);
for (const reason of why) console.error(`${isDryRun ? "would not be published" : "not published"}: ${reason}`);
if (why.length > 0 && (!isDryRun || unknown.length > 0)) process.exit(1);

say(`xdskit ${version}: build`);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
run("npm", "run", "--silent", "build");

say("pack");
run(process.execPath, "scripts/tarballs.mjs", folder);
const fileOf = ({ name }) => `${name.replace("@", "").replace("/", "-")}-${version}.tgz`;
const tarballs = new Map(published.map((manifest) => [manifest.name, fileOf(manifest)]));

say("install the tarballs where nothing is, check them, and run them");
// What cannot be tested here is skipped, unless it is published.
const { status } = spawnSync(process.execPath, ["scripts/test.mjs", "--built", "scripts/tarballs.test.ts"], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, ...(isDryRun ? {} : { CI: "true" }), TARBALLS: folder },
});
if (status !== 0) process.exit(1);

say("parts lists, notes and sums");
writeSbom(root, folder, tarballs, version);
writeFileSync(join(folder, "NOTES.md"), sectionOf(root, version) ?? "");
const sums = readdirSync(folder)
  .sort()
  .map(
    (file) =>
      `${createHash("sha256")
        .update(readFileSync(join(folder, file)))
        .digest("hex")}  ${file}\n`,
  );
writeFileSync(join(folder, "SHA256SUMS"), sums.join(""));
process.stdout.write(sums.join(""));

say(isDryRun ? "would be published" : "publish");
const tag = version.includes("-") ? "next" : "latest";
for (const [name, file] of tarballs) {
  const command = ["npm", "publish", join(folder, file), "--access", "public", "--provenance", "--tag", tag];
  // npm reads the tarball and the manifest as it would to publish it.
  if (isDryRun) run(...command, "--dry-run");
  else if (isThere(name)) console.log(`${name}@${version} is there already`);
  else run(...command);
}

/** Of a release that broke off, the rest is published by running it again. */
function isThere(name) {
  return spawnSync("npm", ["view", `${name}@${version}`, "version"], { encoding: "utf8" }).stdout.trim() === version;
}
