import { SourceMap } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bundleTests } from "./bundled-tests.mjs";

/**
 * Returns a function that resolves to a text with places of bundles in `folder` as places of what they were made of. A
 * bundle is made again for this, with a source map: only failures need it.
 */
export function originalPlaces(bundles, folder) {
  const maps = new Map();
  const place = /(?:file:\/\/)?([^\s()'"]+)\.mjs:(\d+):(\d+)/g;
  return async (text) => {
    const found = Array.from(text.matchAll(place), ([, path]) => nameIn(path)).filter((name) => name !== undefined);
    for (const name of new Set(found)) if (!maps.has(name)) maps.set(name, await mapOf(name));
    return text.replace(place, (whole, path, line, column) => {
      const entry = maps.get(nameIn(path))?.findEntry(Number(line) - 1, Number(column) - 1);
      if (entry?.originalSource === undefined) return whole;
      const url = new URL(entry.originalSource, pathToFileURL(join(folder, "x")));
      // Some lines are of no file, but of the list of tests.
      if (url.protocol !== "file:") return whole;
      return `${fileURLToPath(url)}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
    });
  };

  /** The name of the bundle with that path, without its ending. */
  function nameIn(path) {
    return [...bundles.keys()].find((name) => resolve(path) === join(folder, name));
  }

  async function mapOf(name) {
    const only = new Map([[name, bundles.get(name)]]);
    const { outputFiles } = await bundleTests(only, folder, { sourcemap: "external", write: false });
    return new SourceMap(JSON.parse(outputFiles.find(({ path }) => path.endsWith(".map")).text));
  }
}
