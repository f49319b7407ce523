import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

test("a SIGTERM for npm, which only ends npm's shell, ends the server too", async () => {
  const main = fileURLToPath(import.meta.resolve("./main.ts"));
  const words = [process.execPath, "--conditions=@xdskit/source", "--import", "tsx", main];
  const addresses = ["--control", "127.0.0.1:0", "--grpc", "127.0.0.1:0"];
  // As npm does it: a shell that stays between, and gets the signal alone.
  const shell = `npm_lifecycle_event=bench:server "$@" & echo "server $!" && wait`;
  const npm = spawn("sh", ["-c", shell, "sh", ...words, ...addresses], { stdio: ["ignore", "pipe", "inherit"] });
  let out = "";
  const server = () => Number(/^server (\d+)$/m.exec(out)?.[1]);
  let wentOn = false;
  const bound = setTimeout(() => {
    wentOn = true;
    process.kill(server(), "SIGKILL");
  }, 60_000);
  npm.stdout.setEncoding("utf8");
  // The pipe closes only when the server is gone, too.
  for await (const text of npm.stdout) {
    out += text;
    if (/^ready$/m.test(out)) npm.kill("SIGTERM");
  }
  clearTimeout(bound);
  assert.match(out, /^ready$/m);
  assert.ok(!wentOn, "the server goes on");
});
