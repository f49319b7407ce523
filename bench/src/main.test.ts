import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { extname } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL(`./main${extname(import.meta.url)}`, import.meta.url));
const words = [process.execPath, ...process.execArgv, main];

test("a wrong option, or an address where nobody can listen, gives one line of error, and status 2", async (t) => {
  const other = createServer();
  t.after(() => other.close());
  await once(other.listen(0, "127.0.0.1"), "listening");
  const taken = other.address();
  const port = typeof taken === "object" ? taken?.port : undefined;
  const free = "127.0.0.1:0";
  const wrong: readonly (readonly [args: readonly string[], said: RegExp])[] = [
    [[], /^--control wants HOST:PORT, not ""$/m],
    [["--nope"], /^Unknown option '--nope'/m],
    [["--control", free, "--grpc", "nowhere"], /^--grpc wants HOST:PORT, not "nowhere"$/m],
    [["--control", free, "--grpc", free, "--workers", "x"], /^--workers x is no whole number/m],
    [["--control", `127.0.0.1:${port}`, "--grpc", free], /EADDRINUSE/],
    [["--control", free, "--grpc", `127.0.0.1:${port}`], /EADDRINUSE|XDSKIT_LISTEN|in use/],
  ];
  const ended = wrong.map(async ([args, said]) => {
    const child = spawn(words[0] ?? "", [...words.slice(1), ...args], { stdio: ["ignore", "pipe", "pipe"] });
    const bound = setTimeout(() => child.kill("SIGKILL"), 60_000);
    let text = "";
    for await (const part of child.stderr.setEncoding("utf8")) text += part;
    clearTimeout(bound);
    if (child.exitCode === null) await once(child, "exit");
    assert.match(text, said);
    assert.match(text, /^usage: /m);
    assert.doesNotMatch(text, /^\s+at /m);
    assert.equal(child.exitCode, 2);
  });
  await Promise.all(ended);
});

test("a SIGTERM for npm, which only ends npm's shell, ends the server too", async () => {
  const addresses = ["--control", "127.0.0.1:0", "--grpc", "127.0.0.1:0"];
  // As under npm: a shell that stays between, and alone gets the signal.
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
