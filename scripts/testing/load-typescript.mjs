// Loaded first into each process of a run of compiled tests. The few that have no compiled file are run from their
// sources.
import { register } from "node:module";
import "./load-sources.mjs";

const [, file = ""] = process.argv;
if (file.endsWith(".ts")) {
  // Examples import packages as their users do: as they were built.
  if (!file.includes("/examples/")) register("./source-condition.mjs", import.meta.url);
  const { register: registerTypeScript } = await import("tsx/esm/api");
  registerTypeScript();
} else if (process.env.XDSKIT_TESTS_NAMING_SOURCES?.split("\n").includes(file)) {
  register("./built-sources.mjs", import.meta.url);
}
