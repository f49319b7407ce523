import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmod, mkdir, open, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { isAbsolute, join } from "node:path";
import { test } from "node:test";
import { createConfigFolder } from "./harness/basics/config-folder.js";
import { metric } from "./harness/basics/metrics.js";
import { cluster, configSource, loadAssignment } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually, quiet, within } from "./harness/basics/wait.js";
import { clusterType, deltaRequest, endpointType, message, request } from "./harness/basics/wire.js";
import { ads, createRawClient, deltaAds, observe } from "./harness/peers/raw-client.js";
import { serve, startServe, xdskitCommand } from "./harness/xdskit/xdskit.js";

const source = configSource("ads-sotw");
const status = { invalidArgument: 3, resourceExhausted: 8, unimplemented: 12, internal: 13 } as const;

const nobody = 65_534;

/** Why a user cannot read the command under test, such as a checkout below `/root`; undefined: it can. */
function unreadableFor(uid: number): string | undefined {
  const { command, args } = xdskitCommand();
  const files = JSON.stringify(args.filter(isAbsolute));
  const script = `for (const file of ${files}) require("fs").accessSync(file, require("fs").constants.R_OK)`;
  const { error, status, stderr } = spawnSync(process.execPath, ["-e", script], { uid, cwd: "/", encoding: "utf8" });
  if (error !== undefined) return error.message;
  if (status === 0) return undefined;
  return /^Error: .*/m.exec(stderr)?.[0] ?? `${command} ended with status ${status}`;
}

/** The clusters `a` with that timeout in seconds. */
const clusters = (seconds: number) => [cluster({ name: "a", source, connectTimeout: `${seconds}s` })];

test("bad input over the wire", { timeout: 240_000 }, async (t) => {
  const scene = await createScene(t);
  const folder = await createConfigFolder(scene.directory, {
    "clusters.yaml": clusters(1),
    "endpoints.yaml": [loadAssignment("a", [9_999])],
  });
  const server = await serve(scene, folder.path);
  const observer = observe(scene, server.grpc, "observer");
  await observer.sees("a=1");
  const client = createRawClient(scene, server.grpc);
  let seconds = 1;

  /** After each kind of bad input the server must serve all others as if nothing had been. */
  const step = (name: string, run: () => Promise<void>): Promise<boolean> =>
    scene.step(name, async () => {
      await run();
      seconds += 1;
      await folder.put({ "clusters.yaml": clusters(seconds) });
      await observer.sees(`a=${seconds}`);
      assert.ok(observer.isConnected());
      assert.ok(server.process.isRunning());
    });
  const endOf = async (method: string, ...requests: readonly Uint8Array[]): Promise<number> => {
    const stream = client.open(method);
    for (const bytes of requests) stream.send(bytes);
    return (await stream.status()).code;
  };

  await step("a client without a node ends with INVALID_ARGUMENT", async () => {
    assert.equal(await endOf(ads, request({ type: clusterType })), status.invalidArgument);
    assert.equal(await endOf(deltaAds, deltaRequest({ type: clusterType })), status.invalidArgument);
  });

  await step("a request above the limit ends with RESOURCE_EXHAUSTED (rule 162)", async () => {
    const big = createRawClient(scene, server.grpc);
    const stream = big.open(ads);
    stream.send(request({ type: clusterType, node: "x".repeat(17 * 1024 * 1024) }));
    assert.equal((await stream.status()).code, status.resourceExhausted);
    big.close();
  });

  await step("too many names end with RESOURCE_EXHAUSTED", async () => {
    const names = Array.from({ length: 100_001 }, (_, index) => `n${index}`);
    assert.equal(await endOf(ads, request({ type: endpointType, node: "greedy", names })), status.resourceExhausted);
  });

  await step("a flood of requests ends with RESOURCE_EXHAUSTED", async () => {
    const stream = client.open(ads);
    stream.send(request({ type: clusterType, node: "flood" }));
    for (let sent = 0; sent < 100_000 && stream.isOpen(); sent += 500) {
      for (let index = 0; index < 500; index += 1) stream.send(request({ type: endpointType, names: [`n${index}`] }));
      await quiet(1);
    }
    assert.equal((await stream.status()).code, status.resourceExhausted);
  });

  await step("an unknown method is UNIMPLEMENTED", async () => {
    assert.equal(await endOf("/envoy.service.cluster.v3.ClusterDiscoveryService/Nothing"), status.unimplemented);
  });

  await step("bytes that are not gRPC do no harm", async () => {
    const [host = "", port = ""] = server.grpc.split(":");
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), host, () => socket.write(Buffer.alloc(100_000, "not http at all\r\n")));
      socket.on("error", () => undefined);
      socket.on("close", () => resolve());
      socket.setTimeout(2_000, () => socket.destroy());
    });
    await new Promise<void>((resolve) => {
      const plain = httpRequest({ host, port, path: "/", timeout: 2_000 }, (answer) => answer.resume());
      plain.on("timeout", () => plain.destroy());
      plain.on("error", () => undefined);
      plain.on("close", () => resolve());
      plain.end();
    });
  });

  assert.ok((await metric(server.admin, "xdskit_refused_total")) >= 5, "refusals are counted");
  assert.deepEqual(
    server.process.stderr.filter((line) => /^\s+at /.test(line)),
    [],
  );
});

