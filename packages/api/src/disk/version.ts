import { existsSync, readFileSync } from "node:fs";

/**
 * The nearest `package.json` above: that of the package, or of the bundle, which has no folders (scripts/bundle.mjs).
 */
function packageFile(folder: URL): URL {
  const file = new URL("package.json", folder);
  return existsSync(file) ? file : packageFile(new URL("..", folder));
}

/** The version of this package. */
export const version: string = (
  JSON.parse(readFileSync(packageFile(new URL(".", import.meta.url)), "utf8")) as { version: string }
).version;
