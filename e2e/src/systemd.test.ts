import assert from "node:assert/strict";
import { execFileSync, type SpawnSyncReturns, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { peer, root } from "./harness/basics/peers.js";
import { createScene, type Scene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { xdskitCommand } from "./harness/xdskit/xdskit.js";

const folder = join(root, "deploy/systemd");
const units = ["xdskit", "xdskit-relay"];
const unit = (name: string) => readFileSync(join(folder, `${name}.service`), "utf8");

test("systemd-analyze finds nothing in the units, and little to expose", async (t) => {
  const analyze = peer("systemd-analyze", t);
  if (analyze === undefined) return;
  const scene = await createScene(t);
  const installed = join(scene.directory, "usr/local/bin");
  mkdirSync(installed, { recursive: true });
  writeFileSync(join(installed, "xdskit"), "");
  chmodSync(join(installed, "xdskit"), 0o755);
  for (const name of units) {
    // Where a unit says no path, systemd looks in such folders; here nothing is installed.
    const file = join(scene.directory, `${name}.service`);
    writeFileSync(file, unit(name).replace("ExecStart=xdskit", `ExecStart=${installed}/xdskit`));
    const asked = (...words: readonly string[]): SpawnSyncReturns<string> =>
      spawnSync(analyze, [...words, file], { encoding: "utf8" });
    assert.equal(asked("verify", "--man=no").stderr, "");
    // 1.2 of 10 is what systemd finds: the network, children that notify, the JIT.
    const judged = asked("security", "--offline=true", "--threshold=13");
    assert.equal(judged.status, 0, judged.stdout);
  }
});

test("both units are hardened alike", () => {
  const [serve = "", relay = ""] = units.map((name) => unit(name).split("\n# Hardening")[1] ?? assert.fail(name));
  assert.equal(serve, relay);
});

test("the group of the units is made, and is not called like a unit", () => {
  const [, group = ""] = /^g (\S+) -$/m.exec(readFileSync(join(folder, "xdskit.conf"), "utf8")) ?? [];
  for (const name of units) {
    assert.match(unit(name), new RegExp(`^Group=${group}$`, "m"));
    // The user of each run is: systemd starts no unit whose user would have a group of the same name that is another's.
    assert.notEqual(group, name);
  }
});

/** A datagram socket that prints what it is told, as systemd would hear it. */
const listener = `
import os, socket, sys
heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
heard.bind(sys.argv[1])
print("listens", flush=True)
while True:
    data, descriptors, _, _ = socket.recv_fds(heard, 4096, 8)
    # The sender waits until these are closed.
    for descriptor in descriptors:
        os.close(descriptor)
    print(data.decode().replace("\\n", " "), flush=True)
`;

/** The unit's command line and environment, below a folder of the test. */
function commandOf(name: string, places: Readonly<Record<string, string>>) {
  const text = unit(name);
  const settings = Object.fromEntries(
    [...text.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, key = "", value = ""]) => [key, value]),
  );
  const all: Record<string, string> = { ...settings, OPTIONS: "", ...places };
  const [, line = ""] = /^ExecStart=xdskit (.*)$/m.exec(text) ?? [];
  const words = line.split(" ").flatMap((word) => {
    const [, optional] = /^\$(\w+)$/.exec(word) ?? [];
    if (optional !== undefined) return (all[optional] ?? assert.fail(word)).split(" ").filter((each) => each !== "");
    return [word.replace(/\$\{(\w+)\}/g, (_, key: string) => all[key] ?? assert.fail(word))];
  });
  const { command, args } = xdskitCommand();
  return { command, args: [...args, ...words] };
}

/** What `systemctl reload` runs. */
function reload(name: string, pid: number): void {
  const [, script = ""] = /^ExecReload=\/bin\/sh -c "(.*)"$/m.exec(unit(name)) ?? [];
  execFileSync("/bin/sh", ["-c", script], { env: { MAINPID: String(pid) } });
}

/** The relay of its own unit, of an origin. */
async function startsRelay(scene: Scene, at: (name: string) => string, origin: string): Promise<void> {
  const { command, args } = commandOf("xdskit-relay", {
    GRPC: `unix:${at("relayed")}`,
    ADMIN: `unix:${at("relay-admin")}`,
  });
  const [settings, cache] = [at("relay.yaml"), at("cache")];
  writeFileSync(settings, `upstream: { servers: ["${origin}"], wildcard: [cluster] }\n`);
  const installed = new Map([
    ["/etc/xdskit-relay/relay.yaml", settings],
    ["/var/cache/xdskit-relay/origin", cache],
  ]);
  const relay = scene.start({
    name: "xdskit relay",
    command,
    args: args.map((word) => installed.get(word) ?? word),
    env: { STATE_DIRECTORY: at("relay-state") },
  });
  await relay.line(/^ready$/);
  reload("xdskit-relay", relay.pid);
  await relay.errorLine(/"event":"reload"/);
  assert.deepEqual(await relay.stop("SIGTERM"), { code: 0, signal: null }, relay.stderr.join("\n"));
}

for (const workers of [1, 2])
  test(`the unit tells systemd how the server is, with ${workers} processes`, async (t) => {
    const [python, notify] = [peer("python-grpc", t), peer("systemd-notify", t)];
    if (python === undefined || notify === undefined) return;
    const scene = await createScene(t);
    const at = (name: string) => join(scene.directory, name);
    const manager = scene.start({ name: "systemd", command: python, args: ["-c", listener, at("notify")] });
    await manager.line(/^listens$/);
    const told = (word: string) => manager.stdout.filter((line) => line.startsWith(word)).length;
    const places = { GRPC: `unix:${at("grpc")}`, ADMIN: `unix:${at("admin")}`, OPTIONS: `--workers ${workers}` };
    const { command, args } = commandOf("xdskit", places);
    const broken = at("config");
    mkdirSync(broken);
    writeFileSync(join(broken, "a.yaml"), "[]");
    writeFileSync(join(broken, "b.yaml"), "a: [");
    const server = scene.start({
      name: "xdskit serve",
      command,
      args: args.map((word) => (word === "/etc/xdskit" ? broken : word)),
      env: { NOTIFY_SOCKET: at("notify"), WATCHDOG_USEC: "2000000", STATE_DIRECTORY: at("state") },
    });
    await server.line(/^admin listening/);
    assert.deepEqual(manager.stdout, ["listens"], "it is not ready");
    writeFileSync(join(broken, "b.yaml"), "[]");
    await server.line(/^ready$/);
    await manager.line(/^READY=1/);
    await eventually("signs of life", () => told("WATCHDOG=1") >= 2, { withinMs: 30_000 });
    reload("xdskit", server.pid);
    await server.errorLine(/"event":"reload"/);
    if (workers === 1) await startsRelay(scene, at, places.GRPC);
    assert.deepEqual(await server.stop("SIGTERM"), { code: 0, signal: null }, server.stderr.join("\n"));
    await manager.line(/^STOPPING=1/);
    assert.deepEqual([told("READY=1"), told("STOPPING=1")], [1, 1]);
    assert.doesNotMatch(server.stderr.join("\n"), /systemd/);
  });