test("bad files", { timeout: 300_000 }, async (t) => {
  const scene = await createScene(t);
  const folder = await createConfigFolder(scene.directory, { "clusters.yaml": clusters(1) });
  const server = await serve(scene, folder.path);
  const observer = observe(scene, server.grpc, "observer");
  await observer.sees("a=1");
  const at = (name: string): string => join(folder.path, name);
  let seconds = 1;

  const sources = async (): Promise<string> =>
    (await fetch(`http://${server.admin}/api/v1/sources`, { signal: AbortSignal.timeout(20_000) })).text();

  /**
   * `spoil` makes something bad. The error is then shown with its code and logged, a change beside it is not taken, and
   * clients, old and new, have the last good configuration. After `fix` the change is taken. While the whole folder is
   * gone, the change comes afterwards.
   */
  const step = (
    name: string,
    bad: {
      readonly code: string;
      readonly names: RegExp;
      readonly spoil: () => Promise<unknown>;
      readonly fix: () => Promise<unknown>;
      readonly folderIsGone?: boolean;
    },
  ): Promise<boolean> =>
    scene.step(name, async () => {
      const responses = observer.responses();
      const change = () => folder.put({ "clusters.yaml": clusters(seconds + 1) });
      const logged = server.process.stderr.length;
      await bad.spoil();
      try {
        await eventually(
          `${bad.code} among the findings`,
          async () => {
            const text = await sources();
            if (text.includes(bad.code) && bad.names.test(text)) return true;
            throw new Error(text);
          },
          { withinMs: 30_000 },
        );
        await eventually("a line in the log", () =>
          server.process.stderr.slice(logged).some((line) => bad.names.test(line)),
        );
        if (!bad.folderIsGone) await change();
        await quiet(300);
        assert.equal(observer.responses(), responses);
        await observe(scene, server.grpc, "newcomer").sees(`a=${seconds}`);
        assert.ok((await metric(server.admin, "xdskit_source_findings", { severity: "error" })) > 0);
      } finally {
        await bad.fix();
      }
      if (bad.folderIsGone) await change();
      seconds += 1;
      await observer.sees(`a=${seconds}`);
      await eventually("no findings any more", async () => !(await sources()).includes(bad.code));
      assert.ok(server.process.isRunning());
    });
  const file = (name: string, text: string | Uint8Array) => ({
    spoil: () => folder.putText(name, text),
    fix: () => folder.remove(name),
  });

  const whole = await readFile(at("clusters.yaml"), "utf8");
  await step("a YAML file that is cut off", {
    code: "XDSKIT_SYNTAX",
    names: /cut\.yaml/,
    ...file("cut.yaml", `${whole.slice(0, whole.indexOf("eds_config") + 4)}\n  : {`),
  });
  await step("a JSON file that is cut off", {
    code: "XDSKIT_SYNTAX",
    names: /cut\.json/,
    ...file("cut.json", JSON.stringify({ resources: clusters(1) }).slice(0, -5)),
  });
  await step("a binary file that is cut off", {
    code: "XDSKIT_SYNTAX",
    names: /cut\.pb/,
    ...file("cut.pb", message([2, message([1, clusterType], [2, message([1, "b"])])]).subarray(0, -2)),
  });
  await step("a file that is no text", {
    code: "XDSKIT_SYNTAX",
    names: /noise\.yaml/,
    ...file("noise.yaml", Buffer.from([0, 1, 2, 0xff, 0xfe, 0x80, 10, 58, 32])),
  });
  await step("a resource that breaks a rule", {
    code: "XDSKIT_RULE_BROKEN",
    names: /rule\.yaml/,
    ...file(
      "rule.yaml",
      JSON.stringify({
        "@type": clusterType,
        name: "b",
        type: "EDS",
        eds_cluster_config: { service_name: "b" },
        connect_timeout: "-1s",
      }),
    ),
  });
  await step("a name that two files have", {
    code: "XDSKIT_DUPLICATE_RESOURCE",
    names: /clusters\.yaml|twice\.yaml/,
    ...file("twice.yaml", whole),
  });
  await step("a symbolic link that leads to itself", {
    code: "XDSKIT_FILE_UNREADABLE",
    names: /loop\.yaml/,
    spoil: () => symlink("loop.yaml", at("loop.yaml")),
    fix: () => folder.remove("loop.yaml"),
  });
  await step("a symbolic link to a folder above", {
    code: "XDSKIT_FILE_UNREADABLE",
    names: /circle/,
    spoil: () => symlink("..", at("circle")),
    fix: () => rm(at("circle")),
  });
  await step("a file of 100 MB", {
    code: "XDSKIT_FILE_UNREADABLE",
    names: /big\.yaml/,
    spoil: async () => {
      const big = await open(join(scene.directory, "big"), "w");
      const line = Buffer.alloc(1024 * 1024, `- "@type": ${clusterType}\n`);
      for (let written = 0; written < 100; written += 1) await big.write(line);
      await big.close();
      await rename(join(scene.directory, "big"), at("big.yaml"));
    },
    fix: () => folder.remove("big.yaml"),
  });
  await step("a folder that vanishes and comes back", {
    code: "XDSKIT_FOLDER_MISSING",
    names: /config/,
    folderIsGone: true,
    spoil: () => rename(folder.path, `${folder.path}.away`),
    fix: () => rename(`${folder.path}.away`, folder.path),
  });
  await step("a folder that is empty for a while", {
    code: "XDSKIT_NO_VALID_FILE",
    names: /config/,
    folderIsGone: true,
    spoil: async () => {
      await mkdir(join(scene.directory, "empty"));
      await symlink("empty", join(scene.directory, "empty-link"));
      await rename(folder.path, `${folder.path}.away`);
      await rename(join(scene.directory, "empty-link"), folder.path);
    },
    fix: () => rename(`${folder.path}.away`, folder.path),
  });
  // The log tells users' errors in its own words, never by a stack trace.
  assert.deepEqual(
    server.process.stderr.filter((line) => /^\s+at /.test(line)),
    [],
  );
});

