import { readFileSync } from "node:fs";

/**
 * `gen/` is beside both `src/` and `dist/`. The bundled command has no folders: there `gen/` is beside the bundle's.
 */
const gen = new URL(/\/registry\/[^/]+$/.test(import.meta.url) ? "../../gen/" : "../gen/", import.meta.url);

/** Reads a file that the build made from the table of Envoy's API, or from the comments in its protos. */
export function generatedFile(name: "comments.json" | "envoy.binpb" | "extensions.json" | "since.json"): Uint8Array {
  return readFileSync(new URL(name, gen));
}
