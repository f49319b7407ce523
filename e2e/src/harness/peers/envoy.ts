import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { parse, stringify } from "yaml";
import type { Process } from "../basics/process.js";
import type { AnyVariant } from "../basics/resources.js";
import type { Scene } from "../basics/scene.js";
import { eventually } from "../basics/wait.js";
import { xdskitCommand } from "../xdskit/xdskit.js";
import { createEnvoyAdmin, type EnvoyAdmin } from "./envoy-admin.js";
import { tapped } from "./tap.js";

const execute = promisify(execFile);

/** A running Envoy. */
export interface Envoy {
  readonly process: Process;
  readonly admin: EnvoyAdmin;
}

export interface EnvoyOptions {
  /** The executable. */
  readonly path: string;
  /** `host:port` of the management server. */
  readonly server: string;
  readonly variant: AnyVariant;
  readonly id?: string;
  /** Do not wait until all is loaded. */
  readonly onlyStart?: boolean;
  /** How long it may take until all is loaded. */
  readonly withinMs?: number;
  /** How long it drains listeners that were replaced. Default: 600, as everybody's. */
  readonly drainSeconds?: number;
  /** Further fields of the bootstrap. */
  readonly bootstrap?: Readonly<Record<string, unknown>>;
  /** XDSKIT_E2E_ENVOY_LOG has the same effect. `upstream:debug,config:trace` shows the protocol. */
  readonly componentLogLevel?: string;
  /** More options of `xdskit bootstrap`. */
  readonly bootstrapArgs?: readonly string[];
}

let started = 0;

/** Starts Envoy with that variant of the protocol and waits until it serves. */
export async function startEnvoy(scene: Scene, options: EnvoyOptions): Promise<Envoy> {
  started += 1;
  const prefix = join(scene.directory, `envoy-${started}`);
  const server = options.variant === "rest" ? options.server : await tapped(scene, options.server);
  await writeFile(`${prefix}.yaml`, await bootstrap({ ...options, server }));
  const logLevel = options.componentLogLevel ?? process.env.XDSKIT_E2E_ENVOY_LOG;
  const envoy = scene.start({
    name: "envoy",
    command: options.path,
    args: [
      ...["--config-path", `${prefix}.yaml`, "--admin-address-path", `${prefix}.admin`],
      ...["--use-dynamic-base-id", "--concurrency", "1", "--log-level", "warning"],
      // Left out, it is as Envoy is shipped: 600 s, in which connections are asked to close bit by bit.
      ...(options.drainSeconds === undefined ? [] : ["--drain-time-s", `${options.drainSeconds}`]),
      ...(logLevel === undefined ? [] : ["--component-log-level", logLevel]),
    ],
  });
  const withinMs = options.withinMs ?? 60_000;
  const address = await eventually(
    "Envoy's admin address",
    async () => {
      if (!envoy.isRunning()) throw new Error("Envoy ended");
      const text = await readFile(`${prefix}.admin`, "utf8");
      return text !== "" && text;
    },
    { withinMs },
  );
  const admin = createEnvoyAdmin(address);
  if (!options.onlyStart) await eventually("Envoy being LIVE", () => admin.isLive(), { withinMs });
  return { process: envoy, admin };
}

/** What `xdskit bootstrap` prints for that variant, and what the test adds to it. */
async function bootstrap(options: EnvoyOptions): Promise<string> {
  const { server, variant, id = "envoy-1", bootstrapArgs = [], bootstrap: more } = options;
  const { command, args } = xdskitCommand();
  const { stdout } = await execute(command, [
    ...args,
    "bootstrap",
    ...["--server", server, "--node-id", id, "--node-cluster", "e2e", "--admin-port", "0"],
    ...["--variant", variant === "rest" ? "rest" : variant.endsWith("delta") ? "delta" : "sotw"],
    ...(variant.startsWith("ads") ? ["--ads"] : variant.startsWith("per-type") ? ["--per-type"] : []),
    ...bootstrapArgs,
  ]);
  return more === undefined ? stdout : stringify({ ...parse(stdout), ...more });
}