test("an unreadable file is reported, and later changes of the others are served", { timeout: 180_000 }, async (t) => {
  const scene = await createScene(t);
  await chmod(scene.directory, 0o755);
  const folder = await createConfigFolder(scene.directory, { "clusters.yaml": clusters(1) });
  // The superuser reads everything, so the server runs as nobody then.
  const isRoot = process.getuid?.() === 0;
  const unreadable = isRoot ? unreadableFor(nobody) : undefined;
  if (unreadable !== undefined) return t.skip(`the user nobody cannot run the command: ${unreadable}`);
  const server = await serve(scene, folder.path, isRoot ? { uid: nobody } : {});
  const observer = observe(scene, server.grpc, "observer");
  await observer.sees("a=1");
  const secret = join(folder.path, "secret.yaml");
  await writeFile(secret, "[]", { mode: 0o000 });
  await server.process.errorLine(/XDSKIT_FILE_UNREADABLE.*secret\.yaml|secret\.yaml.*XDSKIT_FILE_UNREADABLE/);
  await chmod(secret, 0o644);
  await folder.put({ "clusters.yaml": clusters(2) });
  await observer.sees("a=2");
});

test("nothing to serve", { timeout: 240_000 }, async (t) => {
  const scene = await createScene(t);

  await scene.step("a folder that is missing ends it with status 2", async () => {
    const server = startServe(scene, join(scene.directory, "missing"));
    assert.deepEqual(await within("its end", 60_000, server.ended), { code: 2, signal: null });
    assert.match(server.stderr.join("\n"), /XDSKIT_FOLDER_MISSING.*missing|missing.*XDSKIT_FOLDER_MISSING/);
    assert.equal(server.stdout.includes("ready"), false);
  });

  await scene.step("a folder without a valid file ends it with status 2", async () => {
    const folder = await createConfigFolder(scene.directory, {});
    await folder.putText("broken.yaml", "{");
    const server = startServe(scene, folder.path);
    assert.deepEqual(await within("its end", 60_000, server.ended), { code: 2, signal: null });
    assert.match(server.stderr.join("\n"), /broken\.yaml/);
  });

  await scene.step("a folder with an error in one file is served once that is fixed, and then whole", async () => {
    const parent = join(scene.directory, "mixed");
    await mkdir(parent);
    const folder = await createConfigFolder(parent, { "clusters.yaml": clusters(5) });
    await folder.putText("broken.yaml", "{");
    const server = startServe(scene, folder.path);
    const [, admin = ""] = await server.line(/^admin listening on (\S+)$/);
    const ready = async () => (await fetch(`http://${admin}/readyz`)).status;
    assert.equal(await ready(), 503);
    assert.doesNotMatch(server.stdout.join("\n"), /grpc|rest|ready/);
    await folder.remove("broken.yaml");
    const [, grpc = ""] = await server.line(/^grpc listening on (\S+)$/);
    await server.line(/^ready$/);
    assert.equal(await ready(), 200);
    await observe(scene, grpc, "observer").sees("a=5");
    await server.stop("SIGTERM", 6_000);
  });

  await scene.step("--allow-empty starts without files and takes them when they come", async () => {
    const empty = join(scene.directory, "later");
    const server = await serve(scene, empty, { args: ["--allow-empty"] });
    const observer = observe(scene, server.grpc, "observer");
    await mkdir(empty);
    await writeFile(join(empty, "clusters.json"), JSON.stringify(clusters(3)));
    await observer.sees("a=3");
    const ending = await server.process.stop("SIGTERM", 6_000);
    assert.deepEqual(ending, { code: 0, signal: null });
  });
});
