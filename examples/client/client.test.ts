import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

test("the client's example follows what xdskit serve has", { timeout: 120_000 }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "xdskit-example-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await cp(at("../quickstart/config"), folder, { recursive: true });
  const ports = ["--grpc", "127.0.0.1:0", "--rest", "127.0.0.1:0", "--admin", "127.0.0.1:0"];
  const server = run(t, at("../../packages/xdskit/bin/xdskit.cjs"), "serve", folder, ...ports);
  const address = (await server.line(/^grpc listening on (.*)$/))[1] ?? "";
  await server.line(/^ready$/);

  const client = run(t, at("./main.ts"), address);
  await client.line(/^one: 127\.0\.0\.1:10001$/);
  await client.line(/^two: 127\.0\.0\.1:10002$/);

  await edit(join(folder, "endpoints.yaml"), "port_value: 10002", "port_value: 10003");
  await client.line(/^two: 127\.0\.0\.1:10003$/);
  await edit(join(folder, "routes.yaml"), "cluster: one", "cluster: two");
  await client.line(/^one: not used any more$/);
  assert.equal(client.lines.filter((line) => line.startsWith("one: 127")).length, 1, client.lines.join("\n"));

  client.child.kill("SIGTERM");
  assert.deepEqual(await once(client.child, "exit"), [0, null]);
});

/** Writes beside the file and renames over it, so that nobody reads a half. */
async function edit(path: string, from: string, to: string): Promise<void> {
  const text = await readFile(path, "utf8");
  assert.ok(text.includes(from));
  await writeFile(`${path}.new`, text.replace(from, to));
  await rename(`${path}.new`, path);
}

interface Running {
  readonly child: ChildProcess;
  readonly lines: readonly string[];
  /** Waits for a line. */
  line(pattern: RegExp): Promise<RegExpExecArray>;
}

function run(t: TestContext, ...programAndArguments: readonly string[]): Running {
  const child = spawn(process.execPath, [...process.execArgv, ...programAndArguments], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  const lines: string[] = [];
  let wake = () => {};
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line);
    wake();
  });
  child.on("exit", () => wake());
  const line = async (pattern: RegExp) => {
    for (;;) {
      const found = lines.map((line) => pattern.exec(line)).find((match) => match !== null);
      if (found) return found;
      if (child.exitCode !== null) throw new Error(`it ended before ${pattern}:\n${lines.join("\n")}`);
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return { child, lines, line };
}
