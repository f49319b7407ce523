// `npm run conformance:executable -- [--node NODE] [FILE]` makes one executable file of xds-conformance, for machines
// without Node: a single executable application of NODE. That is Node 26 or newer, whose `--build-sea` puts a program
// into a copy of itself; by default the one in .cache/peers/bin. The file is for the system and processor of NODE.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { licenses } from "../../../scripts/licenses.mjs";

const packageDir = fileURLToPath(new URL("..", import.meta.url));
const root = join(packageDir, "../..");
const gen = join(root, "packages/api/gen");

const options = { node: { type: "string", default: join(root, ".cache/peers/bin/node-26") } };
const { values, positionals } = parseArgs({ options, allowPositionals: true });
const file = resolve(positionals[0] ?? join(root, ".cache/conformance/xds-conformance"));
mkdirSync(dirname(file), { recursive: true });
const making = mkdtempSync(`${file}-`);
try {
  const script = join(making, "xds-conformance.cjs");
  const inputs = await bundle(script);
  const notice = readFileSync(join(root, "packages/api/schema/NOTICE"), "utf8");
  const ofNode = "Node.js: https://github.com/nodejs/node/blob/main/LICENSE\n";
  writeFileSync(`${file}.LICENSES.txt`, licenses(root, inputs, notice, ofNode));
  const config = {
    main: script,
    output: file,
    disableExperimentalSEAWarning: true,
    // A script is read as text, and what it names beside itself as it is.
    assets: { "envoy.binpb": join(gen, "envoy.binpb") },
  };
  writeFileSync(join(making, "sea.json"), JSON.stringify(config));
  rmSync(file, { force: true });
  execFileSync(values.node, ["--build-sea", join(making, "sea.json")], { stdio: ["ignore", "ignore", "inherit"] });
  console.log(file);
} finally {
  rmSync(making, { recursive: true, force: true });
}

/** Puts the command into one script. Returns the files that it is made of. */
async function bundle(outfile) {
  const entry = readFileSync(join(packageDir, "bin/xds-conformance.mjs"), "utf8")
    .replace(/^#!.*/, "")
    .replace("xds-conformance", "./src/index.ts")
    // CommonJS waits for nothing at its top.
    .replace(
      /process\.exitCode = await (main\([\s\S]*?\n\}\));\n([\s\S]*)$/,
      "$1.then((status) => {\nprocess.exitCode = status;\n$2});\n",
    );
  const { metafile } = await build({
    stdin: { contents: entry, resolveDir: packageDir, loader: "js" },
    absWorkingDir: root,
    bundle: true,
    platform: "node",
    target: "node20.19",
    format: "cjs",
    outfile,
    metafile: true,
    conditions: ["@xdskit/source"],
    legalComments: "none",
    logLevel: "error",
    define: { "import.meta.url": JSON.stringify("file:///xds-conformance/js/index.js") },
    plugins: [{ name: "assets", setup: withAssets }],
  });
  return Object.keys(metafile.inputs);
}

/** What the API reads beside itself is in the executable. */
function withAssets(builder) {
  builder.onLoad({ filter: /\/registry\/generated-file\.ts$/ }, () => ({
    contents: `import { getRawAsset } from "node:sea";
      export const generatedFile = (name) => new Uint8Array(getRawAsset(name));`,
    loader: "js",
  }));
}
