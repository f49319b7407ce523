import type { Scene } from "../basics/scene.js";
import { type XdskitServer, xdskitCommand } from "./xdskit.js";

/** Starts `xdskit relay` on free ports and waits until it says `ready`. */
export function relay(scene: Scene, ...options: readonly string[]): Promise<XdskitServer> {
  return relayAt("127.0.0.1:0", scene, ...options);
}

/** The same with an address for gRPC, such as that of a relay that was killed. */
export async function relayAt(address: string, scene: Scene, ...options: readonly string[]): Promise<XdskitServer> {
  const { command, args } = xdskitCommand();
  const listeners = ["--grpc", address, "--rest", "127.0.0.1:0", "--admin", "127.0.0.1:0"];
  const started = scene.start({ name: "xdskit relay", command, args: [...args, "relay", ...listeners, ...options] });
  const [, grpc = ""] = await started.line(/^grpc listening on (\S+)$/);
  const [, rest = ""] = await started.line(/^rest listening on (\S+)$/);
  const [, admin = ""] = await started.line(/^admin listening on (\S+)$/);
  await started.line(/^ready$/);
  return { process: started, grpc, rest, admin };
}
