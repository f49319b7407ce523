import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findPeer, root } from "../basics/peers.js";
import { freePort } from "../basics/ports.js";
import type { Process } from "../basics/process.js";
import type { Scene } from "../basics/scene.js";
import { xdskitCommand } from "../xdskit/xdskit.js";
import { type PageStep, pageSteps } from "./page-steps.js";

/** The ports that pages name. Each becomes a free one. */
const portsOfPages = [
  "8080",
  "8081",
  "8500",
  "9901",
  "9902",
  "10000",
  "10001",
  "18000",
  "18001",
  "19000",
  "50051",
  "50052",
  "28000",
  "29000",
];
const patienceMs = 60_000;

interface Reader {
  readonly scene: Scene;
  /** The folder in which the reader works, empty at first. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly ports: ReadonlyMap<string, string>;
  readonly started: Process[];
}

/**
 * Does what a page says, in an empty folder, as somebody would who copies each block. `excerpt` judges the blocks that
 * are only a part of a program. `more`: variables and programs (shell scripts by name) that this page's reader has, and
 * ports on which nothing listens here.
 */
export async function followPage(
  scene: Scene,
  name: string,
  excerpt: (step: PageStep & { kind: "excerpt" }) => void = ({ language, text }) =>
    assert.fail(`${name}: nobody runs this block of ${language}:\n${text}`),
  more: More = { env: {}, programs: {}, others: [] },
): Promise<void> {
  const reader = await createReader(scene, more);
  const steps = pageSteps(name);
  assert.ok(steps.length >= 5, `${name} has ${steps.length} blocks`);
  for (const step of steps) {
    if (step.kind === "excerpt") excerpt(step);
    else if (step.kind === "file") await writeStep(reader, step);
    else if (step.kind === "start") await start(reader, step.commands);
    else await runStep(reader, `docs/${name}.md:${step.line}`, step);
  }
}

interface More {
  readonly env: Readonly<Record<string, string>>;
  readonly programs: Readonly<Record<string, string>>;
  readonly others: readonly string[];
}

async function createReader(scene: Scene, more: More): Promise<Reader> {
  const folder = join(scene.directory, "reader");
  const bin = join(scene.directory, "bin");
  await mkdir(folder);
  await mkdir(bin);
  const ports = new Map<string, string>();
  for (const port of portsOfPages) ports.set(port, more.others.includes(port) ? port : String(await freePort()));
  const at = (port: string): string => `127.0.0.1:${ports.get(port)}`;
  const { command, args } = xdskitCommand();
  const program = async (name: string, text: string): Promise<void> => {
    await writeFile(join(bin, name), `#!/bin/sh\n${text}\n`);
    await chmod(join(bin, name), 0o755);
  };
  const xdskit = `"${[command, ...args].join('" "')}"`;
  // The files that `init` writes name a port, too.
  const init = `[ "$1" = init ] && { ${xdskit} "$@"; exec sed -i s/10000/${ports.get("10000")}/ config/listener.yaml; }`;
  await program("npx", `[ "$1" = xdskit ] || exit 2\nshift\n${init}\nexec ${xdskit} "$@"`);
  // What the page installs is what the checkout has.
  await program(
    "npm",
    `for each in "$@"; do case $each in @*) [ -d "${root}/node_modules/$each" ] || exit 1;; esac; done`,
  );
  await program("pip", "exit 0");
  const python = findPeer("python-grpc");
  if (python !== undefined) await symlink(python, join(bin, "python3"));
  const envoy = findPeer("envoy");
  // Other Envoys run on this machine.
  if (envoy !== undefined)
    await program(
      "envoy",
      `case " $* " in *--use-dynamic-base-id*) ;; *) set -- "$@" --use-dynamic-base-id;; esac
exec "${envoy}" "$@" --concurrency 1 --log-level warning`,
    );
  for (const [name, text] of Object.entries(more.programs)) await program(name, text);
  for (const part of ["node_modules", "deploy"]) await symlink(join(root, part), join(folder, part));
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: scene.directory,
    XDG_STATE_HOME: join(scene.directory, "state"),
    XDSKIT_GRPC: at("18000"),
    XDSKIT_REST: at("18001"),
    XDSKIT_ADMIN: at("19000"),
    XDSKIT_SERVER: `http://${at("19000")}`,
    XDSKIT_XDS_SERVER: at("18000"),
    XDSKIT_ADMIN_PORT: ports.get("9901") ?? "",
    // Of examples/control-plane.
    REGISTRY: at("8500"),
    GRPC: at("18000"),
    ADMIN: at("19000"),
    INGRESS: at("10000"),
    LEASE_SECONDS: "4",
    ...more.env,
  };
  return { scene, folder, env, ports, started: [] };
}

const withPorts = ({ ports }: Reader, text: string): string =>
  text.replaceAll("CLONE/", `${root}/`).replace(/\b\d{4,5}\b/g, (number) => ports.get(number) ?? number);

async function writeStep(reader: Reader, { path, text }: PageStep & { kind: "file" }): Promise<void> {
  const file = join(reader.folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, withPorts(reader, text));
}

/** Starts the commands of a block in a terminal of their own, and waits until a server serves. */
async function start(reader: Reader, commands: string): Promise<void> {
  const lines = commands.trimEnd().split("\n");
  // The shell becomes the last command, so that this is what ends with the scene.
  const script = [...lines.slice(0, -1), `exec ${lines.at(-1)}`].join("\n");
  const { folder: cwd, env, scene } = reader;
  const started = scene.start({
    name: lines.at(-1) ?? "",
    command: "bash",
    cwd,
    env,
    args: ["-e", "-o", "pipefail", "-c", withPorts(reader, script)],
  });
  reader.started.push(started);
  if (/ xdskit serve/.test(commands)) await started.line(/^ready$/, patienceMs);
}

/** Runs a block until its last command prints what the page shows: a change may take a moment. */
async function runStep(reader: Reader, place: string, { commands, says }: PageStep & { kind: "run" }): Promise<void> {
  const wanted = withPorts(reader, says.join("\n")).split("\n");
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const { status, out } = await shell(reader, withPorts(reader, commands));
    const missing = says.length === 0 ? [] : notSaid(out, wanted);
    if (status === 0 && missing.length === 0) return;
    // Only what has an output to wait for may be run again.
    if (says.length === 0 || Date.now() > deadline) {
      for (const { name, stderr } of reader.started) console.error(`--- ${name}\n${stderr.slice(-20).join("\n")}`);
      assert.fail(`${place}: status ${status}, not said: ${missing.join(" | ")}\n${commands}\n${out}`);
    }
    await sleep(300);
  }
}

/** The lines whose words no line of the output has, each in its order. */
function notSaid(out: string, wanted: readonly string[]): readonly string[] {
  const words = (line: string): readonly string[] => line.split(/\s+/).filter((word) => word !== "");
  return wanted.filter((line) => {
    return !out.split("\n").some((printed) => {
      let from = 0;
      return words(line).every((word) => {
        const at = printed.indexOf(word, from);
        from = at + word.length;
        return at >= 0;
      });
    });
  });
}

function shell({ folder: cwd, env }: Reader, script: string): Promise<{ status: number | null; out: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn("bash", ["-e", "-o", "pipefail", "-c", script], { cwd, env, timeout: patienceMs });
    let out = "";
    const add = (chunk: Buffer): void => {
      out += chunk;
    };
    child.stdout.on("data", add);
    child.stderr.on("data", add);
    child.on("error", reject);
    child.on("close", (status) => resolve({ status, out }));
  });
}
