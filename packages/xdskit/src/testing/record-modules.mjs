// For `node --import`: appends the URL of each module that is imported to the file that RECORDED_MODULES names. What a
// CommonJS package requires of itself is not seen.
import { appendFileSync } from "node:fs";
import { register } from "node:module";
import { isMainThread } from "node:worker_threads";

if (isMainThread) register(import.meta.url);

export async function load(url, context, nextLoad) {
  appendFileSync(process.env.RECORDED_MODULES, `${url}\n`);
  return nextLoad(url, context);
}
