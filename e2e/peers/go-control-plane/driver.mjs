// A driver of xds-conformance: `node driver.mjs PROGRAM HOST:PORT [ARGUMENT…]` starts go-control-plane's server there
// with the first order, and can restart it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

const [program, address, ...args] = process.argv.slice(2);
let version = 0;
let server;
let lines;
let last = [];

async function start() {
  server = spawn(program, ["-grpc", address, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  await until((line) => line.startsWith("grpc listening on"));
}

async function until(isDue) {
  for (;;) {
    const { value, done } = await lines.next();
    if (done) throw new Error("the server ended");
    if (isDue(value)) return;
  }
}

async function serve(resources) {
  last = resources;
  version++;
  server.stdin.write(`${JSON.stringify({ version: String(version), resources })}\n`);
  await until((line) => line.startsWith('{"event":"set"') && JSON.parse(line).version === String(version));
}

for await (const line of createInterface({ input: process.stdin })) {
  const { set } = JSON.parse(line);
  if (server === undefined) await start();
  if (set === undefined) {
    const ended = once(server, "exit");
    server.kill("SIGKILL");
    await ended;
    await start();
    await serve(last);
  } else {
    const of = ([type, resources]) => Object.values(resources).map((resource) => ({ "@type": type, ...resource }));
    await serve(Object.entries(set).flatMap(of));
  }
  console.log(JSON.stringify({ ok: true, can: ["restart"] }));
}
server?.kill("SIGKILL");
