// Finds the compiled file of a test, so that a run after a build need not compile each file again.
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

const imported = /(?:from|import) ?\(?"(\.[^"]+)"/g;

/** The compiled file of `…/src/….ts`, or of `….js` as imports name it; another file stays as it is. */
export function compiledOf(file) {
  return file.replace(/^(.*\/|)src\/(.*)\.(?:ts|js)$/, "$1dist/$2.js");
}

/**
 * The compiled file of a test in `PACKAGE/src/`; the test itself if there is none, if it imports something that is not
 * compiled, or if it asks for that by a comment that begins with `From sources`.
 */
export function compiledTest(file) {
  const compiled = compiledOf(file);
  if (compiled === file || !existsSync(compiled)) return file;
  if (!reachedFrom(compiled).every(existsSync)) return file;
  return /^\/\/ From sources\b/m.test(readFileSync(file, "utf8")) ? file : compiled;
}

/**
 * Whether a compiled test, or a file that it reaches, imports another package's `src/`. Only these tests need
 * `built-sources.mjs`, which makes a process start half as fast.
 */
export function namesSources(compiled) {
  return reachedFrom(compiled).some((file) => importsOf(file).some(({ isSource }) => isSource));
}

/** The file, and all that it imports by their paths, also in circles. */
function reachedFrom(file) {
  const reached = new Set([resolve(file)]);
  for (const each of reached) for (const { path } of importsOf(each)) reached.add(path);
  return [...reached];
}

const known = new Map();

function importsOf(file) {
  const found = known.get(file) ?? readImports(file);
  known.set(file, found);
  return found;
}

function readImports(file) {
  if (!file.endsWith(".js") || !existsSync(file)) return [];
  return Array.from(readFileSync(file, "utf8").matchAll(imported), ([, target]) => {
    const path = resolve(dirname(file), target);
    const isSource = !existsSync(path);
    // `built-sources.mjs` gives it the compiled file of another package's source.
    return { path: isSource ? compiledOf(path) : path, isSource };
  });
}
