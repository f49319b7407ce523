import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { findPeer, peer, root } from "../basics/peers.js";
import type { Process } from "../basics/process.js";
import type { Scene } from "../basics/scene.js";
import { eventually, type Patience } from "../basics/wait.js";
import { xdskitCommand } from "../xdskit/xdskit.js";
import { tapped } from "./tap.js";

const execute = promisify(execFile);

/** gRPC's own xDS clients. */
export const grpcClients = ["grpc-js", "python", "go", "go-v2", "java"] as const;
/** `tonic`: of Rust, which few machines have (`e2e/peers/install.sh rust`). No test is skipped without it. */
export type GrpcClientName = (typeof grpcClients)[number] | "tonic";

const keptFailures = 100;

/** The template by which an xDS-enabled gRPC server names its listener. */
export const serverListenerName = (address: string): string => `grpc/server?xds.resource.listening_address=${address}`;

/** A client program that calls one target over and over. */
export interface GrpcClient {
  readonly process: Process;
  /** Calls that were answered so far. */
  ok(): number;
  /**
   * The first calls that failed, each with its code and message; not counted: a few by a fault known to be the client's
   * own.
   */
  failures(): readonly string[];
  /** The backends that answered the last `count` calls. */
  lastBackends(count: number): readonly string[];
}

/** How to run a client's program, or undefined when it is not installed and the test is skipped. */
export function grpcClientCommand(name: GrpcClientName, t: TestContext): readonly string[] | undefined {
  const command = (program: string | undefined, ...args: string[]) => program && [program, ...args];
  switch (name) {
    case "grpc-js":
      return [process.execPath, join(root, "e2e/peers/node/client.mjs")];
    case "python":
      return command(peer("python-grpc", t), join(root, "e2e/peers/python/client.py")) || undefined;
    case "go":
      return command(peer("go-grpc-client", t)) || undefined;
    case "go-v2":
      return command(peer("go-grpc-v2-client", t)) || undefined;
    case "java":
      return command(peer("java-grpc-client", t)) || undefined;
    case "tonic":
      return command(findPeer("rust-grpc-client")) || undefined;
  }
}

/**
 * Writes what `xdskit bootstrap --grpc-client` prints for the management server at `server`, and returns its path.
 * A client of 2020 gets no `server_features`: it speaks v2 then.
 */
export async function writeGrpcBootstrap(
  scene: Scene,
  id: string,
  server: string,
  api: "v2" | "v3",
  bootstrapArgs: readonly string[] = [],
): Promise<string> {
  const { command, args } = xdskitCommand();
  const { stdout } = await execute(command, [
    ...[...args, "bootstrap", "--grpc-client"],
    ...["--server", server, "--node-id", id, ...bootstrapArgs],
  ]);
  const bootstrap = JSON.parse(stdout) as { xds_servers: { server_features?: unknown }[] };
  if (api === "v2") for (const entry of bootstrap.xds_servers) delete entry.server_features;
  const path = join(scene.directory, `${id}.json`);
  await writeFile(path, JSON.stringify(bootstrap));
  return path;
}

/** Starts calling `xds:///TARGET` about 50 times a second, or with another pause between a call's end and the next. */
export async function startGrpcClient(
  scene: Scene,
  options: {
    readonly name: GrpcClientName;
    readonly command: readonly string[];
    readonly server: string;
    readonly target: string;
    /** Default: `client-NAME`. */
    readonly id?: string;
    /** More options of `xdskit bootstrap`. */
    readonly bootstrapArgs?: readonly string[];
    /** Milliseconds. Default 20. */
    readonly pauseMs?: number;
    /** `NAME=VALUE`: a header of each call. Only grpc-js can do that. */
    readonly header?: string;
    readonly env?: Readonly<Record<string, string>>;
    /** How many failures may be the client's own fault. Default 3. */
    readonly maxOwnFaults?: number;
  },
): Promise<GrpcClient> {
  const api = options.name === "go-v2" ? "v2" : "v3";
  const server = await tapped(scene, options.server);
  const { id = `client-${options.name}`, bootstrapArgs } = options;
  const bootstrap = await writeGrpcBootstrap(scene, id, server, api, bootstrapArgs);
  const [command = "", ...args] = options.command;
  const client = scene.start({
    name: `${options.name} client`,
    command,
    args: [
      ...args,
      `xds:///${options.target}`,
      String(options.pauseMs ?? 20),
      ...(options.header === undefined ? [] : [options.header]),
    ],
    env: { GRPC_XDS_BOOTSTRAP: bootstrap, ...tokensAreSent, ...logging(), ...options.env },
  });
  const failures: string[] = [];
  let ownFaults = 0;
  const backends: string[] = [];
  let ok = 0;
  client.onLine((line) => {
    const [kind, rest = ""] = splitOnce(line);
    if (kind === "ok") {
      ok += 1;
      backends.push(rest);
      if (backends.length > 1_000) backends.shift();
    } else if (isOwnFault(options.name, rest) && ownFaults < (options.maxOwnFaults ?? 3)) {
      ownFaults += 1;
      console.error(`${options.name} client, a fault of its own after ${ok} answers: ${rest}`);
    } else if (failures.length < keptFailures) failures.push(`after ${ok} answers: ${rest}`);
  });
  return { process: client, ok: () => ok, failures: () => failures, lastBackends: (count) => backends.slice(-count) };
}

/** Resolves once each client's last calls were answered by all of these backends, and by nobody else. */
export async function answeredBy(
  clients: readonly GrpcClient[],
  names: readonly string[],
  patience?: Patience,
): Promise<void> {
  const isAnswered = async (client: GrpcClient) => {
    const seen = client.ok();
    const check = () => {
      const last = client.lastBackends(Math.min(10, client.ok() - seen));
      if (last.length === 10 && names.every((n) => last.includes(n)) && last.every((n) => names.includes(n)))
        return true;
      throw new Error(`by ${last.join(", ") || "nobody"}; failures: ${client.failures().slice(0, 3).join("; ")}`);
    };
    await eventually(`${client.process.name} is answered by ${names.join(" and ")} only`, check, patience);
  };
  await Promise.all(clients.map(isAnswered));
}

/** No call of these clients has failed so far. */
export function assertNoneFailed(clients: readonly GrpcClient[]): void {
  for (const { process, failures } of clients) assert.deepEqual(failures(), [], process.name);
}

/**
 * grpc-go hands a new route to calls a moment before its balancer has heard of the route's cluster; a call in between
 * fails. No order of responses avoids it. Of more than a few the cause is another one.
 */
export function isOwnFault(name: GrpcClientName, failure: string): boolean {
  return name.startsWith("go") && failure.includes('Unavailable "unknown cluster selected for RPC');
}

/** Without it, clients leave `call_creds` of the bootstrap out. */
const tokensAreSent = { GRPC_EXPERIMENTAL_XDS_BOOTSTRAP_CALL_CREDS: "true" };

/** XDSKIT_E2E_GRPC_LOG=1 makes the clients write what they receive to standard error. */
const logging = (): Record<string, string> =>
  process.env.XDSKIT_E2E_GRPC_LOG
    ? {
        GRPC_GO_LOG_SEVERITY_LEVEL: "info",
        GRPC_GO_LOG_VERBOSITY_LEVEL: "99",
        GRPC_TRACE: "xds_client",
        GRPC_VERBOSITY: "debug",
      }
    : {};

function splitOnce(line: string): readonly [string, string?] {
  const space = line.indexOf(" ");
  return space === -1 ? [line] : [line.slice(0, space), line.slice(space + 1)];
}
