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
  if (compiled === file || !existsSync(compiled) || reachesSources(resolve(compiled))) return file;
  return /^\/\/ From sources\b/m.test(readFileSync(file, "utf8")) ? file : compiled;
}

const known = new Map();

/**
 * Whether a compiled file, or one that it imports, imports TypeScript: a test may reach into another package's `src/`.
 */
function reachesSources(file) {
  const before = known.get(file);
  if (before !== undefined) return before;
  // Files may import each other in circles: a file that is being checked decides nothing.
  known.set(file, false);
  const found = !existsSync(file) || importsOf(file).some(reachesSources);
  known.set(file, found);
  return found;
}

function importsOf(file) {
  if (!file.endsWith(".js")) return [];
  const targets = [...readFileSync(file, "utf8").matchAll(imported)].map(([, target]) =>
    resolve(dirname(file), target),
  );
  // `built-sources.mjs` gives it the compiled file of another package's source.
  return targets.map((target) => (existsSync(target) ? target : compiledOf(target)));
}
