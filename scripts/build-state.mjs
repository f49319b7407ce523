// Tells whether the program that `npm start` runs was built from the present files. In doubt it was not: a needless
// build costs seconds, a stale server costs trust.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The parts of each package that are no input of the build. */
const outputs = new Set(["dist", "gen", "node_modules", ".cache", "tsconfig.tsbuildinfo"]);
/** The inputs besides the packages: the tools and libraries, and their options. */
const besides = [
  "package.json",
  "package-lock.json",
  "tsconfig.base.json",
  "node_modules/.package-lock.json",
  "scripts",
  "dashboard",
];
const stampFile = ".cache/build-state.json";

/** A hash of everything that the build reads: contents, since a checkout may bring other files with older times. */
export function inputsOf(root) {
  const hash = createHash("sha256").update(`${process.version} ${process.platform} ${process.arch}\0`);
  const paths = packagesOf(root).flatMap((folder) => below(root, folder, (name) => !outputs.has(name)));
  for (const path of [...paths, ...besides.flatMap((path) => below(root, path))]) {
    hash.update(`${path}\0`).update(
      createHash("sha256")
        .update(readFileSync(join(root, path)))
        .digest(),
    );
  }
  return hash.digest("hex");
}

/**
 * A hash of the sizes and times of everything that the build writes and the command loads: any other writer makes it
 * differ.
 */
function outputsOf(root) {
  const hash = createHash("sha256");
  const paths = packagesOf(root).flatMap((folder) =>
    ["dist", "gen", "tsconfig.tsbuildinfo"].flatMap((name) => below(root, `${folder}/${name}`)),
  );
  for (const path of paths) {
    const { size, mtimeNs } = statSync(join(root, path), { bigint: true });
    hash.update(`${path} ${size} ${mtimeNs}\0`);
  }
  return { outputs: hash.digest("hex"), files: paths.length };
}

/** Whether a build of these inputs was remembered, and nobody has touched its output since. */
export function isBuilt(root, inputs) {
  try {
    const known = JSON.parse(readFileSync(join(root, stampFile), "utf8"));
    return known.inputs === inputs && known.files > 0 && known.outputs === outputsOf(root).outputs;
  } catch {
    return false;
  }
}

/** Call it after a successful build, with the inputs from before it. */
export function rememberBuild(root, inputs) {
  const file = join(root, stampFile);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.${process.pid}`, JSON.stringify({ inputs, ...outputsOf(root) }));
  renameSync(`${file}.${process.pid}`, file);
}

function packagesOf(root) {
  return readdirSync(join(root, "packages"))
    .sort()
    .map((name) => `packages/${name}`);
}

/** The files at or below a path, in order; none if nothing is there. */
function below(root, path, isWanted = () => true) {
  const stats = statSync(join(root, path), { throwIfNoEntry: false });
  if (stats === undefined) return [];
  if (!stats.isDirectory()) return [path];
  const names = readdirSync(join(root, path)).filter(isWanted).sort();
  return names.flatMap((name) => below(root, `${path}/${name}`));
}
