// A hook of Node's module loader: a compiled file that imports another package's `src/…js` gets that package's
// `dist/…js`. Helpers that several packages' tests share are reached by their path: no published package has them.
import { existsSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { compiledOf } from "./compiled-tests.mjs";

export async function resolve(specifier, context, next) {
  if (specifier.startsWith(".") && context.parentURL?.startsWith("file:")) {
    const url = new URL(specifier, context.parentURL);
    const path = fileURLToPath(url);
    const compiled = compiledOf(path);
    if (compiled !== path && !existsSync(path) && existsSync(compiled))
      return { url: pathToFileURL(compiled).href, shortCircuit: true };
  }
  return next(specifier, context);
}
