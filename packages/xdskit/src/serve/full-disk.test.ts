import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { commandFile, eventually, type Running, start } from "../testing/command.js";
import { clusterYaml, type TestFolder, testFolder } from "../testing/folder.js";
import { inProcessEnds } from "../testing/in-process.js";

const ports = ["--grpc", "127.0.0.1:0", "--rest", "off", "--admin", "127.0.0.1:0"];
const diskKb = 4_096;

/** Starts `serve`; its files may not grow larger than that, unless it is 0. */
function serving(folder: TestFolder, state: string, limitKb: number): Running {
  const run = [process.execPath, ...process.execArgv, commandFile];
  const args = ["serve", join(folder.path, "config"), "--state", state, "--settle", "20ms", ...ports];
  const [program = "", ...more] =
    limitKb === 0 ? run : ["sh", "-c", `ulimit -f ${limitKb * 2}; exec "$@"`, "sh", ...run];
  return start(program, [...more, ...args]);
}

async function addressOf(running: Running, listener: "grpc" | "admin"): Promise<string> {
  await running.seen(/^ready$/m);
  return (await running.seen(new RegExp(`^${listener} listening on (\\S+)$`, "m")))[1] ?? "";
}

const large = (name: string) => `${clusterYaml(name)}alt_stat_name: ${"x".repeat(600_000)}\n`;

async function clustersOf(running: Running): Promise<readonly string[]> {
  const server = await addressOf(running, "grpc");
  const { out } = await inProcessEnds("get", "cluster", "--server", server, "--output", "name");
  return out.trim().split("\n").sort();
}

async function applied(folder: TestFolder, running: Running, name: string): Promise<{ status: number; err: string }> {
  const file = await folder.write("own.yaml", large(name));
  const { status, err } = await inProcessEnds(
    "apply",
    "-f",
    file,
    "--server",
    `http://${await addressOf(running, "admin")}`,
  );
  return { status: status ?? -1, err };
}

async function text(running: Running, path: string): Promise<string> {
  return await (await fetch(`http://${await addressOf(running, "admin")}${path}`)).text();
}

/** Fills the disk of a server over its API, and then its folder changes. Returns the clusters that it must keep. */
async function fill(folder: TestFolder, running: Running): Promise<readonly string[]> {
  const kept = ["cluster/a"];
  let refused = "";
  for (let index = 0; index < 20 && refused === ""; index += 1) {
    const { status, err } = await applied(folder, running, `large-${index}`);
    if (status === 0) kept.push(`cluster/large-${index}`);
    else refused = err;
  }
  assert.match(refused, /the store cannot be written: .+ \[XDSKIT_STORE\]/);
  assert.ok(kept.length > 2, `${kept.length} clusters are kept`);
  // What was refused is not served.
  assert.deepEqual(await clustersOf(running), [...kept].sort());
  assert.match(
    await text(running, "/readyz"),
    /^ready\nstore failing since 20\S+: \S+revisions\.db: the store cannot be written: /,
  );
  assert.match(await text(running, "/api/v1/problems"), /"title":"The store cannot be written"/);
  // The folder does not wait for a disk.
  await folder.write("config/b.yaml", large("b"));
  await eventually(
    () => clustersOf(running),
    (names) => names.includes("cluster/b"),
  );
  assert.equal(await text(running, "/livez"), "ok\n");
  return kept;
}

async function stop(running: Running): Promise<void> {
  running.kill("SIGTERM");
  assert.equal((await running.ended()).status, 0, running.err());
}

/** A small file system. Undefined: it cannot be made here, and the test is skipped. */
function smallDisk(t: TestContext, path: string): Disposable | undefined {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${diskKb}k`, "tmpfs", path], { stdio: "ignore" });
    return { [Symbol.dispose]: () => execFileSync("umount", ["-l", path], { stdio: "ignore" }) };
  } catch {
    t.skip("only root may mount a small file system");
    return undefined;
  }
}

describe("a whole server whose disk is full", () => {
  it("refuses what it cannot keep, serves the folder, and has all that it acknowledged after a restart", async () => {
    await using folder = await testFolder({ "config/a.yaml": clusterYaml("a") });
    const state = join(folder.path, "state");
    await using running = serving(folder, state, diskKb);
    const kept = await fill(folder, running);
    await stop(running);
    await using again = serving(folder, state, 0);
    assert.deepEqual(await clustersOf(again), [...kept, "cluster/b"].sort());
    assert.equal(await text(again, "/readyz"), "ready\n");
    assert.equal((await applied(folder, again, "more")).status, 0);
  });

  it("writes again once there is room, and starts from a disk that is full", async (t) => {
    await using folder = await testFolder({ "config/a.yaml": clusterYaml("a"), "disk/.keep": "" });
    using mounted = smallDisk(t, join(folder.path, "disk"));
    if (mounted === undefined) return;
    const state = join(folder.path, "disk/state");
    // Renaming does not work across file systems.
    const filler = join(folder.path, "disk/filler");
    await writeFile(filler, "x".repeat(1_000_000));
    await using running = serving(folder, state, 0);
    const kept = await fill(folder, running);
    await rm(filler);
    await eventually(
      () => text(running, "/readyz"),
      (answer) => answer === "ready\n",
    );
    await writeFile(filler, "x".repeat(diskKb * 1_000)).catch(() => {});
    await stop(running);
    await using again = serving(folder, state, 0);
    assert.deepEqual(await clustersOf(again), [...kept, "cluster/b"].sort());
  });
});
