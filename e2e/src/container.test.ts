import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { peer, root } from "./harness/basics/peers.js";
import type { Process } from "./harness/basics/process.js";
import { createScene, type Scene } from "./harness/basics/scene.js";

const dockerfile = join(root, "deploy/container/Dockerfile");
const text = readFileSync(dockerfile, "utf8").replaceAll(/\\\n\s*/g, "");
const quickstart = join(root, "examples/quickstart/config");

/** The last instruction of a name, as JSON where it is a list. */
function instruction(name: string): string {
  return [...text.matchAll(new RegExp(`^${name} (.*)$`, "gm"))].at(-1)?.[1] ?? assert.fail(name);
}

const listOf = (name: string) => JSON.parse(instruction(name)) as readonly string[];
const environment = instruction("ENV")
  .split(/\s+/)
  .map((word) => word.split("=", 2));

test("hadolint finds nothing in the Dockerfile", (t) => {
  const hadolint = peer("hadolint", t);
  if (hadolint === undefined) return;
  const { status, stdout } = spawnSync(hadolint, ["--no-color", dockerfile], { encoding: "utf8" });
  assert.equal(status, 0, stdout);
});

/** What a container is: its processes, and the folders of it that are written. */
interface Container {
  /** Runs a command line as the image's user. */
  run(words: readonly string[], folder?: string): Process;
  /** Ends it as an engine does: a signal for PID 1. */
  stop(process: Process): Promise<void>;
  readonly state: string;
}

/** The image's files, user and environment, with a root that cannot be written, and no engine. */
async function container(scene: Scene, t: TestContext): Promise<Container | undefined> {
  const [bwrap, node] = [peer("bwrap", t), peer("node-24", t)];
  if (bwrap === undefined || node === undefined) return undefined;
  const [app, made] = [join(scene.directory, "app"), join(scene.directory, "bundle")];
  const { bundle } = (await import(join(root, "packages/xdskit/scripts/bundle.mjs"))) as {
    bundle(folder: string, options: { readonly fromSources: boolean }): Promise<void>;
  };
  await bundle(made, { fromSources: true });
  execFileSync(process.execPath, [join(root, "deploy/container/files.mjs"), app, made]);
  const [state, sockets] = [join(scene.directory, "state"), join(scene.directory, "sockets")];
  const [uid = "", gid = ""] = instruction("USER").split(":");
  for (const folder of [state, sockets]) mkdirSync(folder, { mode: 0o700 });
  // bwrap lets whoever runs the test be the image's user in there, so that both folders are that user's.
  const system = ["lib", "lib64", "bin"].flatMap((name) => ["--symlink", `usr/${name}`, `/${name}`]);
  const set = [...environment, ["PATH", `${dirname(node)}:/usr/bin`]].flatMap((pair) => ["--setenv", ...pair]);
  const run = (words: readonly string[], folder = quickstart): Process =>
    scene.start({
      name: `container ${words[2]}`,
      command: "sh",
      args: [
        // On standard output it says, besides, which process is PID 1 there.
        ...["-c", 'exec "$@" 3>&1', "sh", bwrap, "--info-fd", "3"],
        ...["--unshare-pid", "--unshare-ipc", "--die-with-parent", "--as-pid-1", "--clearenv", ...set],
        ...["--ro-bind", "/usr", "/usr", ...system, "--proc", "/proc", "--dev", "/dev"],
        ...["--ro-bind", dirname(node), dirname(node), "--ro-bind", app, "/app"],
        ...["--bind", state, "/var/lib/xdskit", "--bind", sockets, "/run/xdskit", "--ro-bind", folder, "/config"],
        ...["--remount-ro", "/", "--uid", uid, "--gid", gid, "--unshare-user", "--chdir", instruction("WORKDIR"), "--"],
        ...words,
      ],
    });
  return {
    run,
    state,
    async stop(started) {
      const [, pid] = await started.line(/"child-pid": (\d+)/);
      process.kill(Number(pid), "SIGTERM");
    },
  };
}

test("the image starts without an engine, and does what the Dockerfile says", async (t) => {
  const scene = await createScene(t);
  const own = await container(scene, t);
  if (own === undefined) return;
  const [entry, usual] = [listOf("ENTRYPOINT"), listOf("CMD")];
  const check = [
    ...entry,
    ...(JSON.parse(/ CMD (\[.*\])/.exec(instruction("HEALTHCHECK"))?.[1] ?? "[]") as string[]).slice(1),
  ];
  const endOf = async (words: readonly string[]) => {
    const started = own.run(words);
    const { code } = await started.ended;
    return { code, out: started.stdout.join("\n"), err: started.stderr.join("\n") };
  };

  await scene.step("ends as it is, with the line that closes its open port", async () => {
    const { code, err } = await endOf([...entry, ...usual]);
    assert.equal(code, 2, err);
    assert.match(err, /grpc listens beyond this machine without TLS.*Write into the settings tls:/);
    assert.equal((await endOf(check)).code, 1);
  });

  await scene.step("is healthy as PID 1 of a read-only root, keeps its state, and ends in order", async () => {
    const free = usual.map((word) => word.replace(/:18000$/, ":0"));
    const server = own.run([...entry, ...free, "--insecure"]);
    await server.line(/^ready$/);
    const health = await endOf(check);
    assert.equal(health.code, 0, health.err);
    assert.match(health.out, /^ready$/m);
    const history = await endOf([...entry, "history"]);
    assert.match(history.out, /uid 65532 {2}clusters\.yaml/, history.err);
    await own.stop(server);
    assert.deepEqual(await server.ended, { code: 0, signal: null }, server.stderr.join("\n"));
    assert.match(server.stderr.join("\n"), /stopping: streams are ended/);
    assert.doesNotMatch(server.stderr.join("\n"), /cannot be|without a state/);
    assert.equal(readdirSync(own.state).length, 1);
  });

  await scene.step("serves the state of before when the folder has errors", async () => {
    const broken = join(scene.directory, "broken");
    mkdirSync(broken);
    writeFileSync(join(broken, "clusters.yaml"), "a: [");
    const server = own.run([...entry, ...usual.map((word) => word.replace(/:18000$/, ":0")), "--insecure"], broken);
    await server.line(/^ready$/);
    assert.match((await endOf(check)).out, /^degraded: /m);
    await own.stop(server);
    assert.equal((await server.ended).code, 0);
  });
});
