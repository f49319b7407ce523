import { readFileSync } from "node:fs";

/** What the build made of the table of Envoy's API. `gen/` lies beside both `src/` and `dist/`, and beside the folder of the bundled command. */
export function generatedFile(name: "envoy.binpb" | "extensions.json" | "since.json"): Uint8Array {
  return readFileSync(new URL(`../gen/${name}`, import.meta.url));
}
