import assert from "node:assert/strict";
import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { entries, env, read, root } from "./checkout.js";
import { blocks } from "./pages.js";

/** A program of a page that ends with its server listening. It listens on a free port, says so, and ends. */
function untilItServes(text = ""): string {
  assert.match(text, /server\.listen\(\{ grpc: "127\.0\.0\.1:18000" \}\)/);
  return text.replace(":18000", ":0");
}

/** The first program of the page. */
export function runsAsModule(node: string, folder: string): void {
  const [first = ""] = blocks("docs/library.md", "# Build your own control plane", "ts");
  assert.match(first, /^await server\.listen/m);
  const program = `${untilItServes(first)}console.log("serves");\nawait server.close();\n`;
  run(node, folder, "first.mjs", program, "serves\n");
}

/** The same program as CommonJS, and every entry point. */
export function runsAsCommonJs(node: string, folder: string): void {
  const [first = ""] = blocks("docs/library.md", "# Build your own control plane", "ts");
  const required = untilItServes(first)
    .replaceAll(/^import (\{.*\}) from (".*");$/gm, "const $1 = require($2);")
    .replace("await server.listen", "const listening = server.listen");
  const all = entries.map((entry) => `require("${entry}");\n`);
  const program = `${required}\n${all.join("")}listening.then(() => server.close()).then(() => console.log("serves"));`;
  run(node, folder, "first.cjs", program, "serves\n");
}

function run(node: string, folder: string, file: string, program: string, said: string): void {
  writeFileSync(join(folder, file), program);
  const { status, stdout, stderr } = spawnSync(node, [file], { cwd: folder, env, encoding: "utf8", timeout: 60_000 });
  assert.deepEqual([status, stdout], [0, said], stderr);
}

/** Uses a program that serves once it has said where its last listener is. `placeOf` a listener: `HOST:PORT`. */
async function whileRunning(
  { node, folder, file, last }: Readonly<Record<"node" | "folder" | "file" | "last", string>>,
  places: Readonly<Record<string, string>>,
  use: (placeOf: (name: string) => string | undefined) => Promise<void>,
): Promise<void> {
  const child = spawn(node, [file], { cwd: folder, env: { ...env, ...places }, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  const kill = setTimeout(() => child.kill("SIGKILL"), 60_000);
  try {
    let said = "";
    const placeOf = (name: string) => new RegExp(`^${name} listening on (\\S+)$`, "m").exec(said)?.[1];
    for await (const text of child.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
      said += text;
      if (placeOf(last) !== undefined) break;
    }
    await use(placeOf);
  } finally {
    child.kill("SIGKILL");
    await ended;
    clearTimeout(kill);
  }
}

/** The page's program with an admin listener: it has the page, the API and metrics. */
export async function hasAdmin(node: string, folder: string): Promise<void> {
  const [program = ""] = blocks("docs/library.md", "## The page, the API, metrics and the log", "ts");
  const text = untilItServes(program);
  assert.match(text, /admin\.listen\("127\.0\.0\.1:19000"\)/);
  writeFileSync(join(folder, "admin.mjs"), text.replace(":19000", ":0"));
  await whileRunning({ node, folder, file: "admin.mjs", last: "admin" }, {}, async (placeOf) => {
    const get = async (path: string) => {
      const response = await fetch(`http://${placeOf("admin")}${path}`, { headers: { accept: "text/html" } });
      assert.equal(response.status, 200, path);
      return await response.text();
    };
    const page = await get("/");
    const [, script = ""] = /src="\.(\/assets\/[^"]+\.js)"/.exec(page) ?? [];
    assert.match(page, /<title>/);
    assert.ok((await get(script)).length > 10_000);
    assert.deepEqual(JSON.parse(await get("/api/v1/nodes")).nodes, []);
    assert.equal(JSON.parse(await get("/api/v1/server")).name, "mine");
    assert.match(await get("/metrics"), /^xdskit_ready 1$/m);
    assert.equal(await get("/readyz"), "ready\n");
  });
}

/** The example of a control plane, copied as its page says: a service registers, and the command sees its endpoint. */
export async function hasControlPlane(node: string, folder: string): Promise<void> {
  const page = read("docs/control-plane.md");
  assert.match(page, /cp CLONE\/examples\/control-plane\/main\.mjs \.$/m);
  writeFileSync(join(folder, "main.mjs"), read("examples/control-plane/main.mjs"));
  const places = { REGISTRY: "127.0.0.1:0", GRPC: "127.0.0.1:0", ADMIN: "127.0.0.1:0", LEASE_SECONDS: "5" };
  await whileRunning({ node, folder, file: "main.mjs", last: "grpc" }, places, async (placeOf) => {
    const body = JSON.stringify({ address: "127.0.0.1", port: 10001 });
    const url = `http://${placeOf("registry")}/services/web/instances/1`;
    assert.equal((await fetch(url, { method: "PUT", body })).status, 204);
    const asked = ["get", "--server", placeOf("grpc") ?? "", "--type", "endpoint", "web"];
    const command = ["node_modules/xdskit/bin/xdskit.cjs", ...asked];
    // As a service does, it says again and again that it is there: the command takes longer than a lease to start on a
    // busy machine.
    const again = setInterval(() => void fetch(url, { method: "PUT", body }).catch(() => undefined), 1_000);
    try {
      const { stdout } = await promisify(execFile)(node, command, { cwd: folder, env, timeout: 30_000 });
      assert.match(stdout, /port_?[vV]alue: 10001/);
    } finally {
      clearInterval(again);
    }
  });
}

/** The command, with its state. */
export async function serves(node: string, folder: string): Promise<void> {
  const [config, state] = [join(folder, "config"), join(folder, "state")];
  mkdirSync(config, { recursive: true });
  rmSync(state, { recursive: true, force: true });
  const addresses = ["--grpc", "127.0.0.1:0", "--rest", "127.0.0.1:0", "--admin", "127.0.0.1:0"];
  const command = ["node_modules/xdskit/bin/xdskit.cjs", "serve", config, ...addresses, "--state", state];
  assert.ok(existsSync(join(folder, "node_modules/.bin/xdskit")));
  const settings = join(config, "xdskit.yaml");
  writeFileSync(settings, "identities: [{ when: { unix: { uid: 0 } }, node: {} }]\n");
  const refused = spawnSync(node, command, { cwd: folder, env, encoding: "utf8", timeout: 60_000 });
  assert.match(refused.stderr, /identities\[0\]\.when\.unix: .*(?:npm install koffi|on Linux only)/);
  rmSync(settings);
  const { man } = JSON.parse(readFileSync(join(folder, "node_modules/xdskit/package.json"), "utf8"));
  for (const page of man) assert.ok(existsSync(join(folder, "node_modules/xdskit", page)), page);
  const child = spawn(node, [...command, "--allow-empty"], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  const ended = once(child, "close");
  const kill = setTimeout(() => child.kill("SIGKILL"), 60_000);
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      if (/^ready$/m.test(said)) child.kill("SIGTERM");
    });
  }
  assert.deepEqual(await ended, [0, null], said);
  clearTimeout(kill);
  assert.match(said, /^ready$/m);
  assert.doesNotMatch(said, /without (?:a )?state|cannot be opened/);
}

/** A Node that the packages must run on. */
export const peerOf = (version: number) => join(root, `.cache/peers/bin/node-${version}`);
