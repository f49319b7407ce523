// Writes the file that each process of a run of compiled tests starts with.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { bundleOf, bundleTests } from "./bundled-tests.mjs";

/**
 * `groups`: the test files of each process. Resolves to `run`, the file to run for each, which is in `folder` or a test
 * itself; `names`, the tests in each file of `folder`; and `bundles`, the tests in each bundle there.
 */
export async function processFiles(groups, folder) {
  const names = new Map();
  const bundles = new Map();
  const run = groups.map((files) => {
    const [first] = files;
    if (files.length === 1 && bundleOf(first) === undefined) return first;
    const path = join(folder, first);
    const lines = files.map((file) => lineOf(file, path));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, lines.join(""));
    names.set(path, files);
    return path;
  });
  if (bundles.size > 0) await bundleTests(bundles, folder);
  return { run, names, bundles };

  function lineOf(file, path) {
    const bundle = bundleOf(file);
    const from = (target) => JSON.stringify(relative(dirname(path), target));
    if (bundle === undefined) return `await import(${from(resolve(file))});\n`;
    bundles.set(bundle, [...(bundles.get(bundle) ?? []), file]);
    return `await (await import(${from(join(folder, `${bundle}.mjs`))})).tests[${JSON.stringify(file)}]();\n`;
  }
}
