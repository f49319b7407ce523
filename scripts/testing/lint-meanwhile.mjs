import { spawn } from "node:child_process";
import { setPriority } from "node:os";

/** Lets the tests go first. */
const nice = 10;

/**
 * Lints while tests run: these leave a tenth of the processors' time. What is wrong is printed at once; `passed` tells
 * later whether nothing was.
 */
export function lintMeanwhile() {
  const started = performance.now();
  const child = spawn("npm", ["run", "--silent", "lint"], { stdio: ["ignore", "pipe", "pipe"] });
  if (child.pid !== undefined) setPriority(child.pid, nice);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
  }
  const passed = new Promise((resolve) => {
    child.on("error", (error) => resolve(error.message)).on("close", (code) => resolve(code === 0));
  }).then((result) => {
    const took = `${((performance.now() - started) / 1000).toFixed(1)} s`;
    console.log(result === true ? `Linted, ${took}` : `Linted, ${took}: failed\n${output || result}`);
    return result === true;
  });
  return { passed, end: (signal) => child.kill(signal) };
}
