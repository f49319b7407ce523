// Loaded first into each process of a run of compiled tests. The few that have no compiled file are run from their
// sources.
import { register } from "node:module";

if (process.argv[1]?.endsWith(".ts")) {
  register("./source-condition.mjs", import.meta.url);
  const { register: registerTypeScript } = await import("tsx/esm/api");
  registerTypeScript();
} else {
  register("./built-sources.mjs", import.meta.url);
}
