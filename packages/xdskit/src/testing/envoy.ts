import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/**
 * The Envoy binary of this machine: `ENVOY_BIN`, the one that `e2e/peers/install.sh` brought, `envoy` on the PATH, or the quickstart's in `.cache/venv`. Without one a test is skipped
 * aloud on a user's machine; in CI it fails.
 */
export function findEnvoy(): string | undefined {
  const root = new URL("../../../../", import.meta.url).pathname;
  const folders = [
    join(root, ".cache/peers/bin"),
    ...(process.env.PATH ?? "").split(delimiter),
    join(root, ".cache/venv/bin"),
  ];
  const found = [process.env.ENVOY_BIN, ...folders.map((folder) => join(folder, "envoy"))].find(
    (path) => path !== undefined && path !== "" && existsSync(path),
  );
  if (found === undefined && process.env.CI === "true") throw new Error("CI needs an Envoy: run e2e/peers/install.sh");
  return found;
}

/** The option of a test that needs an Envoy: skips it, and says why, where there is none. */
export function needsEnvoy(envoy: string | undefined): { readonly skip: string | false } {
  return { skip: envoy === undefined ? "no Envoy found: run e2e/peers/install.sh, or set ENVOY_BIN" : false };
}
