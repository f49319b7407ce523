// Puts the command, the packages under it and what they import together into a few files: opening hundreds of modules
// takes a third of a start. The last step of `npm run build`. bin/xdskit.cjs runs the result as long as nothing was
// compiled since; the library's users get the modules.
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { licenses } from "../../../scripts/licenses.mjs";
import { commonJs } from "./common-js.mjs";
import { withSmallParts } from "./small-parts.mjs";

const packageDir = fileURLToPath(new URL("..", import.meta.url));
const root = join(packageDir, "../..");

/**
 * Makes the bundle in a folder, which is put in place as a whole. Below it `js/` stands where `dist/` does in a
 * package, so that what modules read beside themselves is found: `package.json` and the files in `gen/`. `fromSources`
 * bundles the sources, which nobody checks then, rather than what was compiled of them.
 */
export async function bundle(folder, { fromSources = false } = {}) {
  const [place, extension] = fromSources ? ["src", "ts"] : ["dist", "js"];
  const making = `${folder}.${process.pid}`;
  rmSync(making, { recursive: true, force: true });
  // What threads of their own run. (A file that an older state has not is not missed.)
  const programs = [
    ["server", "workers/worker-main"],
    ["api", "threads/reading-main"],
    ["server", "sources/folder/reading-thread/reading-main"],
    ["store-sqlite", "write-thread/write-main"],
  ].map(([inPackage, path]) => [
    path.slice(path.lastIndexOf("/") + 1),
    join(root, "packages", inPackage, place, `${path}.${extension}`),
  ]);
  const common = {
    absWorkingDir: root,
    conditions: fromSources ? ["@xdskit/source"] : [],
    bundle: true,
    platform: "node",
    target: "node20.19",
    legalComments: "none",
    logLevel: "warning",
  };
  const { metafile, outputFiles } = await build({
    ...common,
    entryPoints: {
      index: join(packageDir, place, `index.${extension}`),
      ...Object.fromEntries(programs.filter(([, path]) => existsSync(path))),
    },
    outdir: join(making, "js"),
    splitting: true,
    format: "esm",
    metafile: true,
    write: false,
  });
  mkdirSync(join(making, "js"), { recursive: true });
  // By itself: what it needs would be loaded before it keeps anything.
  const cache = { format: "cjs", outfile: join(making, "js/code-cache.js") };
  await build({ ...common, ...cache, entryPoints: [join(packageDir, place, `code-cache/code-cache.${extension}`)] });
  const files = new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
  for (const [file, text] of withSmallParts(await commonJs(files))) writeFileSync(join(making, "js", file), text);
  const { name, version } = JSON.parse(readFileSync(join(packageDir, "package.json"), "utf8"));
  writeFileSync(join(making, "package.json"), `${JSON.stringify({ name, version, type: "commonjs" })}\n`);
  mkdirSync(join(making, "gen"));
  for (const file of ["comments.json", "envoy.binpb", "extensions.json", "since.json"])
    cpSync(join(root, "packages/api/gen", file), join(making, "gen", file));
  // Built before. It stands where the modules of @xdskit/admin look for it.
  cpSync(join(root, "packages/admin/dist/dashboard"), join(making, "dist/dashboard"), { recursive: true });
  const more = [
    readFileSync(join(root, "packages/admin/dist/dashboard/licenses.md"), "utf8"),
    // Of the works that the tables of Envoy's and etcd's APIs are made of.
    ...["api", "store-etcd"].map((name) => readFileSync(join(root, "packages", name, "schema/NOTICE"), "utf8")),
  ];
  writeFileSync(join(making, "THIRD-PARTY-LICENSES.txt"), licenses(root, Object.keys(metafile.inputs), ...more));
  // The old one goes away whole, so that a program which starts meanwhile finds one of the two.
  const old = `${making}.old`;
  if (existsSync(folder)) renameSync(folder, old);
  renameSync(making, folder);
  rmSync(old, { recursive: true, force: true });
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await bundle(join(packageDir, "dist/bundle"), { fromSources: process.argv.includes("--from-sources") });
