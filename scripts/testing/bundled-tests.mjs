// Puts the compiled tests of a package, and all that they import, into one file: a process takes longer to find, open
// and link the hundreds of modules of the packages than most tests take to run.
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { compiledOf } from "./compiled-tests.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
/** They are native, or read files beside themselves. They are loaded when a test needs them. */
const outside = /^(?:@grpc\/|axe-core|esbuild|grpc-health-check|playwright-core|tsx|typescript)/;
const requireHere = `import { createRequire as requireFrom } from "node:module";
const require = requireFrom(import.meta.url);`;
/** A test about memory: nothing must be there that it did not load itself. */
const aboutMemory = /memoryUsage|queryObjects|\bgc\b/;

/** The name of the file that a compiled test becomes part of, without its ending; undefined for other tests. */
export function bundleOf(file) {
  const [, folder] = /^(.*)\/dist\/.*\.test\.js$/.exec(file) ?? [];
  // Those of benchmarks count what runs in which file of the product.
  if (folder === undefined || folder === "bench" || aboutMemory.test(readFileSync(file, "utf8"))) return undefined;
  return folder.replaceAll("/", "-");
}

/**
 * Makes `NAME.mjs` in a folder for the compiled tests of each name. It exports `tests`, by the path of each: a function
 * that runs what the test and its imports do at their top, and resolves after that.
 */
export async function bundleTests(bundles, folder, more = {}) {
  const modules = join(folder, "node_modules");
  if (!existsSync(modules)) symlinkSync(join(root, "node_modules"), modules, "junction");
  return await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries([...bundles.keys()].map((name) => [name, `tests:${name}`])),
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    target: "node20.19",
    format: "esm",
    banner: { js: requireHere },
    legalComments: "none",
    logLevel: "error",
    define: { "import.meta.url": "urlOfModule", "import.meta.dirname": "folderOfModule" },
    plugins: [{ name: "tests", setup: (builder) => setUp(builder, bundles) }],
    ...more,
  });
}

function setUp(builder, bundles) {
  builder.onResolve({ filter: /^tests:/ }, ({ path }) => ({ path: path.slice("tests:".length), namespace: "tests" }));
  builder.onLoad({ filter: /.*/, namespace: "tests" }, ({ path }) => ({
    contents: entryOf(bundles.get(path)),
    resolveDir: root,
  }));
  builder.onResolve({ filter: outside }, ({ path, namespace }) =>
    namespace === "outside" ? { path, external: true } : { path, namespace: "outside" },
  );
  builder.onLoad({ filter: /.*/, namespace: "outside" }, ({ path }) => ({
    contents: `module.exports = require(${JSON.stringify(path)});`,
    resolveDir: root,
  }));
  // As `built-sources.mjs` does.
  builder.onResolve({ filter: /^\..*\/src\// }, ({ path, resolveDir }) => {
    const named = resolve(resolveDir, path);
    const compiled = compiledOf(named);
    return existsSync(named) || !existsSync(compiled) ? undefined : { path: compiled };
  });
  builder.onLoad({ filter: /\.m?js$/ }, async ({ path }) => {
    const text = await readFile(path, "utf8");
    return text.includes("import.meta.") ? { contents: withOwnUrl(text, path), loader: "js" } : undefined;
  });
}

function entryOf(files) {
  const lines = files.map((file) => `  ${JSON.stringify(file)}: () => import(${JSON.stringify(resolve(file))}),\n`);
  return `export const tests = {\n${lines.join("")}};\n`;
}

/** Modules read files that stand beside them, where they were before. See `define` above. */
function withOwnUrl(text, path) {
  const [url, folder] = [pathToFileURL(path).href, dirname(path)].map((each) => JSON.stringify(each));
  return `const urlOfModule = ${url}, folderOfModule = ${folder}; ${text}`;
}
