// For `node --import`: appends the URL of each CommonJS file that is loaded to the file that RECORDED_FILES names.
import { appendFileSync } from "node:fs";
import Module from "node:module";
import { pathToFileURL } from "node:url";

const load = Module._extensions[".js"];
Module._extensions[".js"] = (module, path) => {
  appendFileSync(process.env.RECORDED_FILES, `${pathToFileURL(path)}\n`);
  return load(module, path);
};
