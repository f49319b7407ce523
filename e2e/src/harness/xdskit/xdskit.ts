import { join } from "node:path";
import { root } from "../basics/peers.js";
import { here, type Place } from "../basics/place.js";
import type { Process } from "../basics/process.js";
import type { Scene } from "../basics/scene.js";

/** A running `xdskit serve`. */
export interface XdskitServer {
  readonly process: Process;
  /** `127.0.0.1:PORT` of its gRPC listener. */
  readonly grpc: string;
  /** `127.0.0.1:PORT` of its REST listener. */
  readonly rest: string;
  readonly admin: string;
}

export interface ServeOptions {
  /** Default: a free port. Give the address of a server that was killed to take its place. */
  readonly grpc?: string;
  /** The same for REST. */
  readonly rest?: string;
  readonly args?: readonly string[];
  /** The user to run as; only the superuser may choose. */
  readonly uid?: number;
  /** How long `ready` may take. */
  readonly withinMs?: number;
  /** Default: loopback. */
  readonly place?: Place;
}

/**
 * The command line under test: this checkout's `xdskit`, or what XDSKIT_COMMAND holds (words separated by spaces), such
 * as an installed one.
 */
export function xdskitCommand(): { readonly command: string; readonly args: readonly string[] } {
  const [command, ...args] = (process.env.XDSKIT_COMMAND ?? "").split(" ").filter((word) => word !== "");
  if (command !== undefined) return { command, args };
  return { command: process.execPath, args: [join(root, "packages/xdskit/bin/xdskit.cjs")] };
}

/** Starts `xdskit serve DIR` without waiting for anything. Undefined: without a DIR. */
export function startServe(scene: Scene, directory: string | undefined, options: ServeOptions = {}): Process {
  const { command, args } = xdskitCommand();
  const serve = [
    ...args,
    "serve",
    ...(directory === undefined ? [] : [directory]),
    ...["--grpc", options.grpc ?? "127.0.0.1:0", "--rest", options.rest ?? "127.0.0.1:0", "--admin", "127.0.0.1:0"],
    ...(options.args ?? []),
  ];
  return scene.start({
    name: "xdskit serve",
    ...(options.place ?? here).run(command, serve),
    ...(options.uid === undefined ? {} : { uid: options.uid }),
  });
}

/** Clients that `xdskit bench` plays until the scene ends. */
export interface PlayedFleet {
  readonly nodes: number;
  /** `edge-{n}`. */
  readonly id: string;
  readonly args?: readonly string[];
}

/** Starts `xdskit bench` with clients of a server's ADS, without waiting for anything. `grpc`: `127.0.0.1:PORT`. */
export function startBench(scene: Scene, grpc: string, { nodes, id, args: more = [] }: PlayedFleet): Process {
  const { command, args } = xdskitCommand();
  const fleet = ["--nodes", `${nodes}`, "--node-id", id, "--duration", "1h"];
  return scene.start({
    name: "xdskit bench",
    command,
    args: [...args, "bench", "--server", grpc, "--ads", ...fleet, ...more],
  });
}

/** Starts `xdskit serve DIR` and waits until it says `ready`. Undefined: without a DIR. */
export async function serve(
  scene: Scene,
  directory: string | undefined,
  options: ServeOptions = {},
): Promise<XdskitServer> {
  const server = startServe(scene, directory, options);
  const [, grpc = ""] = await server.line(/^grpc listening on (\S+)$/, options.withinMs);
  const [, rest = ""] = await server.line(/^rest listening on (\S+)$/, options.withinMs);
  const [, admin = ""] = await server.line(/^admin listening on (\S+)$/, options.withinMs);
  await server.line(/^ready$/, options.withinMs);
  return { process: server, grpc, rest, admin };
}
