import type { ResourceText } from "../basics/config-folder.js";
import type { Process } from "../basics/process.js";
import type { Scene } from "../basics/scene.js";
import { eventually } from "../basics/wait.js";

/** What go-control-plane says of itself: see `e2e/peers/go-control-plane`. */
export interface GoEvent {
  readonly event: "set" | "opened" | "closed" | "request" | "response";
  readonly stream?: number;
  readonly type?: string;
  readonly node?: string;
  readonly version?: string;
  readonly nonce?: string;
  readonly names?: readonly string[];
  readonly subscribe?: readonly string[];
  readonly unsubscribe?: readonly string[];
  readonly initial?: Readonly<Record<string, string>>;
  readonly error?: string;
}

/** go-control-plane's server. */
export interface GoControlPlane {
  readonly process: Process;
  /** `127.0.0.1:PORT`. */
  readonly address: string;
  /** All that happened so far. */
  events(): readonly GoEvent[];
  /** Serves exactly these from now on. Resolves once it does. */
  set(version: string, resources: readonly ResourceText[]): Promise<void>;
}

export interface GoControlPlaneOptions {
  readonly cache: "snapshot" | "linear";
  /** The SnapshotCache's ADS flag: a SotW response is held until the client names all that there is. */
  readonly ads: boolean;
  /** Default: a free port. Give the address of a server that was killed to take its place. */
  readonly address?: string;
}

export async function startGoControlPlane(
  scene: Scene,
  command: string,
  { cache, ads, address = "127.0.0.1:0" }: GoControlPlaneOptions,
): Promise<GoControlPlane> {
  const args = ["-cache", cache, `-ads=${ads}`, "-grpc", address];
  const server = scene.start({ name: `go-control-plane, ${cache} cache`, command, args });
  const [, listening = ""] = await server.line(/^grpc listening on (\S+)$/);
  const events = () =>
    server.stdout.filter((line) => line.startsWith("{")).map((line): GoEvent => JSON.parse(line) as GoEvent);
  return {
    process: server,
    address: listening,
    events,
    async set(version, resources) {
      server.write(`${JSON.stringify({ version, resources })}\n`);
      await eventually(`configuration ${version} is served`, () =>
        events().some((one) => one.event === "set" && one.version === version),
      );
    },
  };
}
